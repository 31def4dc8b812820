//! A campaign in figures: a fold over its events that every report reads.
//!
//! Nothing here depends on the last event, so a record that breaks off tells as much as it
//! holds. Runs may go on at once: an event belongs to the run it names, else to the one
//! begun last.
//!
//! *Promises.* Memory does not grow with steps or runs: of a run the last steps are kept until
//! it ends, of failures one run for every kind, and of kinds the first [`MAX_KINDS`].

pub(crate) mod json;
pub mod parts;
mod runs;
mod shrunk;
pub mod story;
mod tally;

use std::collections::BTreeSet;
use std::io;

use ioxide_model::label::certain_switch;
use ioxide_runner::event::{
    CampaignFinished, CampaignStarted, Event, EventKind, PatienceTold, Replayed, RunFinished, RunOutcome,
    StepTold,
};
use ioxide_runner::reporter::Reporter;

use self::runs::OpenRuns;
pub use self::runs::RunSummary;
pub use self::shrunk::ShrunkSummary;
pub use self::tally::{OutcomeCounts, Reasons};
use crate::control_characters::excerpt;
use crate::values::SentValues;

/// So many planned runs are no plan: something else ends the campaign.
pub const ENDLESS: u64 = 1 << 53;
/// Kinds of failures kept.
pub const MAX_KINDS: usize = 50;
/// Runs of one kind that may be looked into later.
const MAX_LOOKS: usize = 4;
/// Characters kept of what failures have in common.
const MAX_SIGNATURE: usize = 200;

/// What is known of a campaign so far.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Messages that came after silence had been called.
    pub late: LateMessages,
    /// How it began.
    pub started: Option<CampaignStarted>,
    /// How it ended; absent while it goes on, and where its record breaks off.
    pub finished: Option<CampaignFinished>,
    /// The runs that ended, by outcome.
    pub counts: OutcomeCounts,
    /// Labels seen.
    pub steps: u64,
    /// Answers the solver owed.
    pub doubts: u64,
    /// The time of the last event, in nanoseconds since the first.
    pub time_ns: u64,
    /// Failures by kind, in the order they were met.
    pub kinds: Vec<FailureSummary>,
    /// Failing runs of further kinds.
    pub unlisted: u64,
    /// Why runs were inconclusive.
    pub inconclusive: Reasons,
    /// Why runs had no verdict.
    pub errors: Reasons,
    /// Switches certainly taken.
    pub certain: BTreeSet<String>,
    /// Switches possibly taken, those above included.
    pub possible: BTreeSet<String>,
    /// The values sent.
    pub values: SentValues,
    runs: OpenRuns,
}

/// Failures of one kind, told by the run that showed it first.
#[derive(Clone, Debug)]
pub struct FailureSummary {
    /// What they have in common.
    pub signature: String,
    /// How many runs had one.
    pub runs: u64,
    /// The first of these.
    pub run: RunSummary,
    /// How many steps it had.
    pub steps: usize,
    /// How long it took, in nanoseconds.
    pub time_ns: u64,
    /// The run that was done again, and how often it failed.
    pub replayed: Option<Replayed>,
    /// A smaller run that fails.
    pub smaller: Option<ShrunkSummary>,
    /// The first runs that had one.
    first: Vec<u64>,
}

/// A run that has just ended.
#[derive(Clone, Debug)]
pub struct EndedRun {
    /// What was kept of it.
    pub run: RunSummary,
    /// How it ended.
    pub outcome: RunOutcome,
    /// How many labels were seen.
    pub steps: usize,
    /// How long it took, in nanoseconds.
    pub time_ns: u64,
    /// If it failed, whether in a new way.
    pub novelty: Novelty,
}

/// Messages that came after silence had been called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LateMessages {
    /// How many.
    pub n: u64,
    /// The one that took longest.
    pub longest: Option<PatienceTold>,
}

impl LateMessages {
    fn add(&mut self, told: &PatienceTold) {
        self.n += 1;
        if self.longest.as_ref().is_none_or(|longest| longest.took_ms < told.took_ms) {
            self.longest = Some(told.clone());
        }
    }
}

/// Whether a failure is of a new kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// The run did not fail.
    None,
    /// The first of its kind, which is the one at this position.
    New(usize),
    /// One more of the kind at this position.
    Known(usize),
    /// Of a kind that is not kept: there are too many.
    Unlisted,
}

impl Summary {
    /// Adds an event; says if it ended a run.
    pub fn add(&mut self, event: &Event) -> Option<EndedRun> {
        self.time_ns = self.time_ns.max(event.time_ns);
        match &event.event {
            EventKind::CampaignStarted(told) => self.started = Some(told.clone()),
            EventKind::RunStarted(told) => self.counts.cut += self.runs.start(told, event.time_ns),
            EventKind::Stimulus(told) | EventKind::Observation(told) => self.step(event, told),
            EventKind::Patience(told) => self.late.add(told),
            EventKind::Verdict(told) => self.runs.of(event).verdict(told),
            EventKind::Trouble(told) => self.runs.of(event).trouble(told),
            EventKind::RunFinished(told) => return Some(self.end(told, event.time_ns)),
            EventKind::Replayed(told) => {
                if let Some(kind) = self.kind_of(told.run) {
                    kind.replayed = Some(told.clone());
                }
            }
            EventKind::Shrunk(told) => {
                if let Some(kind) = self.kind_of(told.run) {
                    kind.smaller = Some(ShrunkSummary::new(told));
                }
            }
            EventKind::CampaignFinished(told) => self.finished = Some(told.clone()),
        }
        None
    }

    /// Runs that began and have not ended.
    #[must_use]
    pub fn open(&self) -> usize {
        self.runs.n_open()
    }

    /// Whether somebody stopped the campaign.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.counts.interrupted > 0 || self.finished.as_ref().is_some_and(|told| told.interrupted)
    }

    /// Switches never even possibly taken; internal ones, which nobody sees, are left out once the
    /// campaign has said which they are.
    #[must_use]
    pub fn never(&self) -> Vec<String> {
        match (&self.finished, &self.started) {
            (Some(finished), _) => finished.never.clone(),
            (None, Some(started)) => {
                started.switches.iter().filter(|switch| !self.possible.contains(*switch)).cloned().collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// The worst that happened, in one word.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match &self.counts {
            counts if counts.failed > 0 => "failed",
            counts if counts.errors > 0 => "without verdict",
            _ if self.is_interrupted() => "interrupted",
            _ if self.finished.is_none() => "broken off",
            counts if counts.passed > 0 => "passed",
            counts if counts.inconclusive > 0 => "inconclusive",
            _ => "nothing was run",
        }
    }

    fn step(&mut self, event: &Event, told: &StepTold) {
        self.steps += 1;
        self.values.count(&told.label);
        if let Some(switch) = certain_switch(&told.switches) {
            insert(&mut self.certain, switch);
        }
        told.switches.iter().for_each(|switch| insert(&mut self.possible, switch));
        self.runs.of(event).step(told);
    }

    fn end(&mut self, told: &RunFinished, time_ns: u64) -> EndedRun {
        let run = self.runs.end(told.run);
        self.counts.add(told.outcome);
        self.doubts += told.doubts as u64;
        match told.outcome {
            RunOutcome::Inconclusive => self.inconclusive.add(run.reason()),
            RunOutcome::Error => self.errors.add(run.reason()),
            RunOutcome::Pass | RunOutcome::Fail | RunOutcome::Interrupted => (),
        }
        let time_ns = time_ns.saturating_sub(run.began_ns);
        let mut ended =
            EndedRun { run, outcome: told.outcome, steps: told.steps, time_ns, novelty: Novelty::None };
        if told.outcome == RunOutcome::Fail {
            ended.novelty = self.failed(&ended);
        }
        ended
    }

    fn failed(&mut self, ended: &EndedRun) -> Novelty {
        let run = &ended.run;
        let signature = excerpt(run.signature(), MAX_SIGNATURE);
        if let Some(at) = self.kinds.iter().position(|kind| kind.signature == signature) {
            let kind = &mut self.kinds[at];
            kind.runs += 1;
            if kind.first.len() < MAX_LOOKS {
                kind.first.push(run.number);
            }
            return Novelty::Known(at);
        }
        if self.kinds.len() == MAX_KINDS {
            self.unlisted += 1;
            return Novelty::Unlisted;
        }
        self.kinds.push(FailureSummary {
            signature,
            runs: 1,
            run: run.clone(),
            steps: ended.steps,
            time_ns: ended.time_ns,
            replayed: None,
            smaller: None,
            first: vec![run.number],
        });
        Novelty::New(self.kinds.len() - 1)
    }

    /// The kind that run `run` was among the first of.
    fn kind_of(&mut self, run: u64) -> Option<&mut FailureSummary> {
        self.kinds.iter_mut().find(|kind| kind.first.contains(&run))
    }
}

/// Most switches are in the set already: their names are not copied again.
fn insert(set: &mut BTreeSet<String>, name: &str) {
    if !set.contains(name) {
        set.insert(name.to_owned());
    }
}

impl Reporter for Summary {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.add(event);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
