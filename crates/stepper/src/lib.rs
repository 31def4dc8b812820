//! The terminal stepper, to walk through a model by hand.
//!
//! On a terminal as a [`screen`] of panels, else [`plain`], a line at a time, so that it works in pipes and scripts
//! too. The belief is the monitor's: after each message it shows every state the model may be in. [`route`] finds
//! messages that lead to a state. Both walks are those of `ioxide_explorer::walk`; this crate shows them and reads
//! keys.

pub mod plain;
pub mod route;
pub mod screen;
mod view;

use std::io;

use ioxide_model::label::Label;
use thiserror::Error;

/// A recorded run and where it is opened.
#[derive(Clone, Debug)]
pub struct OpenedRecord {
    /// The name of the run, for people.
    pub name: String,
    /// All its labels.
    pub labels: Vec<Label>,
    /// The number of labels before the step at which it is opened.
    pub step: usize,
}

/// The way in which stepping ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepEnd {
    /// The user quit, or the input ended.
    Quit,
    /// The user interrupted.
    Interrupted,
}

/// The reason why stepping ended early.
#[derive(Debug, Error)]
pub enum StepError {
    /// The terminal cannot show a screen.
    #[error("cannot use the terminal: {0}")]
    NoTerminal(io::Error),
    /// The terminal failed while it showed the screen.
    #[error("the terminal broke: {0}")]
    BrokenTerminal(io::Error),
    /// The input cannot be read.
    #[error("cannot read: {0}")]
    Read(io::Error),
    /// The output cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

/// The ways in which the program is asked to end, and ends.
#[derive(Clone, Copy, Debug)]
pub struct ProgramEnd {
    /// Calls the function at every request to end from now on.
    pub on_request: fn(Box<dyn FnMut() + Send>),
    /// Ends the program as interrupted.
    pub end_at_once: fn() -> !,
}
