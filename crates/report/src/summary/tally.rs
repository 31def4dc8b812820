//! Runs by outcome, and the reasons behind them.

use ioxide_record::event::RunOutcome;

use crate::control_characters::excerpt;

/// The number of reasons kept. Chosen by feel: more is not read.
const MAX_REASONS: usize = 20;
/// The number of characters kept of a reason. Chosen by feel: it bounds the memory.
const MAX_TEXT: usize = 300;

/// Runs by outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutcomeCounts {
    /// Runs with verdict pass.
    pub passed: u64,
    /// Runs with verdict fail.
    pub failed: u64,
    /// Runs with verdict inconclusive.
    pub inconclusive: u64,
    /// Runs without a verdict, because of trouble.
    pub errors: u64,
    /// Runs that were interrupted.
    pub interrupted: u64,
    /// Runs that began and of which no further event arrived.
    pub cut: u64,
}

impl OutcomeCounts {
    /// Returns the number of runs that ended by themselves: all but interrupted and cut ones.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.passed + self.failed + self.inconclusive + self.errors
    }

    /// Returns each number that is not 0, with its word.
    pub fn counts_in_words(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let all = [
            (self.passed, "passed"),
            (self.failed, "failed"),
            (self.inconclusive, "inconclusive"),
            (self.errors, "without verdict"),
            (self.interrupted, "interrupted"),
            (self.cut, "cut off"),
        ];
        all.into_iter().filter(|(n, _)| *n > 0)
    }

    pub(super) fn add_outcome(&mut self, outcome: RunOutcome) {
        match outcome {
            RunOutcome::Pass => self.passed += 1,
            RunOutcome::Fail => self.failed += 1,
            RunOutcome::Inconclusive => self.inconclusive += 1,
            RunOutcome::Error => self.errors += 1,
            RunOutcome::Interrupted => self.interrupted += 1,
        }
    }
}

/// The reasons of runs with their frequencies; only the first different ones are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    kept: Vec<(String, u64)>,
    beyond: u64,
}

impl Reasons {
    /// Returns the reasons kept, in the order in which they occurred, with their frequencies.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.kept.iter().map(|(reason, n)| (reason.as_str(), *n))
    }

    /// Returns the number of runs whose reason is not kept.
    #[must_use]
    pub fn count_beyond(&self) -> u64 {
        self.beyond
    }

    /// Returns the number of runs that had `reason`; for a reason that is not kept, the number of all such runs.
    #[must_use]
    pub fn count_of(&self, reason: &str) -> u64 {
        let reason = excerpt(reason, MAX_TEXT);
        self.kept.iter().find(|(kept, _)| *kept == reason).map_or(self.beyond, |(_, n)| *n)
    }

    pub(super) fn add_reason(&mut self, reason: &str) {
        let reason = excerpt(reason, MAX_TEXT);
        match self.kept.iter().position(|(kept, _)| *kept == reason) {
            Some(at) => self.kept[at].1 += 1,
            None if self.kept.len() < MAX_REASONS => self.kept.push((reason, 1)),
            None => self.beyond += 1,
        }
    }
}
