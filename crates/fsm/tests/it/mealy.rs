//! Tests of `mealy`.

use ioxide_fsm::error::MachineRefusal;
use ioxide_fsm::mealy::{InputId, MachineCompletion, Mealy, StateId, SuiteModel};
use ioxide_model::index::Idx;

fn machine(table: &[Option<(usize, usize)>], states: usize) -> Mealy {
    Mealy::from_table(states, table.len() / states, 2, table).unwrap()
}

#[test]
fn unreachable_states_are_dropped() {
    let m = machine(&[Some((1, 0)), Some((0, 1)), Some((0, 0))], 3);
    assert_eq!(m.reachable_part().n_states(), 2);
    assert!(matches!(SuiteModel::check(&m), Err(MachineRefusal::NotConnected { state }) if state == "2"));
}

#[test]
fn equivalent_states_are_merged() {
    let m = machine(&[Some((1, 0)), Some((2, 0)), Some((1, 0))], 3);
    assert_eq!(m.merge_equivalent_states().n_states(), 1);
    assert!(matches!(SuiteModel::check(&m), Err(MachineRefusal::NotMinimal { .. })));
    assert_eq!(SuiteModel::from_reduced(&m).unwrap().n_states(), 1);
}

#[test]
fn missing_answers_are_refused_or_filled() {
    let m = machine(&[Some((1, 0)), None], 2);
    assert!(matches!(SuiteModel::check(&m), Err(MachineRefusal::NotComplete { state, .. }) if state == "1"));
    let looped = m.complete_with(&MachineCompletion::SelfLoop("quiet".into()));
    assert_eq!(looped.edge(StateId::new(1), InputId::new(0)).unwrap().next, StateId::new(1));
    let failing = m.complete_with(&MachineCompletion::ErrorState("quiet".into()));
    assert_eq!(failing.n_states(), 3);
    assert_eq!(failing.run(&[InputId::new(0); 4]).len(), 4);
}

#[test]
fn a_table_of_the_wrong_size_is_no_machine() {
    assert_eq!(Mealy::from_table(1, 1, 1, &[Some((1, 0))]), None);
    assert_eq!(Mealy::from_table(1, 2, 1, &[Some((0, 0))]), None);
}
