//! The failure of a check, and the text that reports it.

use std::fmt;

/// A failed check: the system violates its model, or cannot be tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFailure {
    /// The report of the campaign: charts of the failing run and of the smallest run that fails, and the violation; the
    /// error if there is no verdict.
    pub story: String,
    /// The seed that repeats it.
    pub seed: u64,
    /// True if the system violates its model; false if an error kept it from being tested.
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
