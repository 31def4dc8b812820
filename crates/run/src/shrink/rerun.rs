//! A failing run done again: whether the failure is still there, and what was seen instead.
//!
//! *Promises.* Only a run that fails in the same way counts, and only runs that ended with a verdict are counted. A [`ConfirmedFailure`] was seen at least twice.

use std::sync::atomic::Ordering;

use thiserror::Error;

use ioxide_model::trace::Trace;
use ioxide_model::verdict::Verdict;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::replay::{
    PlannedMove, ReplayTester, ReplyFlow, Unmentioned, is_same_by_meaning, plan_by_meaning,
};
use ioxide_wire::adapter::AdapterError;

use super::failure_sign::FailureSign;
use crate::coverage::Coverage;
use crate::run::{FirstReplyWait, RunConfig, RunEnd, RunId, RunResult, RunSetup, run};

/// The number of times a repetition is made again because the system went another way; chosen by feel.
const MAX_DETOURS: u32 = 3;

/// The result of repeating a failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerunResult {
    /// The number of repetitions that failed in the same way.
    pub failed: u32,
    /// The number of repetitions that were made: those that ended with a verdict.
    pub of: u32,
    /// The number of repetitions that were wanted.
    pub wanted: u32,
    /// The reason why the first repetition that could not be made was not; `None` if all were made.
    pub unmade: Option<UnmadeReason>,
    /// The first run that did not fail in the same way.
    pub instead: Option<UnexpectedRerun>,
    sign: FailureSign,
    is_steady: bool,
}

/// The reason why a repetition could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnmadeReason {
    /// The system could not be reset or reached.
    #[error(transparent)]
    Trouble(#[from] AdapterError),
    /// The repetitions were stopped by request.
    #[error("interrupted")]
    Stopped,
    /// The time of the campaign was spent.
    #[error("no time was left")]
    Time,
    /// Nothing could be reported about it.
    #[error("its events could not be reported")]
    Unreported,
}

/// A run that should have failed as another one had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexpectedRerun {
    /// The observed trace.
    pub trace: Trace,
    /// The outcome of the run.
    pub outcome: RunOutcome,
}

/// A failing run that failed again, in the same way.
#[derive(Clone, Copy, Debug)]
pub struct ConfirmedFailure<'t> {
    trace: &'t Trace,
    sign: FailureSign,
    is_steady: bool,
    failed: u32,
    of: u32,
}

/// Repeats the moves of `trace`, which failed with `sign`, `times` times; no repetition begins after the deadline of
/// `config`, or after a request to stop.
pub fn repeat(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    trace: &Trace,
    sign: FailureSign,
    times: u32,
) -> RerunResult {
    let flow = ReplyFlow::new(setup.cx.pool, setup.cx.sts);
    let plan = plan_by_meaning(&flow, setup.cx.sts, trace);
    let mut again =
        RerunResult { failed: 0, of: 0, wanted: times, unmade: None, instead: None, sign, is_steady: true };
    for _ in 0..times {
        if let Some(reason) = stop_reason(setup, config) {
            again.unmade.get_or_insert(reason);
            break;
        }
        // A first reply is awaited to its limit until the failure was seen twice; then what was learnt is enough.
        let first_reply = if again.failed == 0 { FirstReplyWait::Limit } else { FirstReplyWait::Learnt };
        let config = RunConfig { first_reply, ..config.clone() };
        let finished = match made(run_as_recorded(setup, &config, &plan)) {
            Ok(finished) => finished,
            Err(reason) => {
                again.unmade.get_or_insert(stop_reason(setup, &config).unwrap_or(reason));
                continue;
            }
        };
        again.of += 1;
        again.is_steady &= is_same_by_meaning(&flow, setup.cx.sts, trace, &finished.trace);
        if FailureSign::of(&finished) == Some(sign) {
            again.failed += 1;
        } else if again.instead.is_none() {
            let outcome = finished.end.outcome();
            again.instead = Some(UnexpectedRerun { trace: finished.trace, outcome });
        }
    }
    again
}

/// Makes one run with these moves; makes it again, up to [`MAX_DETOURS`] times, if the system went another way that the
/// specification allows: such a run could not fail as the first one did.
fn run_as_recorded(
    bench: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    plan: &[PlannedMove],
) -> Option<RunResult> {
    let mut detours = 0;
    loop {
        let finished = run_again(bench, config, plan, Unmentioned::Stop)?;
        let is_detour = matches!(finished.end, RunEnd::Verdict(Verdict::Inconclusive, _));
        if !is_detour || detours == MAX_DETOURS || stop_reason(bench, config).is_some() {
            return Some(finished);
        }
        detours += 1;
    }
}

/// Returns the reason why no further repetition is made; `None` if one may be.
fn stop_reason(setup: &RunSetup<'_, '_>, config: &RunConfig) -> Option<UnmadeReason> {
    match () {
        () if setup.stop.load(Ordering::Relaxed) => Some(UnmadeReason::Stopped),
        () if config.is_late() => Some(UnmadeReason::Time),
        () => None,
    }
}

/// Returns a repetition that ended with a verdict; the reason if it did not: it says nothing about the failure.
fn made(result: Option<RunResult>) -> Result<RunResult, UnmadeReason> {
    let finished = result.ok_or(UnmadeReason::Unreported)?;
    match &finished.end {
        RunEnd::Verdict(..) => Ok(finished),
        RunEnd::Error(error) => Err(error.clone().into()),
        RunEnd::Interrupted => Err(UnmadeReason::Stopped),
    }
}

impl RerunResult {
    /// Returns whether every repetition gave the same trace as the run itself, but for values that the system chose.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.is_steady
    }

    /// Returns the failure of `trace`, the run that was repeated, if it came back.
    #[must_use]
    pub fn confirmed<'t>(&self, trace: &'t Trace) -> Option<ConfirmedFailure<'t>> {
        let Self { sign, is_steady, failed, of, .. } = *self;
        (failed > 0).then_some(ConfirmedFailure { trace, sign, is_steady, failed, of })
    }
}

impl<'t> ConfirmedFailure<'t> {
    /// Returns the number of repetitions that failed in the same way, and of those that were made.
    #[must_use]
    pub fn reproduced(&self) -> (u32, u32) {
        (self.failed, self.of)
    }

    /// Returns the trace of the first failing run.
    #[must_use]
    pub fn trace(&self) -> &'t Trace {
        self.trace
    }

    /// The way in which it fails.
    #[must_use]
    pub fn sign(&self) -> FailureSign {
        self.sign
    }

    /// Returns whether every repetition gave the same trace as the run itself, but for values that the system chose.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        self.is_steady
    }
}

/// Makes one run with these moves, without reporting it; `None` if it could not be made.
pub(super) fn run_again(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    plan: &[PlannedMove],
    unmentioned: Unmentioned,
) -> Option<RunResult> {
    run_tester(setup, config, &mut ReplayTester::new(plan.to_vec(), unmentioned))
}

/// Makes one run with this tester, without reporting it; `None` if it could not be made.
pub(super) fn run_tester(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    tester: &mut dyn Tester,
) -> Option<RunResult> {
    let mut coverage = Coverage::new(setup.cx.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    run(setup, tester, config, RunId::default(), &mut coverage, &sink).ok()
}
