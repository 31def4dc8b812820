//! Tests of `read::kiss`.

use ioxide_fsm::mealy::Mealy;
use ioxide_fsm::read::read_kiss2;

#[test]
fn open_bits_are_expanded() {
    let text = ".i 2\n.o 1\n.r s1\n-- s0 s1 0\n0- s1 s1 1\n1- s1 s0 0\n11 s0 * 0\n.e\nrubbish";
    let machine = Mealy::from_listing(&read_kiss2(text).unwrap()).unwrap();
    assert_eq!((machine.n_states(), machine.n_inputs()), (2, 4));
    assert_eq!(machine.names().states[machine.initial()], "s1");
}

#[test]
fn errors_name_the_line() {
    let text = |text: &str| read_kiss2(text).unwrap_err().to_string();
    assert_eq!(text(""), "line 1: no transition found (help: write rows like `01 s0 s1 1`)");
    assert_eq!(text(".r x\n0 a b 1"), "line 1: reset state `x` has no transition");
    assert!(text("0 a b").starts_with("line 1: expected 4 columns, found 3"));
    assert!(text("2 a b 1").contains("expected bits"));
    assert!(text(&format!("{} a b 1", "-".repeat(40))).contains("40 bits open"));
}
