//! A system that state counting asks until the time is over.

use ioxide_fsm::reduce::{AdaptiveCase, AdaptiveSystem};
use ioxide_fsm::word::IoWord;
use ioxide_smt::halt::{Halt, Halted};

/// A system that is asked as long as there is time.
#[derive(Debug)]
pub struct TimeLimitedSystem<S> {
    /// The system.
    pub system: S,
    /// The time limit and the interrupt.
    pub halt: Halt,
}

/// The reason why counting ended early.
#[derive(Debug)]
pub enum CountingEnd<E> {
    /// The time limit was reached, or the user interrupted.
    Halted(Halted),
    /// The system could not be asked.
    Trouble(E),
}

impl<S: AdaptiveSystem> AdaptiveSystem for TimeLimitedSystem<S> {
    type Error = CountingEnd<S::Error>;

    fn observe(&mut self, case: &AdaptiveCase) -> Result<Vec<IoWord>, Self::Error> {
        match self.halt.halt_reason() {
            Some(halted) => Err(CountingEnd::Halted(halted)),
            None => self.system.observe(case).map_err(CountingEnd::Trouble),
        }
    }
}
