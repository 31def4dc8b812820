//! Recorded runs as the page sees them: a list of records, and a run piece by piece.

use ioxide_record::event::{RunOutcome, StepRecord};
use ioxide_report::run_number::number_from_one;
use ioxide_report::step_kind::ShownStepKind;
use serde::Serialize;

use super::walk::ExplanationView;
use super::{VERSION, bounded_text};
use crate::recording::{RecordedRun, Recording};

/// The greatest number of steps sent at once. Chosen by feel: the page asks for more as it is scrolled.
const MAX_SENT_STEPS: usize = 1_000;
/// The number of runs of a record that are listed. Chosen by feel: a longer list is slow in a browser.
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
    /// The number of failing runs.
    n_failed: usize,
    cut: bool,
    /// The first runs; where there are too many, failing ones before others.
    runs: Vec<BriefView>,
    /// True if it is a history of concurrent clients, with a page of its own and no runs.
    history: bool,
}

/// A run in one line.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct BriefView {
    /// Its position in the record, from 0.
    at: usize,
    /// Its number in the campaign, from 1.
    number: u64,
    /// The seed as text, since it may exceed the numbers of JavaScript.
    seed: String,
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
    /// The position of the forbidden step, from 0; `None` if the run did not fail.
    forbidden: Option<usize>,
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
    /// Returns the view of `list`, with the first runs of each record, failing ones before others.
    #[must_use]
    pub fn new(list: &[Recording]) -> Self {
        Self { version: VERSION, records: list.iter().map(RecordView::new).collect() }
    }
}

impl RecordView {
    /// Makes the view of a record. It lists at most `MAX_RUNS` runs; failing ones have priority.
    fn new(recording: &Recording) -> Self {
        let runs = &recording.runs;
        let n_failed = runs.iter().filter(|run| has_failed(run)).count();
        // Of each kind the first: as many failing runs as there is room for, and others in the rest of it.
        let mut room = [n_failed.min(MAX_RUNS), MAX_RUNS.saturating_sub(n_failed)];
        let listed = runs.iter().enumerate().filter(|(_, run)| {
            let left = &mut room[usize::from(!has_failed(run))];
            let is_listed = *left > 0;
            *left = left.saturating_sub(1);
            is_listed
        });
        Self {
            name: bounded_text(&recording.name),
            n_runs: runs.len(),
            n_failed,
            cut: recording.is_cut || runs.len() > MAX_RUNS,
            runs: listed.map(|(at, run)| brief_view(run, at)).collect(),
            history: recording.page.is_some(),
        }
    }
}

fn has_failed(run: &RecordedRun) -> bool {
    run.outcome == Some(RunOutcome::Fail)
}

impl RunView {
    /// Returns up to `count` steps of the run at position `at` of its record, beginning with number `from`.
    #[must_use]
    pub fn new(run: &RecordedRun, at: usize, from: usize, count: usize) -> Self {
        let list = run.steps.iter().skip(from).take(count.min(MAX_SENT_STEPS)).map(step_view).collect();
        let verdict = run.verdict.as_ref();
        let explanation = verdict.and_then(|verdict| verdict.explanation.as_ref());
        Self {
            version: VERSION,
            brief: brief_view(run, at),
            from,
            list,
            reason: verdict.map(|verdict| bounded_text(&verdict.reason)).unwrap_or_default(),
            explanation: explanation.map(ExplanationView::new),
            forbidden: forbidden_step(run),
        }
    }
}

/// Returns the position of the forbidden step of a failing run: the one that the verdict names, else the last.
fn forbidden_step(run: &RecordedRun) -> Option<usize> {
    let named = run.verdict.as_ref().and_then(|verdict| verdict.step);
    let named = named.and_then(|number| run.steps.iter().position(|step| step.step == number));
    let last = run.steps.len().checked_sub(1);
    if has_failed(run) { named.or(last) } else { None }
}

fn brief_view(run: &RecordedRun, at: usize) -> BriefView {
    BriefView {
        at,
        number: number_from_one(run.started.run),
        seed: run.started.seed.to_string(),
        goal: bounded_text(&run.started.goal),
        // A run that is not over was cut off.
        outcome: run.outcome.unwrap_or(RunOutcome::Interrupted),
        steps: run.steps.len(),
    }
}

fn step_view(step: &StepRecord) -> RecordedStepView {
    RecordedStepView {
        kind: ShownStepKind::from_label_kind(step.label.kind),
        gate: bounded_text(&step.label.label),
        text: bounded_text(&step.label.text),
        switches: step.switches.iter().map(|switch| bounded_text(switch)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioxide_model::trace::Breakdown;
    use ioxide_model::verdict::Verdict;
    use ioxide_record::event::{LabelRecord, RunStarted, VerdictRecord};
    use std::sync::Arc;

    fn run(number: u64, seed: u64, outcome: RunOutcome) -> Arc<RecordedRun> {
        let started = RunStarted {
            run: number,
            seed,
            goal: String::new(),
            tolerance: None,
            unconfirmed: false,
            connections: Vec::new(),
        };
        Arc::new(RecordedRun {
            started,
            steps: Vec::new(),
            verdict: None,
            outcome: Some(outcome),
            is_cut: false,
        })
    }

    #[test]
    fn failing_runs_are_listed_wherever_they_are() {
        let n = MAX_RUNS as u64 + 10;
        let outcome = |number| if number >= n - 2 { RunOutcome::Fail } else { RunOutcome::Pass };
        let runs = (0..n).map(|number| run(number, 0, outcome(number))).collect();
        let view = RecordView::new(&Recording { runs, ..Recording::default() });
        assert_eq!((view.runs.len(), view.n_runs, view.n_failed, view.cut), (MAX_RUNS, n as usize, 2, true));
        let failing: Vec<usize> =
            view.runs.iter().filter(|run| run.outcome == RunOutcome::Fail).map(|run| run.at).collect();
        assert_eq!(failing, [n as usize - 2, n as usize - 1]);
        assert!(view.runs.is_sorted_by_key(|run| run.at));
    }

    #[test]
    fn numbers_beyond_those_of_javascript_keep_their_digits() {
        let odd = (1 << 53) + 1;
        let view = serde_json::to_value(RunView::new(&run(u64::MAX, odd, RunOutcome::Pass), 0, 0, 1));
        assert_eq!(view.expect("JSON")["seed"], "9007199254740993");
    }

    #[test]
    fn the_forbidden_step_is_the_one_that_the_verdict_names() {
        let step = |step| StepRecord {
            step,
            label: LabelRecord::of_breakdown(Breakdown::Closed, String::new(), None),
            belief: None,
            switches: Vec::new(),
        };
        let verdict = |step| VerdictRecord { step, ..VerdictRecord::new(Verdict::Fail, String::new()) };
        let failed = |named| RecordedRun {
            // Step 2 was a silence that was taken back.
            steps: vec![step(1), step(3), step(4)],
            verdict: Some(verdict(named)),
            ..RecordedRun::clone(&run(0, 0, RunOutcome::Fail))
        };
        let shown = |run: &RecordedRun| RunView::new(run, 0, 0, 9).forbidden;
        assert_eq!((shown(&failed(Some(3))), shown(&failed(None))), (Some(1), Some(2)));
        assert_eq!(shown(&run(0, 0, RunOutcome::Pass)), None);
    }
}
