//! Recorded runs as the page sees them: a list of records, and a run piece by piece.

use ioxide_report::step_kind::ShownStepKind;
use ioxide_runner::event::{RunOutcome, StepTold};
use serde::Serialize;

use super::walk::ExplanationView;
use super::{VERSION, shown_text};
use crate::recording::{RecordedRun, Recording};

/// The greatest number of steps sent at once.
const MAX_STEPS: usize = 1_000;
/// The number of runs of a record that are listed.
const MAX_RUNS: usize = 2_000;

/// All records.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RecordsView {
    version: u32,
    records: Vec<RecordView>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RecordView {
    name: String,
    n_runs: usize,
    cut: bool,
    runs: Vec<BriefView>,
}

/// A run in one line.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct BriefView {
    /// Its number in the campaign, from 1.
    number: u64,
    seed: u64,
    goal: String,
    outcome: RunOutcome,
    steps: usize,
}

/// A piece of a run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunView {
    version: u32,
    #[serde(flatten)]
    brief: BriefView,
    /// The position of the first step, from 0.
    from: usize,
    list: Vec<RecordedStepView>,
    reason: String,
    explanation: Option<ExplanationView>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RecordedStepView {
    #[cfg_attr(test, ts(type = "StepKind"))]
    kind: ShownStepKind,
    gate: String,
    text: String,
    switches: Vec<String>,
}

impl RecordsView {
    /// Returns the view of `list`, with the first runs of each record.
    #[must_use]
    pub fn of(list: &[Recording]) -> Self {
        let record = |recording: &Recording| RecordView {
            name: shown_text(&recording.name),
            n_runs: recording.runs.len(),
            cut: recording.is_cut || recording.runs.len() > MAX_RUNS,
            runs: recording.runs.iter().take(MAX_RUNS).map(|run| brief(run)).collect(),
        };
        Self { version: VERSION, records: list.iter().map(record).collect() }
    }
}

impl RunView {
    /// Up to `count` steps of `run`, beginning with number `from`.
    #[must_use]
    pub fn of(run: &RecordedRun, from: usize, count: usize) -> Self {
        let list = run.steps.iter().skip(from).take(count.min(MAX_STEPS)).map(step).collect();
        let verdict = run.verdict.as_ref();
        let explanation = verdict.and_then(|verdict| verdict.explanation.as_ref());
        Self {
            version: VERSION,
            brief: brief(run),
            from,
            list,
            reason: verdict.map(|verdict| shown_text(&verdict.reason)).unwrap_or_default(),
            explanation: explanation.map(ExplanationView::of),
        }
    }
}

fn brief(run: &RecordedRun) -> BriefView {
    BriefView {
        number: run.started.run + 1,
        seed: run.started.seed,
        goal: shown_text(&run.started.goal),
        // A run that is not over was cut off.
        outcome: run.outcome.unwrap_or(RunOutcome::Interrupted),
        steps: run.steps.len(),
    }
}

fn step(step: &StepTold) -> RecordedStepView {
    RecordedStepView {
        kind: ShownStepKind::of(step.label.kind),
        gate: shown_text(&step.label.label),
        text: shown_text(&step.label.text),
        switches: step.switches.iter().map(|switch| shown_text(switch)).collect(),
    }
}
