//! A system that state counting asks until the time is over.

use ioxide_fsm::mealy::InputId;
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

    fn run(
        &mut self,
        seed: u64,
        next: &mut dyn FnMut(&IoWord) -> Option<InputId>,
    ) -> Result<IoWord, Self::Error> {
        // A walk may be long, so the limit is looked at before each of its inputs.
        let mut halted = None;
        let ran = self.system.run(seed, &mut |trace| {
            halted = self.halt.halt_reason();
            if halted.is_some() { None } else { next(trace) }
        });
        match halted {
            Some(halted) => Err(CountingEnd::Halted(halted)),
            None => ran.map_err(CountingEnd::Trouble),
        }
    }
}
