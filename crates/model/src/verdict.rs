//! The verdict of a test run.

/// The verdict of a test run on the system.
///
/// Only the monitor says `Fail`, and only about what was observed. A failure of the adapter or the connection is not a
/// verdict; it is an error of the run.
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
    /// Returns the name of the verdict in texts and files.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Inconclusive => "inconclusive",
            Self::Fail => "fail",
        }
    }
}
