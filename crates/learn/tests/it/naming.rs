//! Tests of `naming`.

use ioxide_fsm::mealy::Mealy;

use ioxide_learn::naming::{identifier, machine_moves, state_names};

#[test]
fn a_state_is_named_after_the_only_output_that_leads_to_it() {
    let table = [Some((1, 0)), Some((0, 1)), Some((2, 2)), Some((1, 0)), Some((0, 1)), Some((1, 0))];
    let machine = Mealy::from_table(3, 2, 3, &table).unwrap();
    let outputs: Vec<String> = ["OK", "ERROR", "QUEUED(n: 1)"].iter().map(ToString::to_string).collect();
    assert_eq!(state_names(3, &machine_moves(&machine), &outputs), ["start", "after_ok", "after_queued_n_1"]);
}

#[test]
fn names_that_are_no_words_become_numbers() {
    let machine = Mealy::from_table(2, 1, 2, &[Some((1, 0)), Some((0, 1))]).unwrap();
    assert_eq!(state_names(2, &machine_moves(&machine), &["δ".into(), "7".into()]), ["start", "s1"]);
    // Behind a word, digits are a part of a name.
    assert_eq!(
        state_names(2, &machine_moves(&machine), &["6A86".into(), "7".into()]),
        ["start", "after_6a86"]
    );
    assert_eq!(identifier("6A86"), None);
    assert_eq!(identifier("-ERR no such key-"), Some("err_no_such_key".into()));
}
