//! A machine simulated as a system: known answers, for tests and measurements.

use std::convert::Infallible;

use ioxide_fsm::mealy::{InputId, Mealy, OutputId, StateId};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_model::index::Idx;

/// A machine and the state it is in.
#[derive(Clone, Debug)]
pub struct PlayedMealy<'m> {
    machine: &'m Mealy,
    at: StateId,
}

impl<'m> PlayedMealy<'m> {
    /// `machine`, which should answer every input.
    #[must_use]
    pub fn new(machine: &'m Mealy) -> Self {
        Self { machine, at: machine.initial() }
    }
}

impl LiveMachine for PlayedMealy<'_> {
    type Error = Infallible;

    fn reset(&mut self) -> Result<(), Infallible> {
        self.at = self.machine.initial();
        Ok(())
    }

    /// Gives an input; one without an answer is answered with an output beyond those of the machine, and the state
    /// stays.
    fn step(&mut self, input: InputId) -> Result<OutputId, Infallible> {
        Ok(match self.machine.edge(self.at, input) {
            Some(edge) => {
                self.at = edge.next;
                edge.output
            }
            None => OutputId::new(self.machine.n_outputs()),
        })
    }
}
