//! The reasons why a model has no abstraction, with texts for the user.

use std::fmt;

use ioxide_smt::halt::Halted;

/// The reason why a model has no machine over classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAbstraction {
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
    /// No input class is possible in any reachable condition class.
    NoInput,
    /// Before the first input the model may give different sequences of outputs.
    SeveralStarts,
    /// More switches than the limit follow one input.
    EndlessReactions {
        /// The name of the location at which the limit was exceeded.
        location: String,
        /// The number of switches allowed.
        limit: usize,
    },
    /// The system chooses the value of a field, and a variable depends on it when the model is silent.
    ChoiceKept {
        /// The last switch before silence.
        switch: String,
    },
    /// The solver did not decide whether a switch can be taken, or a location is silent.
    Undecided {
        /// The switch, location or input class in question, or `the start`.
        what: String,
    },
    /// The time limit or an interrupt ended the search.
    Halted(Halted),
}

impl NoAbstraction {
    /// Returns advice on how to change the model or the command.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Timed => "leave out the clocks, or test with `--tester hunt`",
            Self::UnknownAtStart { .. } => "give the variable a value at start",
            Self::ObservedInput { .. } => {
                "complete suites support only inputs that the tester sends: make it an `input`"
            }
            Self::NoInput => "a complete suite needs an input where the model is silent first",
            Self::SeveralStarts => "let the model start with one possible sequence of outputs",
            Self::EndlessReactions { .. } => {
                "a complete suite needs an end of the outputs after every input; `--tester kill` and `--tester \
                 cover` do not"
            }
            Self::ChoiceKept { .. } => {
                "let the model fix the value that is sent, or use `--tester kill` or `--tester cover`"
            }
            Self::Undecided { .. } => {
                "use another `--solver`, bound the values in the guard, or use `--tester kill` or `--tester cover`"
            }
            Self::Halted(_) => {
                "raise `--time-limit`, make the model smaller with `--set`, or use `--tester kill` or `--tester cover`"
            }
        }
    }
}

impl fmt::Display for NoAbstraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timed => write!(f, "the model has clocks"),
            Self::UnknownAtStart { var } => write!(f, "the value of `{var}` is unknown at start"),
            Self::ObservedInput { gate } => write!(f, "another sender sends the observed input `{gate}`"),
            Self::NoInput => write!(f, "no input is ever possible while the model is silent"),
            Self::SeveralStarts => write!(f, "the model may send different messages before its first input"),
            Self::EndlessReactions { location, limit } => {
                write!(f, "more than {limit} transitions can follow one input before `{location}` is silent")
            }
            Self::ChoiceKept { switch } => {
                write!(f, "the system chooses a value in `{switch}` that the model keeps in a variable")
            }
            Self::Undecided { what } => write!(f, "it could not be decided when `{what}` is possible"),
            Self::Halted(halted) => write!(f, "{halted} before all classes were seen"),
        }
    }
}

impl std::error::Error for NoAbstraction {}
