//! A campaign in figures: a fold over its events that every report reads.
//!
//! Nothing here depends on the last event, so a record that breaks off tells as much as it holds. Several runs may be
//! under way at once: an event belongs to the run it names, else to the one that began last.
//!
//! *Promises.* Memory does not grow with steps or runs: of a run the last steps are kept until
//! it ends, of failures one run for every kind, and of kinds the first [`MAX_KINDS`].

pub(crate) mod json;
pub mod lines;
pub mod parts;
mod runs;
mod shrunk;
mod states;
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use ioxide_model::label::certain_switch;
use ioxide_record::event::{
    CampaignFinished, CampaignStarted, Event, EventKind, PatienceRecord, Replayed, RunFinished, RunOutcome,
    ShrunkRecord, StepRecord, ThinnedRun, UnsolicitedRecord,
};
use ioxide_record::failure_id::failure_id;
use ioxide_record::reporter::Reporter;

pub use self::runs::RunSummary;
use self::runs::{OpenRuns, TakenSwitches, insert_name};
pub use self::shrunk::ShrunkSummary;
pub use self::tally::{OutcomeCounts, Reasons};
use crate::control_characters::excerpt;
use crate::http::operations::OperationTable;
use crate::http::{HttpFailure, describe_failure};
use crate::requirements::RequirementTable;
use crate::values::SentValues;

/// The kind of a verdict on an observation that the model forbids.
const FORBIDDEN: &str = "forbidden";
/// A number of planned runs from which on the campaign has no planned end: something else ends it.
pub const ENDLESS: u64 = 1 << 53;
/// The number of kinds of failures kept. Chosen by feel, as are the next two: more than anyone reads, and the memory
/// stays bounded however long the campaign is.
pub const MAX_KINDS: usize = 50;
/// The number of runs of one kind whose replay or shrinking is still attributed to the kind. Chosen by feel: it bounds
/// the memory.
const MAX_LOOKS: usize = 4;
/// The number of characters kept of a signature. Chosen by feel: it bounds the memory.
const MAX_SIGNATURE: usize = 200;

/// The figures of a campaign up to the last event added.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The messages that arrived after the tester had called quiescence.
    pub late: LateMessages,
    /// The late messages that were the first after the system was started or connected to.
    pub first_replies: LateMessages,
    /// The messages that the model does not see.
    pub unsolicited: UnsolicitedCounts,
    /// The first event of the campaign; `None` before it.
    pub started: Option<CampaignStarted>,
    /// The last event of the campaign; `None` while it goes on, and where its record breaks off.
    pub finished: Option<CampaignFinished>,
    /// The runs that ended, by outcome.
    pub counts: OutcomeCounts,
    /// The number of labels observed or sent, over all runs.
    pub steps: u64,
    /// The number of queries the solver left unanswered, over the runs that ended.
    pub doubts: u64,
    /// The time of the last event, in nanoseconds since the first.
    pub time_ns: u64,
    /// Failures by kind, in the order in which the kinds were found; at most [`MAX_KINDS`].
    pub kinds: Vec<FailureSummary>,
    /// The number of failing runs of kinds beyond [`MAX_KINDS`].
    pub unlisted: u64,
    /// The reasons of inconclusive runs.
    pub inconclusive: Reasons,
    /// The number of inconclusive runs in which the system only did something else that is allowed.
    pub missed: u64,
    /// The reasons of runs without a verdict.
    pub errors: Reasons,
    /// The labels of the switches certainly taken.
    pub certain: BTreeSet<String>,
    /// The labels of the switches possibly taken, those in `certain` included.
    pub possible: BTreeSet<String>,
    /// The number of runs whose steps the record leaves out.
    pub thinned: u64,
    /// The values of inputs sent.
    pub values: SentValues,
    /// The figures by operation of a system that is asked by HTTP.
    pub operations: OperationTable,
    /// The requirements of the model, against the runs that ended.
    pub requirements: RequirementTable,
    /// The evidence about the first failure: facts that speak for the model or for the system. It needs the model, so
    /// whoever has that adds it.
    pub evidence: Vec<String>,
    /// The switches taken in the runs that ended, as these runs tell at their end.
    settled: TakenSwitches,
    runs: OpenRuns,
}

/// Failures of one kind, represented by the run that showed it first.
#[derive(Clone, Debug)]
pub struct FailureSummary {
    /// The signature that the failures share.
    pub signature: String,
    /// The id of the failure: of its smallest run, else of the run as found.
    pub id: String,
    /// The number of runs that failed in this way.
    pub runs: u64,
    /// The first of these runs.
    pub run: RunSummary,
    /// The number of labels of the first run.
    pub steps: usize,
    /// The duration of the first run, in nanoseconds.
    pub time_ns: u64,
    /// The result of repeating one of these runs; `None` if none was repeated.
    pub replayed: Option<Replayed>,
    /// The smaller run that shrinking found; `None` if none was shrunk.
    pub smaller: Option<ShrunkSummary>,
    /// The failure in the words of HTTP, without indentation; empty if the system is not asked by HTTP.
    pub http: Vec<String>,
    /// The numbers of the first runs of this kind, at most `MAX_LOOKS`.
    first: Vec<u64>,
}

/// A run that has just ended.
#[derive(Clone, Debug)]
pub struct EndedRun {
    /// The run as far as it was kept.
    pub run: RunSummary,
    /// The outcome.
    pub outcome: RunOutcome,
    /// The number of labels of the run.
    pub steps: usize,
    /// The duration in nanoseconds.
    pub time_ns: u64,
    /// For a failure, its relation to the kinds already known.
    pub novelty: Novelty,
    /// The figures of a run whose steps are left out; `None` if they are not.
    pub thinned: Option<ThinnedRun>,
    /// The certain and the possible times that the run took each switch; `None` if its steps tell.
    pub taken: Option<BTreeMap<String, (u64, u64)>>,
}

/// The messages that arrived after the tester had called quiescence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LateMessages {
    /// The number of late messages.
    pub n: u64,
    /// The message that took longest.
    pub longest: Option<PatienceRecord>,
}

impl LateMessages {
    fn add_late(&mut self, told: &PatienceRecord) {
        self.n += 1;
        if self.longest.as_ref().is_none_or(|longest| longest.took_ms < told.took_ms) {
            self.longest = Some(told.clone());
        }
    }
}

/// The number of messages of the system that the model does not see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnsolicitedCounts {
    /// Messages that were answered at once.
    pub answered: u64,
    /// Messages that were ignored.
    pub ignored: u64,
}

impl UnsolicitedCounts {
    fn count_message(&mut self, told: &UnsolicitedRecord) {
        match told.answer {
            Some(_) => self.answered += 1,
            None => self.ignored += 1,
        }
    }
}

/// The relation of a run's failure to the kinds already known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Novelty {
    /// The run did not fail.
    None,
    /// The failure is the first of its kind, which is kept at this position.
    New(usize),
    /// The failure is a further one of the kind at this position.
    Known(usize),
    /// The failure is of a kind that is not kept, since [`MAX_KINDS`] are.
    Unlisted,
}

/// Says that the system refused everything.
#[must_use]
pub fn refused_text(replies: u64) -> String {
    let all = if replies == 1 { "the only reply".to_owned() } else { format!("all {replies} replies") };
    let were = if replies == 1 { "was a refusal" } else { "were refusals" };
    format!(
        "{all} of the system {were}, so nothing beyond them was tested; check its credentials and permissions"
    )
}

impl Summary {
    /// Adds an event, and returns the run it ended, if it ended one.
    pub fn add_event(&mut self, event: &Event) -> Option<EndedRun> {
        // Events of several runs may come out of order, so the last one is not always the latest.
        self.time_ns = self.time_ns.max(event.time_ns);
        let ended = self.apply_event(event);
        self.counts.cut = self.runs.n_given_up();
        ended
    }

    /// Returns the time of the campaign in nanoseconds, split into testing, and repeating and shrinking failures. The
    /// latter is 0 where it is not known, and where runs are made at the same time: the others go on meanwhile.
    #[must_use]
    pub fn split_time(&self) -> (u64, u64) {
        let is_one_by_one = self.started.as_ref().is_none_or(|started| started.jobs <= 1);
        let spent = self.finished.as_ref().and_then(|finished| finished.time_spent);
        let repeats_ms = spent.filter(|_| is_one_by_one).map_or(0, |spent| spent.repeats_ms);
        let repeating = repeats_ms.saturating_mul(1_000_000).min(self.time_ns);
        (self.time_ns - repeating, repeating)
    }

    fn apply_event(&mut self, event: &Event) -> Option<EndedRun> {
        match &event.event {
            EventKind::CampaignStarted(told) => {
                self.operations = OperationTable::new(&told.operations);
                self.requirements = RequirementTable::new(&told.requirements, &told.switches);
                self.started = Some(told.clone());
            }
            EventKind::RunStarted(told) => self.runs.start_run(told, event.time_ns),
            EventKind::Stimulus(told) | EventKind::Observation(told) => self.apply_step(event, told),
            EventKind::Patience(told) if told.first_reply => self.first_replies.add_late(told),
            EventKind::Patience(told) => self.late.add_late(told),
            EventKind::Unsolicited(told) => self.unsolicited.count_message(told),
            EventKind::Verdict(told) => self.runs.run_of_event(event).apply_verdict(told),
            EventKind::Trouble(told) => self.runs.run_of_event(event).apply_trouble(told),
            EventKind::RunFinished(told) => return Some(self.end_run(told, event.time_ns)),
            EventKind::Replayed(told) => {
                if let Some(kind) = self.failure_with_run(told.run) {
                    kind.replayed = Some(told.clone());
                }
            }
            EventKind::Shrunk(told) => {
                let http = self.describe_shrunk(told);
                if let Some(kind) = self.failure_with_run(told.run) {
                    if !http.is_empty() {
                        kind.http = http;
                    }
                    // The id belongs to the smallest run, so that a failure found again on another way has
                    // the same one.
                    kind.id = told.signature.as_deref().map_or_else(|| kind.id.clone(), failure_id);
                    kind.smaller = Some(ShrunkSummary::new(told));
                }
            }
            EventKind::CampaignFinished(told) => {
                // A step may have seemed to take a switch that no explanation of its whole run takes.
                self.possible.retain(|switch| !told.never.contains(switch));
                self.certain.retain(|switch| !told.never.contains(switch));
                self.requirements.retract(&told.never);
                self.finished = Some(told.clone());
            }
        }
        None
    }

    /// Returns the number of runs that began and have not ended.
    #[must_use]
    pub fn count_open_runs(&self) -> usize {
        self.runs.n_open()
    }

    /// Returns whether the campaign or one of its runs was interrupted.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.counts.interrupted > 0 || self.finished.as_ref().is_some_and(|told| told.interrupted)
    }

    /// Returns the switches never even possibly taken; once the campaign has ended, without internal ones, which cannot
    /// be observed.
    #[must_use]
    pub fn never_taken(&self) -> Vec<String> {
        match (&self.finished, &self.started) {
            (Some(finished), _) => finished.never.clone(),
            (None, Some(started)) => {
                started.switches.iter().filter(|switch| !self.possible.contains(*switch)).cloned().collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// Returns the number of replies if all of them were refusals, though the model has other answers.
    fn refused(&self) -> Option<u64> {
        self.finished.as_ref().and_then(|told| told.refused)
    }

    /// Returns the reason why a campaign without failures is inconclusive, if there is one that holds for all its runs.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let counts = &self.counts;
        let is_clean = counts.failed == 0 && counts.errors == 0 && !self.is_interrupted();
        self.refused().filter(|_| is_clean).map(refused_text)
    }

    /// Returns the worst outcome so far, in words.
    #[must_use]
    pub fn verdict(&self) -> &'static str {
        match &self.counts {
            counts if counts.failed > 0 => "failed",
            counts if counts.errors > 0 => "without verdict",
            _ if self.is_interrupted() => "interrupted",
            _ if self.finished.is_none() => "broken off",
            _ if self.refused().is_some() => "inconclusive",
            counts if counts.passed > 0 => "passed",
            counts if counts.inconclusive > 0 => "inconclusive",
            _ => "nothing was run",
        }
    }

    fn apply_step(&mut self, event: &Event, step: &StepRecord) {
        self.steps += 1;
        self.values.count_fields(&step.label);
        self.operations.count_message(&step.label.label, 1);
        if let Some(switch) = certain_switch(&step.switches) {
            self.operations.cover(switch);
            insert_name(&mut self.certain, switch);
        }
        step.switches.iter().for_each(|switch| insert_name(&mut self.possible, switch));
        self.runs.run_of_event(event).apply_step(step);
    }

    /// Counts the switches of a run that ended: by its paths where they differ from its steps, else by its steps.
    fn settle_switches(&mut self, by_steps: &TakenSwitches, finished: &RunFinished) {
        let by_paths = finished.taken.as_ref().map(TakenSwitches::from_counts);
        self.settled.add(by_paths.as_ref().unwrap_or(by_steps));
        if by_paths.is_none() {
            return;
        }
        // A step takes back nothing that it seemed to cover when it was counted; only a rebuilt set does.
        let mut all = self.settled.clone();
        self.runs.open_runs().for_each(|run| all.add(&run.switches));
        (self.certain, self.possible) = (all.certain, all.possible);
    }

    fn end_run(&mut self, finished: &RunFinished, time_ns: u64) -> EndedRun {
        let mut run = self.runs.end_run(finished.run);
        self.counts.add_outcome(finished.outcome);
        self.doubts = self.doubts.saturating_add(finished.doubts as u64);
        // A thinned run has no events of its own steps, so everything that they would have added is added
        // here.
        if let Some(thinned) = &finished.thinned {
            self.thinned += 1;
            self.steps += finished.steps as u64;
            for (switch, (certain, _)) in &thinned.taken {
                insert_name(&mut self.possible, switch);
                self.operations.count_switch(switch, *certain);
                if *certain > 0 {
                    self.operations.cover(switch);
                    insert_name(&mut self.certain, switch);
                }
            }
            self.settled.add(&TakenSwitches::from_counts(&thinned.taken));
        }
        for (switch, _) in finished.taken.iter().flatten().filter(|(_, (certain, _))| *certain > 0) {
            self.operations.cover(switch);
        }
        self.settle_switches(&run.switches, finished);
        // The paths of the whole run know more than its steps, and a thinned run has no steps at all.
        let counted = finished.taken.as_ref().or(finished.thinned.as_ref().map(|thinned| &thinned.taken));
        run.switches = counted.map_or(run.switches, TakenSwitches::from_counts);
        self.requirements.add_run(&run.for_requirements(finished.outcome));
        debug_assert!(self.certain.is_subset(&self.possible), "what is certain is possible");
        match finished.outcome {
            RunOutcome::Inconclusive => {
                self.missed += u64::from(run.has_missed_goal());
                self.inconclusive.add_reason(run.reason());
            }
            RunOutcome::Error => self.errors.add_reason(run.reason()),
            RunOutcome::Pass | RunOutcome::Fail | RunOutcome::Interrupted => (),
        }
        let time_ns = time_ns.saturating_sub(run.began_ns);
        let mut ended = EndedRun {
            run,
            outcome: finished.outcome,
            steps: finished.steps,
            time_ns,
            novelty: Novelty::None,
            thinned: finished.thinned.clone(),
            taken: finished.taken.clone(),
        };
        if finished.outcome == RunOutcome::Fail {
            ended.novelty = self.add_failure(&ended);
        }
        ended
    }

    fn add_failure(&mut self, ended_run: &EndedRun) -> Novelty {
        let run = &ended_run.run;
        let signature = excerpt(run.signature(), MAX_SIGNATURE);
        // Looked up before the limit is asked: a known kind is counted however many there are.
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
            id: run.failure_id.clone(),
            signature,
            runs: 1,
            run: run.clone(),
            steps: ended_run.steps,
            time_ns: ended_run.time_ns,
            replayed: None,
            smaller: None,
            http: self.describe_run(run),
            first: vec![run.number],
        });
        Novelty::New(self.kinds.len() - 1)
    }

    /// Returns the failure of a run as found in the words of HTTP.
    fn describe_run(&self, run: &RunSummary) -> Vec<String> {
        let Some(verdict) = &run.verdict else { return Vec::new() };
        describe_failure(&HttpFailure {
            operations: self.started.as_ref().map(|started| &started.operations[..]).unwrap_or_default(),
            exchanges: &verdict.exchanges,
            explanation: verdict.explanation.as_ref(),
            is_breakdown: verdict.kind.as_deref().is_some_and(|kind| kind != FORBIDDEN),
        })
    }

    /// Returns the failure of a smaller run in the words of HTTP.
    fn describe_shrunk(&self, shrunk: &ShrunkRecord) -> Vec<String> {
        let is_breakdown = shrunk.trace.last().is_some_and(|label| label.kind.breakdown().is_some());
        // How a system broke down is told by the run as found alone.
        let as_found = self.kinds.iter().find(|kind| kind.first.contains(&shrunk.run));
        let as_found = as_found.and_then(|kind| kind.run.explanation()).filter(|_| is_breakdown);
        describe_failure(&HttpFailure {
            operations: self.started.as_ref().map(|started| &started.operations[..]).unwrap_or_default(),
            exchanges: &shrunk.exchanges,
            explanation: as_found.or(shrunk.explanation.as_ref()),
            is_breakdown,
        })
    }

    /// Returns the kind among whose first runs is `run`.
    fn failure_with_run(&mut self, run: u64) -> Option<&mut FailureSummary> {
        self.kinds.iter_mut().find(|kind| kind.first.contains(&run))
    }
}

impl Reporter for Summary {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.add_event(event);
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod tests;
