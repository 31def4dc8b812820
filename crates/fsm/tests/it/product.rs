//! Tests of `product`.

use ioxide_fsm::mealy::Mealy;
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::product::{align_names, difference, product, reduction_witness};
use ioxide_fsm::read;
use ioxide_fsm::word::{show_io, show_word};

fn observable(text: &str) -> Observable {
    Observable::check(Nfsm::from_listing(&read::read_table(text).unwrap())).unwrap()
}

#[test]
fn the_shortest_difference_is_found() {
    let machine = |text: &str| Mealy::from_listing(&read::read_table(text).unwrap()).unwrap();
    let first = machine("s a 0 t\ns b 0 s\nt a 1 s\nt b 0 t");
    let second = machine("s a 0 t\ns b 0 s\nt a 1 t\nt b 0 t");
    assert_eq!(show_word(first.names(), &difference(&first, &second).unwrap()), "a a a");
    assert_eq!(difference(&first, &first), None);
}

#[test]
fn a_machine_with_fewer_answers_is_a_reduction() {
    let first = observable("s a 0 t\ns a 1 s\nt a 0 s");
    let second = observable("s a 0 t\nt a 0 s\nt a 0 s");
    assert_eq!(reduction_witness(&first, &second), None);
    let witness = reduction_witness(&second, &first).unwrap();
    assert_eq!(show_io(first.names(), &witness), "a/1");
    assert_eq!(product(&first, &second).n_states(), 2);
    assert_eq!(product(&second, &first).names().states.as_slice().last().unwrap(), "Fail");
}

#[test]
fn machines_are_aligned_by_name() {
    let first = observable("s a 0 t\ns b 1 s\nt a 0 s\nt b 0 s");
    let second = observable("t b 0 s\nt a 0 s\ns b 1 s\ns a 0 t\n");
    let moved = Observable::check(align_names(first.names(), second.as_nfsm()).unwrap()).unwrap();
    assert_eq!(show_io(first.names(), &reduction_witness(&first, &moved).unwrap()), "b/0");
    let odd = observable("s c 0 s");
    assert!(align_names(first.names(), odd.as_nfsm()).is_err());
}
