//! The errors in the text of a machine, and the reasons to refuse a machine, in the user's words.

use std::fmt;
use std::ops::Range;

/// The kind of an error in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadErrorKind {
    /// The text does not follow the grammar of its format.
    Syntax,
    /// A transition lacks its input or its output.
    Label,
    /// The machine has no state, or not exactly one initial state with transitions.
    Empty,
}

/// An error in the text of a machine: its place, its message and a hint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The kind of the error.
    pub kind: ReadErrorKind,
    /// The line the problem is on, counted from 1.
    pub line: usize,
    /// The bytes of the text that the error is about.
    pub place: Range<usize>,
    /// The message, in lower case and without a full stop.
    pub message: String,
    /// Advice on what to write instead.
    pub hint: Option<String>,
}

impl ReadError {
    /// A mistake of syntax at `place` of `text`, without a hint.
    pub fn new(text: &str, place: Range<usize>, message: impl Into<String>) -> Self {
        let before = text.as_bytes().get(..place.start).unwrap_or_default();
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Self { kind: ReadErrorKind::Syntax, line, place, message: message.into(), hint: None }
    }

    /// The same error of another kind.
    #[must_use]
    pub fn with_kind(mut self, kind: ReadErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same error with advice.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " (help: {hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ReadError {}

/// The reason why an algorithm does not accept a machine.
///
/// Each variant names a witness, so that the user can find the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineRefusal {
    /// The machine has no state.
    Empty,
    /// Two transitions of one state share their input.
    NotDeterministic {
        /// The state with two answers.
        state: String,
        /// The input they answer.
        input: String,
    },
    /// Two transitions of one state share input and output.
    NotObservable {
        /// The state with two successors.
        state: String,
        /// The shared input.
        input: String,
        /// The shared output.
        output: String,
    },
    /// A state has no transition for an input.
    NotComplete {
        /// The state without an answer.
        state: String,
        /// The input it does not answer.
        input: String,
    },
    /// A state cannot be reached from the initial state.
    NotConnected {
        /// The state that is never entered.
        state: String,
    },
    /// Two states answer every word alike.
    NotMinimal {
        /// One of the states.
        first: String,
        /// The other state.
        second: String,
    },
    /// The bound on the states of the system is below the states of the model.
    BoundTooSmall {
        /// The bound that was given.
        bound: usize,
        /// The number of states of the model.
        states: usize,
    },
    /// Two machines have different input alphabets.
    DifferentInputs {
        /// An input only one of them has.
        input: String,
    },
}

impl fmt::Display for MachineRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "the machine has no state"),
            Self::NotDeterministic { state, input } => {
                write!(
                    f,
                    "state `{state}` has two transitions for input `{input}`: the machine is not deterministic"
                )
            }
            Self::NotObservable { state, input, output } => write!(
                f,
                "state `{state}` has two transitions for `{input}/{output}`: make the machine observable first"
            ),
            Self::NotComplete { state, input } => write!(
                f,
                "state `{state}` has no transition for input `{input}`: complete it with self loops or an error state"
            ),
            Self::NotConnected { state } => {
                write!(f, "state `{state}` cannot be reached: take the initially connected part first")
            }
            Self::NotMinimal { first, second } => {
                write!(f, "states `{first}` and `{second}` are equivalent: minimise the machine first")
            }
            Self::BoundTooSmall { bound, states } => {
                write!(f, "the bound of {bound} states is below the {states} states of the model")
            }
            Self::DifferentInputs { input } => {
                write!(f, "input `{input}` belongs to one machine only: both need the same input alphabet")
            }
        }
    }
}

impl std::error::Error for MachineRefusal {}
