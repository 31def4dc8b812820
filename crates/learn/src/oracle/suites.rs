//! The choice of the suite method that tests a hypothesis, by the number of extra states.
//!
//! *Promise.* Whatever is chosen is complete ([`ioxide_fsm::suite`]), so a guarantee does not depend on it.

use ioxide_fsm::suite::SuiteMethod;

/// The methods that make the suites of a hypothesis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OracleSuites {
    /// [`SuiteMethod::S`] for the states there are: long tests, and few. [`SuiteMethod::Spyh`] for extra ones: short
    /// tests, which find other things, and sooner. [`SuiteMethod::S`] again for the most extra ones, since all of that
    /// suite has to be passed in the end, and it has the fewest resets.
    #[default]
    Mixed,
    /// All suites by one method.
    Of(SuiteMethod),
}

impl OracleSuites {
    /// Returns the method of the suite for `extra` states when suites for up to `most` are made.
    #[must_use]
    pub fn method_for(self, extra: usize, most: usize) -> SuiteMethod {
        match self {
            Self::Mixed if extra == 0 || extra == most => SuiteMethod::S,
            Self::Mixed => SuiteMethod::Spyh,
            Self::Of(method) => method,
        }
    }
}

impl From<SuiteMethod> for OracleSuites {
    fn from(method: SuiteMethod) -> Self {
        Self::Of(method)
    }
}
