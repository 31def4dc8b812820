//! Tests of `nfsm`.

use ioxide_fsm::error::MachineRefusal;
use ioxide_fsm::mealy::MachineCompletion;
use ioxide_fsm::nfsm::{Nfsm, Observable};
use ioxide_fsm::read;

#[test]
fn a_choice_that_cannot_be_seen_is_refused_or_made_visible() {
    let machine = Nfsm::from_listing(&read::read_table("s a 0 s\ns a 0 t\nt a 1 s\n").unwrap());
    let checked = Observable::check(machine.clone());
    assert!(matches!(checked, Err(MachineRefusal::NotObservable { state, .. }) if state == "s"));
    let seen = machine.determinise();
    assert_eq!(Observable::check(seen.as_nfsm().clone()).as_ref(), Ok(&seen));
    assert_eq!(seen.names().states.as_slice(), ["s", "{s,t}"]);
}

#[test]
fn states_of_equal_language_are_merged() {
    let machine = Nfsm::from_listing(&read::read_table("s a 0 t\ns a 1 u\nt a 0 s\nu a 0 s\n").unwrap());
    assert_eq!(Observable::check(machine).unwrap().merge_equivalent_states().n_states(), 2);
}

#[test]
fn completion_adds_an_answer_to_every_input() {
    let machine = Nfsm::from_listing(&read::read_table("s a 0 s\ns b 1 t\nt a 0 s\n").unwrap());
    for completion in [MachineCompletion::SelfLoop("0".into()), MachineCompletion::ErrorState("no".into())] {
        assert_eq!(machine.complete_with(&completion).determinise().check_complete(), Ok(()));
    }
}

#[test]
fn a_state_called_error_is_not_the_one_that_completion_adds() {
    let machine = Nfsm::from_listing(&read::read_table("s a 0 error\nerror b 0 s\n").unwrap());
    let whole = machine.complete_with(&MachineCompletion::ErrorState("no".into()));
    assert_eq!(whole.names().states.as_slice(), ["s", "error", "error'"]);
}
