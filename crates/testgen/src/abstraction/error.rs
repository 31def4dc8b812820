//! The reasons why a model cannot be flattened to a finite machine, with texts for the user.

use std::fmt;

use ioxide_smt::halt::Halted;

/// The reason why a model has no finite machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFinite {
    /// The model has clocks.
    Timed,
    /// A variable has no value at start.
    UnknownAtStart {
        /// The variable.
        var: String,
    },
    /// The model has an observed input: a message that somebody other than the tester sends, at any time.
    ObservedInput {
        /// The message.
        gate: String,
    },
    /// No input is possible in any quiescent state.
    NoInput,
    /// Before the first input the model may give different sequences of outputs.
    SeveralStarts,
    /// In one state a message may carry more values than the limit.
    TooManyValues {
        /// The message.
        gate: String,
        /// The number of values allowed.
        limit: usize,
    },
    /// The model has more quiescent states than the limit.
    TooManyStates {
        /// The number of states allowed.
        limit: usize,
    },
    /// The machine has more transitions than the limit.
    TooManyTransitions {
        /// The number of transitions allowed.
        limit: usize,
    },
    /// Outputs can follow one another for ever.
    EndlessOutputs {
        /// The name of a location on the cycle.
        location: String,
    },
    /// Internal steps can follow one another for ever.
    Divergence {
        /// The name of a location on the cycle.
        location: String,
    },
    /// More outputs and internal steps follow one input, or one state has more different answers, than the limit.
    TooManyReactions {
        /// The name of the location at which the limit was exceeded.
        location: String,
        /// The number allowed.
        limit: usize,
    },
    /// The solver could not say which values are possible.
    Undecided {
        /// The switch or message in question.
        what: String,
    },
    /// A guard, an update or an initial value could not be evaluated.
    NoValue {
        /// The message or switch that it belongs to, or `the start`.
        what: String,
    },
    /// The time limit or an interrupt ended the search.
    Halted(Halted),
}

impl NotFinite {
    /// Returns advice on how to change the model or the command.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Timed => "leave out the clocks, or test with `--tester cover`",
            Self::UnknownAtStart { .. } => "give the variable a value at start",
            Self::ObservedInput { .. } => "machines support only inputs that the tester sends",
            Self::NoInput => "a machine needs an input in its first silent state",
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
            Self::NoValue { .. } => "bound the range of the quantifier in the guard or update",
        }
    }
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timed => write!(f, "the model has clocks"),
            Self::UnknownAtStart { var } => write!(f, "the value of `{var}` is unknown at start"),
            Self::ObservedInput { gate } => write!(f, "another sender sends the observed input `{gate}`"),
            Self::NoInput => write!(f, "no input is ever possible while the model is silent"),
            Self::SeveralStarts => {
                write!(f, "the model may send different messages before its first input")
            }
            Self::TooManyValues { gate, limit } => {
                write!(f, "`{gate}` may carry more than {limit} different values in one state")
            }
            Self::TooManyStates { limit } => write!(f, "the model has more than {limit} silent states"),
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
