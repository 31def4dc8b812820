//! Tests of `reduce::system`.

use ioxide_fsm::reduce::AdaptiveSystem;
use std::convert::Infallible;

use ioxide_model::index::Idx;

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_fsm::reduce::{AdaptiveCase, LiveMachine, Repeated};

/// Answers every input with 0 and 1 in turns, and counts.
#[derive(Default)]
struct InTurns {
    resets: usize,
    inputs: usize,
}

impl LiveMachine for InTurns {
    type Error = Infallible;

    fn reset(&mut self) -> Result<(), Infallible> {
        self.resets += 1;
        Ok(())
    }

    fn step(&mut self, _: InputId) -> Result<OutputId, Infallible> {
        self.inputs += 1;
        Ok(OutputId::new(self.inputs % 2))
    }
}

#[test]
fn what_a_longer_case_has_shown_is_not_asked_again() {
    let word = |inputs: &[usize]| {
        AdaptiveCase::from_word(&inputs.iter().map(|&at| InputId::new(at)).collect::<Vec<_>>())
    };
    let mut system = Repeated::new(InTurns::default(), 4);
    let long = system.observe(&word(&[0, 1, 2])).expect("it answers");
    assert_eq!((system.live().resets, long.len()), (4, 2));
    let short = system.observe(&word(&[0, 1])).expect("it answers");
    assert_eq!((system.live().resets, short.len()), (4, 2), "seen already");
    system.observe(&word(&[0, 2])).expect("it answers");
    assert_eq!(system.live().resets, 8, "not seen");
    system.observe(&word(&[0])).expect("it answers");
    assert_eq!(system.live().resets, 8);
}
