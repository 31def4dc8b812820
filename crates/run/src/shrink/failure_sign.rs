//! The criterion by which two runs fail in the same way.

use std::hash::{DefaultHasher, Hash, Hasher};

use ioxide_model::label::Label;
use ioxide_model::sts::GateId;
use ioxide_model::trace::{Breakdown, Trace};
use ioxide_model::verdict::Verdict;

use crate::run::{RunEnd, RunResult};

/// The way in which a run failed: the kind of observation that is forbidden.
///
/// Coarser than the signature of a failure, which also says where the specification was: a smaller run may get to the
/// same fault by another way. Every way to fail is a kind here; runs of different kinds are never the same failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureSign {
    /// The system ended or hung up.
    Crash,
    /// The system did not take an input.
    Hang,
    /// The system said something that is not a message of the model.
    Unreadable,
    /// The code of the system raised an exception of this type; `None` if the type is not known.
    Exception(Option<ExceptionType>),
    /// A message at this gate, whatever its values.
    Message(GateId),
    /// Silence, or too long a delay.
    Silence,
}

/// The type of an exception, by the hash of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExceptionType(u64);

impl ExceptionType {
    /// Returns the type with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        Self(hasher.finish())
    }
}

impl FailureSign {
    /// The way in which `result` failed, if it did.
    #[must_use]
    pub fn of(result: &RunResult) -> Option<Self> {
        match &result.end {
            RunEnd::Verdict(Verdict::Fail, _) => match Self::of_failing(&result.trace)? {
                Self::Exception(_) => {
                    Some(Self::Exception(result.exception.as_deref().map(ExceptionType::from_name)))
                }
                sign => Some(sign),
            },
            RunEnd::Verdict(Verdict::Pass | Verdict::Inconclusive, _)
            | RunEnd::Error(_)
            | RunEnd::Interrupted => None,
        }
    }

    /// Returns the way in which the run with `trace`, which failed, did so; `None` for an empty trace. A trace does not
    /// say of which type an exception was.
    #[must_use]
    pub fn of_failing(trace: &Trace) -> Option<Self> {
        Some(match (trace.breakdown, trace.forbidden_label()) {
            (Some(breakdown), _) => breakdown.into(),
            (None, Some(Label::Input(gate, _) | Label::Output(gate, _))) => Self::Message(*gate),
            (None, Some(Label::Quiescence | Label::Delay(_))) => Self::Silence,
            (None, None) => return None,
        })
    }

    /// Returns whether `result` failed in this way. Exceptions of different types are different failures; one whose
    /// type is not known is like any other.
    #[must_use]
    pub fn is_shown_by(self, result: &RunResult) -> bool {
        Self::of(result).is_some_and(|other| self.is_same(other))
    }

    /// Returns whether two failures are the same, as far as is known.
    #[must_use]
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Exception(Some(a)), Self::Exception(Some(b))) => a == b,
            (Self::Exception(_), Self::Exception(_)) => true,
            (a, b) => a == b,
        }
    }

    /// Returns whether the system itself broke: one that is still breaking because of an earlier run fails like that
    /// whatever it is given.
    pub(super) fn is_breakdown(self) -> bool {
        match self {
            Self::Crash | Self::Hang | Self::Unreadable | Self::Exception(_) => true,
            Self::Message(_) | Self::Silence => false,
        }
    }
}

impl From<Breakdown> for FailureSign {
    fn from(breakdown: Breakdown) -> Self {
        match breakdown {
            Breakdown::Ended | Breakdown::Closed => Self::Crash,
            Breakdown::Hung => Self::Hang,
            Breakdown::Unreadable => Self::Unreadable,
            Breakdown::Exception => Self::Exception(None),
        }
    }
}
