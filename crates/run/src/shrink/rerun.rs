//! A failing run done again: whether the failure is still there, and what was seen instead.
//!
//! *Promises.* Only a run that fails in the same way counts, and only runs that ended with a verdict are counted. A
//! [`ConfirmedFailure`] was seen at least twice.

use std::sync::atomic::Ordering;
use std::time::Duration;

use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;
use ioxide_model::verdict::Verdict;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::replay::{
    PlannedMove, ReplayTester, ReplyFlow, Unmentioned, is_same_by_meaning, plan_by_meaning, without_delays,
};
use ioxide_wire::adapter::AdapterError;

use super::TRIES;
use super::failure_sign::FailureSign;
use crate::coverage::Coverage;
use crate::run::{FirstReplyWait, RunConfig, RunEnd, RunId, RunResult, RunSetup, run};

/// The number of repetitions that are made again because the system went another way: this many before the failure came
/// back, and this many more each time that it did. Chosen by feel: a failure that every third run can show is missed in
/// 4 of 100 cases.
const MAX_DETOURS: u32 = 8;
/// The share of failing candidates that may be missed because they are not tried more often; chosen by feel.
const MAX_MISSED: f64 = 0.04;

/// The number of times that a run which failed only after resets is repeated after a restart. Chosen by feel: each
/// costs a restart, and a flaky failure that shows every second time is missed by all of them and the first one in 1
/// of 8 cases.
const RESTART_REPLAYS: u32 = 2;

/// The result of repeating a failing run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerunResult {
    /// The number of repetitions that failed in the same way.
    pub failed: u32,
    /// The number of repetitions that were made: those that ended with a verdict.
    pub of: u32,
    /// The number of repetitions that were wanted.
    pub wanted: u32,
    /// The number of runs that could not fail, because the system went another way that the model allows.
    pub detours: u32,
    /// The reason why the first repetition that could not be made was not; `None` if all were made.
    pub unmade: Option<UnmadeReason>,
    /// The first run that did not fail in the same way.
    pub instead: Option<UnexpectedRerun>,
    /// The repetitions that began with a restart, where the usual reset is another one.
    restarted: RestartedReruns,
    sign: FailureSign,
    is_steady: bool,
    /// The time that the longest repetition took.
    duration: Duration,
}

/// The number of repetitions that began with a restart and not with the usual reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct RestartedReruns {
    failed: u32,
    of: u32,
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
    /// The system went another way that the specification allows, again and again.
    #[error("the system went another way each time, which the model allows too")]
    OtherWay,
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
    tries: u32,
    failed: u32,
    of: u32,
    duration: Duration,
}

/// Repeats the moves of `trace`, which failed with `sign`, `times` times; no repetition begins after the deadline of
/// `config`, or after a request to stop.
///
/// The first repetition begins with a restart, where the system can be restarted and is usually reset in another
/// way. If the failure shows after resets only, some more begin with one: a reset that is no restart leaves
/// something behind.
pub fn repeat(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    trace: &Trace,
    sign: FailureSign,
    times: u32,
) -> RerunResult {
    let flow = ReplyFlow::new(setup.cx.pool, setup.cx.sts);
    // By meaning, not by value: where an input had a value from a reply, it gets the one of the new reply.
    let plan = plan_by_meaning(&flow, setup.cx.sts, trace);
    let recorded = RunToRepeat { flow: &flow, trace, plan: &plan, sign };
    let mut again = RerunResult {
        failed: 0,
        of: 0,
        wanted: times,
        detours: 0,
        unmade: None,
        instead: None,
        restarted: RestartedReruns::default(),
        sign,
        is_steady: true,
        duration: Duration::ZERO,
    };
    for n in 0..times {
        if !recorded.repeat_once(setup, config, &mut again, n == 0) {
            break;
        }
    }
    // One restart after which it did not fail may be chance; some more tell a flaky failure from a reset that leaves
    // something behind.
    let may_be_reset =
        |again: &RerunResult| again.failed > 0 && again.restarted.of > 0 && again.restarted.failed == 0;
    for _ in 0..RESTART_REPLAYS {
        if !may_be_reset(&again) || !recorded.repeat_once(setup, config, &mut again, true) {
            break;
        }
    }
    again
}

/// A failing run that is repeated.
struct RunToRepeat<'r> {
    flow: &'r ReplyFlow,
    trace: &'r Trace,
    plan: &'r [PlannedMove],
    sign: FailureSign,
}

impl RunToRepeat<'_> {
    /// Repeats the run once and counts it, after a restart if `restarts` and the system can be restarted; returns
    /// false if no further repetition may begin.
    fn repeat_once(
        &self,
        setup: &mut RunSetup<'_, '_>,
        config: &RunConfig,
        rerun: &mut RerunResult,
        restarts: bool,
    ) -> bool {
        if let Some(reason) = stop_reason(setup, config) {
            rerun.unmade.get_or_insert(reason);
            return false;
        }
        // A first reply is awaited to its limit until the failure was seen twice; then what was learnt is enough.
        let first_reply = if rerun.failed == 0 { FirstReplyWait::Limit } else { FirstReplyWait::Learnt };
        let config = RunConfig { first_reply, ..config.clone() };
        let is_restarted = restarts && setup.adapter.restart_at_next_reset();
        let n_detours = rerun.detours;
        let finished = match self.run_by_plan(setup, &config, rerun) {
            Ok(finished) => finished,
            Err(reason) => {
                // Trouble with one repetition does not end the others: the system may be back for the next one.
                rerun.unmade.get_or_insert(stop_reason(setup, &config).unwrap_or(reason));
                return true;
            }
        };
        let has_failed = self.sign.is_shown_by(&finished);
        // After a detour the run was made again with the usual reset.
        if is_restarted && rerun.detours == n_detours {
            rerun.restarted.of += 1;
            rerun.restarted.failed += u32::from(has_failed);
        }
        rerun.of += 1;
        rerun.duration = rerun.duration.max(finished.spent.total());
        rerun.is_steady &= self.is_same(setup, self.trace, &finished.trace);
        if has_failed {
            rerun.failed += 1;
        } else if rerun.instead.is_none() {
            let outcome = finished.end.outcome();
            rerun.instead = Some(UnexpectedRerun { trace: finished.trace, outcome });
        }
        true
    }

    /// Makes one run with its moves; makes it again if the system went another way that the specification allows: such
    /// a run could not fail as the first one did, and does not count. A failure that has not come back yet is not
    /// waited for longer than [`MAX_DETOURS`] runs, however many repetitions are wanted.
    fn run_by_plan(
        &self,
        setup: &mut RunSetup<'_, '_>,
        config: &RunConfig,
        rerun: &mut RerunResult,
    ) -> Result<RunResult, UnmadeReason> {
        loop {
            let finished = made(run_again(setup, config, self.plan, Unmentioned::Stop))?;
            if !self.is_detour(setup, &finished) {
                return Ok(finished);
            }
            if rerun.detours >= MAX_DETOURS * (1 + rerun.failed) || stop_reason(setup, config).is_some() {
                // An inconclusive run says what it lacked, which is worth more than that it was another way.
                let is_inconclusive = matches!(finished.end, RunEnd::Verdict(Verdict::Inconclusive, _));
                return if is_inconclusive { Ok(finished) } else { Err(UnmadeReason::OtherWay) };
            }
            rerun.detours += 1;
        }
    }

    /// Returns whether a run went another way than the recorded one before it could fail.
    fn is_detour(&self, setup: &RunSetup<'_, '_>, finished: &RunResult) -> bool {
        match finished.end {
            RunEnd::Verdict(Verdict::Inconclusive, _) => true,
            RunEnd::Verdict(Verdict::Pass, _) => !self.is_same_way(setup, &finished.trace),
            RunEnd::Verdict(Verdict::Fail, _) | RunEnd::Error(_) | RunEnd::Interrupted => false,
        }
    }

    /// Returns whether a run is the recorded one by meaning, up to where that failed.
    fn is_same_way(&self, setup: &RunSetup<'_, '_>, trace: &Trace) -> bool {
        let end = match self.trace.forbidden_at {
            Some(at) => at,
            None if self.sign.is_breakdown() => self.trace.len(),
            // The last label is the failure itself.
            None => self.trace.len().saturating_sub(1),
        };
        let labels = &self.trace.labels;
        let is_virtual = setup.adapter.has_virtual_time();
        // On a real clock there may be another number of waits between the messages.
        let end = if is_virtual { end } else { without_delays(&labels[..end.min(labels.len())]).count() };
        let start_of = |trace: &Trace| {
            let labels: Vec<Label> = if is_virtual {
                trace.labels.iter().take(end).cloned().collect()
            } else {
                without_delays(&trace.labels).take(end).cloned().collect()
            };
            Trace { labels, ..Trace::default() }
        };
        self.is_same(setup, &start_of(self.trace), &start_of(trace))
    }

    /// Returns whether two runs are the same by meaning. In virtual time the system chooses when it says something;
    /// on a real clock times are never the same, and not compared.
    fn is_same(&self, setup: &RunSetup<'_, '_>, a: &Trace, b: &Trace) -> bool {
        let delays = |trace: &Trace| -> Vec<Label> {
            let is_delay = |label: &&Label| matches!(label, Label::Delay(_));
            trace.labels.iter().filter(is_delay).cloned().collect()
        };
        let has_same_times = !setup.adapter.has_virtual_time() || delays(a) == delays(b);
        has_same_times && is_same_by_meaning(self.flow, setup.cx.sts, a, b)
    }
}

/// Returns the reason why no further repetition is made; `None` if one may be.
fn stop_reason(setup: &RunSetup<'_, '_>, config: &RunConfig) -> Option<UnmadeReason> {
    if setup.stop.load(Ordering::Relaxed) {
        Some(UnmadeReason::Stopped)
    } else if config.is_late() {
        Some(UnmadeReason::Time)
    } else {
        None
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

    /// Returns whether the failure shows after the usual reset but never after a restart: the reset leaves something
    /// behind.
    #[must_use]
    pub fn fails_only_after_reset(&self) -> bool {
        debug_assert!(self.restarted.failed <= self.restarted.of && self.restarted.of <= self.of);
        self.restarted.of > RESTART_REPLAYS && self.restarted.failed == 0 && self.failed > 0
    }

    /// Returns the number of times a candidate is tried before it is refused: once on a system that does the same every
    /// time, else as often as it takes to see a failure of this rate in 96 of 100 cases, at most [`TRIES`].
    pub(super) fn tries_needed(&self) -> u32 {
        tries_needed(self.is_steady, self.failed, self.of + self.detours)
    }

    /// Adds further repetitions of the same run.
    pub(super) fn add_runs(&mut self, more: Self) {
        self.failed += more.failed;
        self.of += more.of;
        self.wanted += more.wanted;
        self.detours += more.detours;
        self.unmade = self.unmade.take().or(more.unmade);
        self.instead = self.instead.take().or(more.instead);
        self.restarted.failed += more.restarted.failed;
        self.restarted.of += more.restarted.of;
        self.is_steady &= more.is_steady;
        self.duration = self.duration.max(more.duration);
    }

    /// Returns the failure of `trace`, the run that was repeated, if it came back.
    #[must_use]
    pub fn confirmed<'t>(&self, trace: &'t Trace) -> Option<ConfirmedFailure<'t>> {
        let Self { sign, is_steady, failed, of, duration, .. } = *self;
        let tries = self.tries_needed();
        (failed > 0).then_some(ConfirmedFailure { trace, sign, is_steady, tries, failed, of, duration })
    }
}

impl<'t> ConfirmedFailure<'t> {
    /// Returns the number of repetitions that failed in the same way, and of those that were made.
    #[must_use]
    pub fn reproduced(&self) -> (u32, u32) {
        (self.failed, self.of)
    }

    /// Returns the time that the longest repetition took.
    #[must_use]
    pub fn duration(&self) -> Duration {
        self.duration
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

    /// Returns the number of times a candidate is tried before it is refused.
    pub(super) fn tries_needed(&self) -> u32 {
        self.tries
    }
}

/// Returns the number of times a candidate is tried if `failed` of `runs` runs showed the failure.
fn tries_needed(is_steady: bool, failed: u32, runs: u32) -> u32 {
    if is_steady {
        return 1;
    }
    // Laplace's rule of succession: a few runs that all failed do not show that every one does.
    let rate = f64::from(failed + 1) / f64::from(runs + 2);
    let chance_of_miss = |tries: &u32| (1.0 - rate).powi(i32::try_from(*tries).unwrap_or(i32::MAX));
    (1..TRIES).find(|tries| chance_of_miss(tries) <= MAX_MISSED).unwrap_or(TRIES)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_that_comes_more_often_is_tried_less_often() {
        assert_eq!(tries_needed(true, 3, 3), 1);
        assert_eq!(tries_needed(false, 3, 3), 2);
        assert_eq!(tries_needed(false, 2, 3), 4);
        assert_eq!(tries_needed(false, 3, 6), 5);
        assert_eq!(tries_needed(false, 1, 8), TRIES);
    }
}
