//! A campaign under way as the page sees it; all of it, every time, so that a page can join or come back.

use ioxide_record::failure_id::failure_id;
use ioxide_report::run_number::number_from_one;
use ioxide_report::step_kind::ShownStepKind;
use serde::Serialize;

use super::{VERSION, bounded_text};
use crate::live::{CampaignPhase, LastStep, LiveState, SwitchSeen};

/// A campaign under way, or the last one.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LiveView {
    version: u32,
    /// The revision of the model that is tested; `seen` is about its switches.
    revision: u32,
    phase: CampaignPhase,
    pace_ms: u128,
    /// One character per switch: `.` never, `m` maybe, `t` taken.
    seen: String,
    steps: u64,
    passed: u64,
    failed: u64,
    other: u64,
    /// The number of runs; null if the tester decides when to end.
    planned: Option<u64>,
    /// The seed as text, since it may exceed the numbers of JavaScript.
    seed: String,
    /// The number of the run under way, from 1.
    run: u64,
    goal: String,
    last: Vec<LastView>,
    failures: Vec<FailureView>,
    message: String,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LastView {
    number: usize,
    #[cfg_attr(test, ts(type = "StepKind"))]
    kind: ShownStepKind,
    gate: String,
    text: String,
    switches: Vec<String>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct FailureView {
    record: usize,
    run: usize,
    steps: usize,
    /// The id of the failure.
    id: String,
}

impl LiveView {
    /// Returns the view of `state`.
    pub(crate) fn new(state: &LiveState) -> Self {
        let seen = |seen: &SwitchSeen| match seen {
            SwitchSeen::Never => '.',
            SwitchSeen::Maybe => 'm',
            SwitchSeen::Taken => 't',
        };
        let last = |step: &LastStep| LastView {
            number: step.number,
            kind: ShownStepKind::from_label_kind(step.kind),
            gate: step.gate.clone(),
            text: step.text.clone(),
            switches: step.switches.iter().map(|switch| bounded_text(switch)).collect(),
        };
        let failure = |failure: &crate::live::FailedRun| FailureView {
            record: failure.place.record,
            run: failure.place.run,
            steps: failure.steps,
            id: failure_id(&failure.signature),
        };
        Self {
            version: VERSION,
            revision: state.revision,
            phase: state.phase,
            pace_ms: state.pace_ms(),
            seen: state.seen.iter().map(seen).collect(),
            steps: state.n_steps,
            passed: state.passed,
            failed: state.failed,
            other: state.other,
            planned: state.planned,
            seed: state.seed.to_string(),
            run: number_from_one(state.run),
            goal: bounded_text(&state.goal),
            last: state.last.iter().map(last).collect(),
            failures: state.failures.iter().map(failure).collect(),
            message: bounded_text(&state.message),
        }
    }
}
