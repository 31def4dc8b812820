//! Why a model is no machine, said in the user's words.

use std::fmt;

use ioxide_smt::halt::Halted;

/// Why a model has no finite machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFinite {
    /// It has clocks.
    Timed,
    /// A variable has no value at start.
    UnknownAtStart {
        /// The variable.
        var: String,
    },
    /// Somebody else sends a message, at any time.
    ObservedInput {
        /// The message.
        gate: String,
    },
    /// No input is ever possible.
    NoInput,
    /// Before the first input the model may say different things.
    SeveralStarts,
    /// A message may carry very many values.
    TooManyValues {
        /// The message.
        gate: String,
        /// How many were counted.
        limit: usize,
    },
    /// There are very many states.
    TooManyStates {
        /// How many were counted.
        limit: usize,
    },
    /// There are very many transitions.
    TooManyTransitions {
        /// How many were counted.
        limit: usize,
    },
    /// Outputs can follow one another for ever.
    EndlessOutputs {
        /// Where.
        location: String,
    },
    /// Internal steps can follow one another for ever.
    Divergence {
        /// Where.
        location: String,
    },
    /// Very many outputs and internal steps follow one input.
    TooManyReactions {
        /// Where.
        location: String,
        /// How many were counted.
        limit: usize,
    },
    /// The solver could not say which values are possible.
    Undecided {
        /// The switch or message in question.
        what: String,
    },
    /// Something could not be evaluated.
    NoValue {
        /// What.
        what: String,
    },
    /// The command had to end before all was seen.
    Halted(Halted),
}

impl NotFinite {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Timed => "leave out the clocks, or test with `--tester cover`",
            Self::UnknownAtStart { .. } => "give the variable a value at start",
            Self::ObservedInput { .. } => "machines only know inputs that the tester sends",
            Self::NoInput => "a machine needs an input in its first quiescent state",
            Self::SeveralStarts => "let the model start with one possible sequence of outputs",
            Self::TooManyValues { .. } => "bound the field by a range or by guards",
            Self::TooManyStates { .. } | Self::TooManyTransitions { .. } => {
                "bound the variables, or make the model smaller with `--set`"
            }
            Self::EndlessOutputs { .. } | Self::TooManyReactions { .. } => {
                "a machine answers an input with finitely many outputs"
            }
            Self::Divergence { .. } => "remove the cycle of internal steps",
            Self::Undecided { .. } => "use another `--solver`, or bound the field by a range",
            Self::Halted(_) => "raise `--time-limit`, or make the model smaller with `--set`",
            Self::NoValue { .. } => "bound what the guard or update quantifies over",
        }
    }
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timed => write!(f, "the model has clocks"),
            Self::UnknownAtStart { var } => write!(f, "the value of `{var}` is unknown at start"),
            Self::ObservedInput { gate } => write!(f, "somebody else sends the observed input `{gate}`"),
            Self::NoInput => write!(f, "no input is ever possible while the model is quiescent"),
            Self::SeveralStarts => {
                write!(f, "the model may say different things before its first input")
            }
            Self::TooManyValues { gate, limit } => {
                write!(f, "`{gate}` may carry more than {limit} different values in one state")
            }
            Self::TooManyStates { limit } => write!(f, "the model has more than {limit} quiescent states"),
            Self::TooManyTransitions { limit } => {
                write!(f, "the machine of the model has more than {limit} transitions")
            }
            Self::EndlessOutputs { location } => {
                write!(f, "outputs can follow one another for ever in `{location}`")
            }
            Self::Divergence { location } => {
                write!(f, "internal steps can follow one another for ever in `{location}`")
            }
            Self::TooManyReactions { location, limit } => {
                write!(f, "more than {limit} reactions can follow one input before `{location}`")
            }
            Self::Undecided { what } => {
                write!(f, "it could not be decided for which values `{what}` is possible")
            }
            Self::Halted(halted) => write!(f, "{halted} before all of its states were seen"),
            Self::NoValue { what } => write!(f, "`{what}` cannot be evaluated"),
        }
    }
}

impl std::error::Error for NotFinite {}
