//! Tests of `read::table`.

use ioxide_fsm::error::ReadError;
use ioxide_fsm::read::{read_numbers, read_table};

#[test]
fn the_first_row_names_the_initial_state() {
    let listing = read_table("# two states\ns2 a 0 s1 # go\n\ns1 a 1 s2\n").unwrap();
    assert_eq!((listing.initial.as_str(), listing.rows.len()), ("s2", 2));
}

#[test]
fn errors_name_the_line() {
    let text = |error: ReadError| error.to_string();
    assert_eq!(
        text(read_table("s a 0 s\ns a 0").unwrap_err()),
        "line 2: expected 4 columns, found 3 (help: a row is `state input output next-state`)"
    );
    assert_eq!(
        text(read_numbers("0 0 x 0").unwrap_err()),
        "line 1: `x` is not a number (help: this form names everything by number)"
    );
    assert_eq!(
        text(read_numbers("1 0 0 1").unwrap_err()),
        "line 1: state 0, the initial state, has no transition"
    );
}
