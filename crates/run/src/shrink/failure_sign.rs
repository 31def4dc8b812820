//! The criterion by which two runs fail in the same way.

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
    /// The system said something that is no message of the model.
    Unreadable,
    /// The code of the system raised an exception.
    Exception,
    /// A message at this gate, whatever its values.
    Message(GateId),
    /// Silence, or too long a delay.
    Silence,
}

impl FailureSign {
    /// The way in which `result` failed, if it did.
    #[must_use]
    pub fn of(result: &RunResult) -> Option<Self> {
        match &result.end {
            RunEnd::Verdict(Verdict::Fail, _) => Self::of_failing(&result.trace),
            RunEnd::Verdict(Verdict::Pass | Verdict::Inconclusive, _)
            | RunEnd::Error(_)
            | RunEnd::Interrupted => None,
        }
    }

    /// Returns the way in which the run with `trace`, which failed, did so; `None` for an empty trace.
    #[must_use]
    pub fn of_failing(trace: &Trace) -> Option<Self> {
        Some(match (trace.breakdown, trace.forbidden_label()) {
            (Some(breakdown), _) => breakdown.into(),
            (None, Some(Label::Input(gate, _) | Label::Output(gate, _))) => Self::Message(*gate),
            (None, Some(Label::Quiescence | Label::Delay(_))) => Self::Silence,
            (None, None) => return None,
        })
    }
}

impl FailureSign {
    /// Returns whether the system itself broke: one that is still breaking because of an earlier run fails like that
    /// whatever it is given.
    pub(super) fn is_breakdown(self) -> bool {
        match self {
            Self::Crash | Self::Hang | Self::Unreadable | Self::Exception => true,
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
            Breakdown::Exception => Self::Exception,
        }
    }
}
