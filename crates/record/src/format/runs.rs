//! The runs of a record: their starts, their ends and their failures.

use crate::event::{CampaignStarted, EventKind, RunFinished, RunOutcome, RunStarted};
use crate::failure_id::failure_id;

use super::Record;

/// A failure in a record, by the id of a run that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFailure {
    /// The id of the failure.
    pub id: String,
    /// The run that failed.
    pub run: u64,
    /// True if the id is that of the smallest run.
    pub is_smallest: bool,
}

/// The failures of a record that an id, or a part of one, may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureMatch {
    /// It means this one.
    One(RecordedFailure),
    /// Several failures have it in their ids.
    Several,
    /// No failure has it in its id.
    None,
}

impl Record {
    /// Returns the start of the campaign; `None` if the record has none.
    #[must_use]
    pub fn campaign_start(&self) -> Option<&CampaignStarted> {
        self.events.iter().find_map(|event| match &event.event {
            EventKind::CampaignStarted(started) => Some(started),
            _ => None,
        })
    }

    /// Returns the number of runs, finished or not.
    #[must_use]
    pub fn n_runs(&self) -> u64 {
        self.starts().count() as u64
    }

    /// Returns the start of run `run`; `None` if the record does not have this run.
    #[must_use]
    pub fn start_of_run(&self, run: u64) -> Option<&RunStarted> {
        self.starts().find(|started| started.run == run)
    }

    /// Returns the end of run `run`; `None` if the record does not have it.
    #[must_use]
    pub fn end_of_run(&self, run: u64) -> Option<&RunFinished> {
        self.ends().find(|finished| finished.run == run)
    }

    /// Returns whether run `run` failed when it was recorded.
    #[must_use]
    pub fn has_failed(&self, run: u64) -> bool {
        self.end_of_run(run).is_some_and(|finished| finished.outcome == RunOutcome::Fail)
    }

    /// Returns the first run that failed, or the first run if none did.
    #[must_use]
    pub fn first_failing_run(&self) -> u64 {
        let failing = self.ends().find(|finished| finished.outcome == RunOutcome::Fail);
        // A run that was cut off has no end; it is still there.
        failing.or_else(|| self.ends().next()).map_or(0, |finished| finished.run)
    }

    /// Returns the failures, in the order of their runs.
    #[must_use]
    pub fn failures(&self) -> Vec<RecordedFailure> {
        let mut found = Vec::new();
        let mut last_started = 0;
        for event in &self.events {
            let (run, signature, is_smallest) = match &event.event {
                EventKind::RunStarted(started) => {
                    last_started = started.run;
                    continue;
                }
                EventKind::Verdict(verdict) => {
                    (event.run.unwrap_or(last_started), verdict.signature.as_deref(), false)
                }
                EventKind::Shrunk(shrunk) => (shrunk.run, shrunk.signature.as_deref(), true),
                _ => continue,
            };
            found.extend(signature.map(|text| RecordedFailure { id: failure_id(text), run, is_smallest }));
        }
        found
    }

    /// Returns the failure with this id, or the only one that has it in its id.
    #[must_use]
    pub fn find_failure(&self, id: &str) -> FailureMatch {
        let failures = self.failures();
        // The smallest run of a failure names it, so it goes first.
        let exact =
            failures.iter().filter(|failure| failure.id == id).max_by_key(|failure| failure.is_smallest);
        if let Some(failure) = exact {
            return FailureMatch::One(failure.clone());
        }
        let mut similar = failures.iter().filter(|failure| failure.id.contains(id));
        let Some(first) = similar.next() else { return FailureMatch::None };
        if similar.any(|other| other.id != first.id) {
            return FailureMatch::Several;
        }
        let is_of_first = |failure: &&RecordedFailure| failure.id == first.id && failure.run == first.run;
        let is_smallest = failures.iter().filter(is_of_first).any(|failure| failure.is_smallest);
        FailureMatch::One(RecordedFailure { is_smallest, ..first.clone() })
    }

    /// Returns the beginnings of the runs, in order.
    fn starts(&self) -> impl Iterator<Item = &RunStarted> {
        self.events.iter().filter_map(|event| match &event.event {
            EventKind::RunStarted(started) => Some(started),
            _ => None,
        })
    }

    /// Returns the ends of the runs, in order.
    fn ends(&self) -> impl Iterator<Item = &RunFinished> {
        self.events.iter().filter_map(|event| match &event.event {
            EventKind::RunFinished(finished) => Some(finished),
            _ => None,
        })
    }
}
