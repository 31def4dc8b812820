//! The reasons why a text or a switch gives no step of a walk, for people.

use ioxide_record::typed::BadTypedMessage;
use ioxide_smt::solver::UnknownReason;
use thiserror::Error;

/// The reason why no label was found for a step of a walk.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum WalkError {
    /// The text has more bytes than are read; their number.
    #[error("a step of {0} bytes is too long")]
    TooLong(usize),
    /// The text of a time is longer than any sensible one.
    #[error("this time is too long; write `1.5s` or `600ms`")]
    TimeTooLong,
    /// The text is a negative time.
    #[error("time does not run backwards: `{0}`")]
    NegativeTime(String),
    /// The text is no time.
    #[error("`{0}` is not a time; write `1.5s` or `600ms`")]
    NotATime(String),
    /// The text is not a message of the model.
    #[error(transparent)]
    Message(#[from] BadTypedMessage),
    /// No values for the fields left out make the message possible in the present states.
    #[error("no values for the fields you left out make this possible now")]
    NothingFits,
    /// The offers of the present states have no such number; they are numbered from 1.
    #[error("there is no choice {0}")]
    NoChoice(usize),
    /// No values of the fields satisfy the guard of the switch.
    #[error("no values make this possible")]
    Impossible,
    /// The solver did not decide whether there are values for the fields.
    #[error("{0}; write the values yourself")]
    Undecided(UnknownReason),
    /// The switch is internal.
    #[error("an internal step is not observed")]
    Internal,
    /// The path condition is unsatisfiable.
    #[error("no values satisfy the path condition")]
    PathRefuted,
    /// The solver did not decide the path condition.
    #[error("the solver did not answer: {0}")]
    PathUndecided(UnknownReason),
}
