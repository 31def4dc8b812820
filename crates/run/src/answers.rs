//! Whole answers of a live system: all outputs after an input, up to the first silence.
//!
//! State counting and learning compare whole answers. What comes without an end is no answer but an error.

mod answering;
mod classes;
mod first_reply;
mod limited;

use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::trace::Breakdown;
use ioxide_smt::halt::{Halt, Halted};
use ioxide_wire::adapter::{Adapter, AdapterError, Observation};
use ioxide_wire::player::PlayError;
use thiserror::Error;

pub use self::answering::{AnsweringSystem, collect_greeting};
pub use self::classes::ClassSystem;
pub use self::first_reply::FirstReply;
pub use self::limited::{CountingEnd, TimeLimitedSystem};

/// More outputs than this after one input are taken to be endless: no protocol that was tested sends a hundredth of it.
pub const MAX_ANSWERS: usize = 10_000;

/// The reason why a live system was not asked to the end.
#[derive(Debug, Error)]
pub enum AnswerError {
    /// The connection failed.
    #[error(transparent)]
    Adapter(AdapterError),
    /// The system has ended or closed the connection.
    #[error("{0}")]
    Ended(AdapterError),
    /// The outputs of the system before its first input, where there should be none.
    #[error("before its first input the system sends {0}")]
    Preamble(String),
    /// The system sends outputs without an end.
    #[error("more than {MAX_ANSWERS} outputs came without an input")]
    Endless,
    /// No values were found for an input class.
    #[error("no values were found for an input class")]
    NoValues,
    /// The time limit was reached, or the user interrupted.
    #[error("{0}")]
    Halted(Halted),
}

impl From<AdapterError> for AnswerError {
    fn from(error: AdapterError) -> Self {
        if let AdapterError::Play(PlayError::Stopped { halted, .. }) = error {
            return Self::Halted(halted);
        }
        match error.breakdown() {
            Some(Breakdown::Ended | Breakdown::Closed) => Self::Ended(error),
            _ => Self::Adapter(error),
        }
    }
}

/// Adds outputs to `said` until the system is silent for `patience`.
///
/// # Errors
/// If the connection fails, the time is over, or there are more outputs than there can be in an answer.
pub fn collect_until_silence(
    adapter: &mut dyn Adapter,
    patience: Duration,
    halt: &Halt,
    outputs: &mut Vec<Label>,
) -> Result<(), AnswerError> {
    loop {
        check_answer_size(outputs)?;
        check_halt(halt)?;
        match adapter.observe(patience)? {
            Observation::Output(output) => outputs.push(output.label),
            Observation::Quiet => return Ok(()),
        }
    }
}

/// Checks that there are not too many outputs for an answer: those that are there would not be all.
///
/// # Errors
/// If there are.
pub fn check_answer_size(outputs: &[Label]) -> Result<(), AnswerError> {
    if outputs.len() <= MAX_ANSWERS { Ok(()) } else { Err(AnswerError::Endless) }
}

/// Checks that there is time left, and that the user has not interrupted.
///
/// # Errors
/// If there is none, or the user has.
pub fn check_halt(halt: &Halt) -> Result<(), AnswerError> {
    halt.halt_reason().map_or(Ok(()), |halted| Err(AnswerError::Halted(halted)))
}
