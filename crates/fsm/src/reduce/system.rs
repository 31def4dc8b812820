//! The system under test as state counting sees it.

use std::convert::Infallible;

use super::Case;
use crate::mealy::{InputId, OutputId};
use crate::nfsm::Observable;
use crate::word::IoWord;

/// Something that can be reset and given adaptive test cases.
pub trait System {
    /// What can go wrong with the connection.
    type Error;

    /// All answers to `case` from reset, applied as often as it takes to see them all.
    fn observe(&mut self, case: &Case) -> Result<Vec<IoWord>, Self::Error>;
}

/// A machine as system: all its answers are known at once.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'m>(pub &'m Observable);

impl System for Machine<'_> {
    type Error = Infallible;

    fn observe(&mut self, case: &Case) -> Result<Vec<IoWord>, Infallible> {
        Ok(case.responses(self.0, self.0.initial()))
    }
}

/// A running system, one step at a time.
pub trait Live {
    /// What can go wrong with the connection.
    type Error;

    /// Brings the system to its initial state.
    fn reset(&mut self) -> Result<(), Self::Error>;
    /// Gives one input and waits for its output.
    fn step(&mut self, input: InputId) -> Result<OutputId, Self::Error>;
}

/// A running system under the complete testing assumption: a case applied
/// `repetitions` times has shown all its answers.
#[derive(Clone, Debug)]
pub struct Repeated<L> {
    /// The system.
    pub live: L,
    /// How often each case is applied.
    pub repetitions: usize,
}

impl<L: Live> Repeated<L> {
    fn once(&mut self, case: &Case) -> Result<IoWord, L::Error> {
        self.live.reset()?;
        let mut trace = IoWord::new();
        let mut case = case;
        while let Some(input) = case.input() {
            let output = self.live.step(input)?;
            trace.push((input, output));
            case = case.after(output);
        }
        Ok(trace)
    }
}

impl<L: Live> System for Repeated<L> {
    type Error = L::Error;

    fn observe(&mut self, case: &Case) -> Result<Vec<IoWord>, L::Error> {
        let mut traces = Vec::new();
        for _ in 0..self.repetitions.max(1) {
            traces.push(self.once(case)?);
        }
        traces.sort_unstable();
        traces.dedup();
        Ok(traces)
    }
}
