//! Testers: given what the specification allows and what was seen, say what to do next.
//!
//! 002's algorithm chooses freely among stopping, giving an input and observing; a tester is
//! one way to choose. A tester cannot say Fail: only the monitor can, so every tester is
//! sound by construction.

pub mod cover;
pub mod purpose;
pub mod random;
pub mod replay;
pub mod script;
pub mod suite;
#[cfg(test)]
mod tests;
pub mod tour;

use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;
use ioxide_symex::{After, Ctx};

/// Decides the next move of a test run.
pub trait Tester {
    /// A new run begins. What was learnt from earlier runs may be kept.
    fn start(&mut self, seed: u64);

    /// The next move, given the states the specification may be in and what was seen so far.
    fn next(&mut self, cx: &mut Ctx<'_>, after: &After, history: &Trace) -> Move;

    /// What the run that has begun is for, in a few words; `None` where nothing special is wanted.
    fn goal(&self) -> Option<String> {
        None
    }

    /// Leaves to others what is not the share of worker `worker` of `jobs`; called before the first run.
    ///
    /// A tester whose runs differ by their seeds has nothing to leave.
    fn share(&mut self, _worker: usize, _jobs: usize) {}

    /// Whether no further run makes sense; most testers can always go on.
    fn is_done(&self) -> bool {
        false
    }
}

/// What a tester wants to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Move {
    /// Give the system this input.
    Stimulate(Label),
    /// Look what the system does, silence included.
    Observe,
    /// The same, but silence must last at least this long to count.
    ObserveFor(Duration),
    /// End the run.
    Stop(Stop),
}

/// Why a tester ends a run; the text is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It did what it set out to do.
    GoalMet(String),
    /// What it set out to do is out of reach.
    GoalMissed(String),
}
