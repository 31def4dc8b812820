//! The runs of a campaign as test cases, the form that continuous integration systems ask for.
//!
//! A case is a run, listed when it ends. Failures that are the first of their kind come last, with their story, since
//! they are still looked into when their run ends. Beyond a limit for every outcome runs are not listed but summed up
//! in one case, which says how many there were. [`junit`](crate::junit) and [`tap`](crate::tap) write such cases.

use ioxide_record::event::{Event, RunOutcome};

use crate::run_number::number_from_one;
use crate::summary::lines::{self, plural};
use crate::summary::{EndedRun, Novelty, RunSummary, Summary};

/// The default number of runs of one outcome that are listed one by one. Chosen by feel: programs that read such
/// files become slow beyond it.
pub const MAX_LISTED: u64 = 10_000;

/// One test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedCase {
    /// The name, which no other case of the campaign has.
    pub name: String,
    /// The duration of the run, in nanoseconds.
    pub time_ns: u64,
    /// The result.
    pub result: ReportedResult,
    /// The story of a result that is not a pass, line by line.
    pub details: Vec<String>,
    /// The requirements that the run covers.
    pub requirements: Vec<String>,
}

/// The result of a test case, with a message in one line unless it passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportedResult {
    /// The system did what the model allows, and the goal was met.
    Passed,
    /// The system did what the model does not allow.
    Failed(String),
    /// There is no verdict: the system or the way to it broke.
    Error(String),
    /// Nothing wrong was seen, but the goal was not met.
    Skipped(String),
}

/// The campaign so far, and how many of its runs were listed.
pub(crate) struct CaseLister {
    pub(crate) summary: Summary,
    /// The greatest number of runs of one outcome listed one by one.
    limit: u64,
    /// The numbers of runs listed, by outcome: passed, failed, without verdict, skipped.
    listed: [u64; 4],
    /// The numbers of runs not listed, by outcome.
    beyond: [u64; 4],
}

impl CaseLister {
    pub(crate) fn new(limit: u64) -> Self {
        Self { summary: Summary::default(), limit, listed: [0; 4], beyond: [0; 4] }
    }

    pub(crate) fn with_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// The name of the model, once it is known.
    pub(crate) fn model_name(&self) -> &str {
        self.summary.started.as_ref().map_or("campaign", |told| &told.model)
    }

    /// The file of the model; empty until it is known.
    pub(crate) fn model_file(&self) -> &str {
        self.summary.started.as_ref().map_or("", |told| &told.file)
    }

    /// Adds an event, and returns the case of the run that it ends, if that is listed now.
    pub(crate) fn add_event(&mut self, event: &Event) -> Option<ReportedCase> {
        let ended = self.summary.add_event(event)?;
        self.list_ended_run(&ended)
    }

    /// Lists a run, or only counts it once the limit is reached; failures of a new kind wait for the end.
    fn list_ended_run(&mut self, ended_run: &EndedRun) -> Option<ReportedCase> {
        if matches!(ended_run.novelty, Novelty::New(_)) {
            return None;
        }
        let at = outcome_index(ended_run.outcome);
        if self.listed[at] == self.limit {
            self.beyond[at] += 1;
            return None;
        }
        self.listed[at] += 1;
        let (message, details) = self.describe_run(ended_run);
        let result = match ended_run.outcome {
            RunOutcome::Pass => ReportedResult::Passed,
            RunOutcome::Fail => ReportedResult::Failed(message),
            RunOutcome::Error => ReportedResult::Error(message),
            RunOutcome::Inconclusive | RunOutcome::Interrupted => ReportedResult::Skipped(message),
        };
        let requirements = self.requirements_of(&ended_run.run, ended_run.outcome);
        Some(ReportedCase {
            name: case_name(&ended_run.run),
            time_ns: ended_run.time_ns,
            result,
            details,
            requirements,
        })
    }

    /// Returns the requirements that a run covers.
    fn requirements_of(&self, run: &RunSummary, outcome: RunOutcome) -> Vec<String> {
        self.summary.requirements.names_covered_by(&run.for_requirements(outcome))
    }

    /// Returns the message of a run, in one line, and its details.
    fn describe_run(&self, ended_run: &EndedRun) -> (String, Vec<String>) {
        match (ended_run.outcome, ended_run.novelty) {
            (RunOutcome::Fail, Novelty::Known(at)) => {
                let kind = &self.summary.kinds[at];
                (format!("{}, as in run {}", kind.id, number_from_one(kind.run.number)), Vec::new())
            }
            (RunOutcome::Fail, _) => (
                failure_message(&ended_run.run.failure_id, &ended_run.run),
                lines::ending_lines(&ended_run.run),
            ),
            (RunOutcome::Error, _) => (
                ended_run.run.reason().to_owned(),
                ended_run.run.trouble.as_ref().map(lines::trouble_lines).unwrap_or_default(),
            ),
            (RunOutcome::Interrupted, _) => ("interrupted".to_owned(), Vec::new()),
            (RunOutcome::Pass | RunOutcome::Inconclusive, _) => {
                (ended_run.run.reason().to_owned(), Vec::new())
            }
        }
    }

    /// Returns the cases that are listed when the campaign has ended; one without a final event counts as an error.
    pub(crate) fn end(&mut self) -> Vec<ReportedCase> {
        let plain = |name: &str, result| ReportedCase {
            name: name.to_owned(),
            time_ns: 0,
            result,
            details: Vec::new(),
            requirements: Vec::new(),
        };
        let mut cases = Vec::new();
        if let Some(why) = self.summary.reason() {
            cases.push(plain("the campaign is inconclusive", ReportedResult::Skipped(why)));
        }
        cases.extend(self.failure_kinds());
        cases.extend(self.unlisted_totals());
        if self.summary.finished.is_none() {
            let why = "the record ends before the campaign did".to_owned();
            cases.push(plain("the campaign", ReportedResult::Error(why)));
        }
        cases
    }

    /// Returns the first failure of every kind, with its story.
    pub(crate) fn failure_kinds(&self) -> Vec<ReportedCase> {
        let describe_kind = |kind: &crate::summary::FailureSummary| {
            let mut details = lines::failure_lines(kind);
            if kind.runs > 1 {
                details.push(format!("    {} failed like this", plural(kind.runs, "run")));
            }
            let result = ReportedResult::Failed(failure_message(&kind.id, &kind.run));
            let requirements = self.requirements_of(&kind.run, RunOutcome::Fail);
            ReportedCase { name: case_name(&kind.run), time_ns: kind.time_ns, result, details, requirements }
        };
        self.summary.kinds.iter().map(describe_kind).collect()
    }

    /// Returns a case for the runs of each outcome that were not listed.
    fn unlisted_totals(&self) -> impl Iterator<Item = ReportedCase> + use<> {
        let [passed, failed, errors, skipped] = self.beyond;
        let why = |text: &str| text.to_owned();
        let told = [
            (passed, "that passed", ReportedResult::Passed),
            (
                failed,
                "that failed",
                ReportedResult::Failed(why("of kinds listed above, or too many to list")),
            ),
            (errors, "without verdict", ReportedResult::Error(why("too many to list"))),
            (
                skipped,
                "without result",
                ReportedResult::Skipped(why("inconclusive or interrupted, too many to list")),
            ),
        ];
        told.into_iter().filter(|(n, ..)| *n > 0).map(|(n, what, result)| {
            let name = format!("{} {what}", plural(n, "more run"));
            ReportedCase { name, time_ns: 0, result, details: Vec::new(), requirements: Vec::new() }
        })
    }
}

/// Returns the name of a run: its goal, if any, and its number, which keeps names apart.
fn case_name(run: &RunSummary) -> String {
    match &*run.goal {
        "" => format!("run {}", number_from_one(run.number)),
        goal => format!("{goal} (run {})", number_from_one(run.number)),
    }
}

/// Returns the message of a failure, in one line: its id, and what was not allowed.
fn failure_message(id: &str, run: &RunSummary) -> String {
    format!("{id}: {}", run.reason())
}

/// Returns the position of an outcome in `listed` and `beyond`.
fn outcome_index(outcome: RunOutcome) -> usize {
    match outcome {
        RunOutcome::Pass => 0,
        RunOutcome::Fail => 1,
        RunOutcome::Error => 2,
        RunOutcome::Inconclusive | RunOutcome::Interrupted => 3,
    }
}
