//! Verdicts.

/// What a test run says about the system.
///
/// Only the monitor says `Fail`, and only about what was observed. Trouble with the
/// adapter or the connection is not a verdict; it is an error of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Everything observed is allowed, and the goal of the tester was met.
    Pass,
    /// Everything observed is allowed, but the goal was not met.
    Inconclusive,
    /// Something was observed that the model does not allow.
    Fail,
}

impl Verdict {
    /// The word people and files use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}
