//! The failure of a check: its run as data, and the text that reports it.

use std::fmt;

use ioxide_record::event::{Explanation, LabelKind, LabelRecord};
use serde_json::{Map, Value as Json};

/// A failed check: the system violates its model, or cannot be tested.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckFailure {
    /// The report of the campaign: charts of the failing run and of the smallest run that fails, and the violation; the
    /// error if there is no verdict.
    pub story: String,
    /// The seed that repeats it.
    pub seed: u64,
    /// True if the system violates its model; false if an error kept it from being tested.
    pub is_verdict: bool,
    run: Box<FailingTrace>,
}

/// The smallest run that fails, and what the model says about its end.
#[derive(Clone, Debug, Default, PartialEq)]
struct FailingTrace {
    steps: Vec<TraceStep>,
    forbidden: Option<usize>,
    expected: Vec<String>,
    why_not: Vec<String>,
}

/// A step of a failing run.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceStep {
    /// The kind of the step.
    pub kind: TraceStepKind,
    /// The name of the message; empty for silence and delays.
    pub name: String,
    /// The fields of the message, in the JSON of records.
    pub fields: Map<String, Json>,
    /// The step as reports write it: `?push(n: 3)`.
    pub text: String,
}

/// A kind of step of a failing run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceStepKind {
    /// A message to the system, from the tester or from another party.
    Input,
    /// A message of the system.
    Output,
    /// No message, where one could have come.
    Silence,
    /// Time that passes, in models with clocks.
    Delay,
    /// The end of the run: the system panicked, or emitted what is no output of the model.
    Breakdown,
}

impl TraceStep {
    /// Makes the step that a record describes.
    fn from_record(label: &LabelRecord) -> Self {
        let kind = match label.kind {
            LabelKind::Input | LabelKind::Observed => TraceStepKind::Input,
            LabelKind::Output => TraceStepKind::Output,
            LabelKind::Quiescence => TraceStepKind::Silence,
            LabelKind::Delay => TraceStepKind::Delay,
            LabelKind::Ended
            | LabelKind::Closed
            | LabelKind::Hung
            | LabelKind::Unreadable
            | LabelKind::Exception => TraceStepKind::Breakdown,
        };
        Self { kind, name: label.label.clone(), fields: label.args.clone(), text: label.text.clone() }
    }
}

impl CheckFailure {
    /// Returns the smallest run that fails, or the run as found if none smaller was looked for; empty if there is no
    /// verdict, and for checks of concurrent threads.
    #[must_use]
    pub fn trace(&self) -> &[TraceStep] {
        &self.run.steps
    }

    /// Returns the position in [`trace`](Self::trace) of the step that the model forbids.
    #[must_use]
    pub fn forbidden(&self) -> Option<usize> {
        self.run.forbidden
    }

    /// Returns the steps that the model allows instead, as reports write them: `!value(n: 3)`.
    #[must_use]
    pub fn expected(&self) -> &[String] {
        &self.run.expected
    }

    /// Returns the reasons why the transitions that come close do not allow the step.
    #[must_use]
    pub fn why_not(&self) -> &[String] {
        &self.run.why_not
    }

    /// Makes the failure of a check without a verdict.
    pub(crate) fn without_verdict(story: String, seed: u64) -> Self {
        Self { story, seed, is_verdict: false, run: Box::default() }
    }

    /// Makes the failure of a system that violates its model, told by `story`.
    pub(crate) fn with_verdict(story: String, seed: u64) -> Self {
        Self { is_verdict: true, ..Self::without_verdict(story, seed) }
    }

    /// Adds the failing run, of which `step` (from 1) is forbidden, and what was allowed instead.
    pub(crate) fn with_run(
        self,
        labels: &[LabelRecord],
        step: Option<usize>,
        explanation: Option<&Explanation>,
    ) -> Self {
        let allowed = explanation.iter().flat_map(|told| &told.allowed);
        let why_not = explanation.iter().flat_map(|told| &told.why_not);
        let run = FailingTrace {
            steps: labels.iter().map(TraceStep::from_record).collect(),
            forbidden: step.and_then(|step| step.checked_sub(1)).filter(|at| *at < labels.len()),
            expected: allowed.map(|allowed| allowed.label.clone()).collect(),
            why_not: why_not.map(|why| format!("{}: {}", why.switch, why.reason)).collect(),
        };
        Self { run: Box::new(run), ..self }
    }
}

impl fmt::Display for CheckFailure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_verdict { "the system does not conform to its model" } else { "no verdict" };
        writeln!(out, "{what}\n{}", self.story.trim_end())?;
        write!(out, "again: IOXIDE_SEED={} cargo test, or `.seed({})`", self.seed, self.seed)
    }
}

impl std::error::Error for CheckFailure {}
