//! What is told of a failure.

use std::fmt;

/// A system that does what its model does not allow, or cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// The story: charts of the run and of the smallest run that fails, and what is wrong.
    pub story: String,
    /// The seed that repeats it.
    pub seed: u64,
    /// Whether it is a verdict about the system; if not, something kept it from being tested.
    pub is_verdict: bool,
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_verdict { "the system does not conform to its model" } else { "no verdict" };
        writeln!(out, "{what}\n{}", self.story.trim_end())?;
        write!(out, "again: IOXIDE_SEED={} cargo test, or `.seed({})`", self.seed, self.seed)
    }
}

impl std::error::Error for CheckFailure {}
