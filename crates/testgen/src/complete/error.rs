//! Why a model has no abstraction, said in the user's words.

use std::fmt;

use ioxide_smt::halt::Halted;

/// Why a model has no machine of classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoAbstraction {
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
    /// No input class is ever possible.
    NoInput,
    /// Before the first input the model may say different things.
    SeveralStarts,
    /// Very many switches follow one input.
    EndlessReactions {
        /// Where.
        location: String,
        /// How many were taken.
        limit: usize,
    },
    /// The system chooses a value and keeps it.
    ChoiceKept {
        /// The switch that keeps it.
        switch: String,
    },
    /// The solver could not say whether a switch can be taken.
    Undecided {
        /// The switch or location in question.
        what: String,
    },
    /// The command had to end before all was seen.
    Halted(Halted),
}

impl NoAbstraction {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Timed => "leave out the clocks, or test with `--tester hunt`",
            Self::UnknownAtStart { .. } => "give the variable a value at start",
            Self::ObservedInput { .. } => {
                "complete suites only know inputs that the tester sends: make it an `input`"
            }
            Self::NoInput => "a complete suite needs an input where the model is silent first",
            Self::SeveralStarts => "let the model start with one possible sequence of outputs",
            Self::EndlessReactions { .. } => "a complete suite needs an end of the outputs after every input",
            Self::ChoiceKept { .. } => "let the model say which value is sent, or test with `--tester hunt`",
            Self::Undecided { .. } => "use another `--solver`, or bound what the guard speaks of",
            Self::Halted(_) => "raise `--time-limit`, or make the model smaller with `--set`",
        }
    }
}

impl fmt::Display for NoAbstraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timed => write!(f, "the model has clocks"),
            Self::UnknownAtStart { var } => write!(f, "the value of `{var}` is unknown at start"),
            Self::ObservedInput { gate } => write!(f, "somebody else sends the observed input `{gate}`"),
            Self::NoInput => write!(f, "no input is ever possible while the model is silent"),
            Self::SeveralStarts => write!(f, "the model may say different things before its first input"),
            Self::EndlessReactions { location, limit } => {
                write!(f, "more than {limit} switches can follow one input before `{location}` is silent")
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
