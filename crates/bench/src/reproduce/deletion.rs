//! Deletion alone: what a shrinker does that knows nothing of the model and sends the literal inputs again.

use std::io;
use std::time::Instant;

use ioxide_model::trace::Trace;
use ioxide_record::clock::StoppedClock;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{RunConfig, RunId, RunResult, RunSetup, run};
use ioxide_run::shrink::FailureSign;
use ioxide_testgen::tester::replay::{PlannedMove, ReplayTester, Unmentioned, plan_of};

/// The limits of deletion.
#[derive(Clone, Copy, Debug)]
pub struct DeletionLimits {
    /// The number of times the first run is repeated.
    pub replays: u32,
    /// The number of runs, at most.
    pub attempts: u32,
    /// The instant after which no run begins.
    pub until: Option<Instant>,
}

/// The result of deletion.
pub struct DeletedRun {
    /// The smallest failing run.
    pub trace: Trace,
    /// The number of repetitions of the first run that failed again.
    pub reproduced: u32,
    /// The number of runs that were tried.
    pub attempts: u32,
    /// True if the smallest run failed when it was executed once more.
    pub fails_again: bool,
}

/// Repeats the literal moves of `trace` and leaves out ever smaller pieces of them, down to single moves.
pub fn shrink_by_deletion(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    trace: &Trace,
    sign: FailureSign,
    limits: DeletionLimits,
) -> io::Result<DeletedRun> {
    let mut plan = plan_of(setup.cx.sts, trace);
    let mut best = trace.clone();
    let mut reproduced = 0;
    for _ in 0..limits.replays {
        let finished = replay(setup, config, &plan, Unmentioned::Stop)?;
        reproduced += u32::from(sign.is_shown_by(&finished));
    }
    let mut attempts = 0;
    let may_go_on =
        |attempts: u32| attempts < limits.attempts && limits.until.is_none_or(|until| Instant::now() < until);
    let mut piece = if reproduced == 0 { 0 } else { plan.len().div_ceil(2) };
    while piece > 0 {
        let (mut from, mut is_changed) = (0, false);
        while from < plan.len() && may_go_on(attempts) {
            let to = (from + piece).min(plan.len());
            let mut rest = [&plan[..from], &plan[to..]].concat();
            if !matches!(rest.last(), Some(PlannedMove::Observe)) {
                rest.push(PlannedMove::Observe);
            }
            attempts += 1;
            let finished = replay(setup, config, &rest, Unmentioned::Skip)?;
            let smaller = plan_of(setup.cx.sts, &finished.trace);
            if sign.is_shown_by(&finished) && smaller.len() < plan.len() {
                (plan, best, is_changed) = (smaller, finished.trace, true);
            } else {
                from = to;
            }
        }
        piece = match (piece, is_changed) {
            (1, true) if may_go_on(attempts) => 1,
            (piece, _) => piece / 2,
        };
    }
    let again = replay(setup, config, &plan, Unmentioned::Skip)?;
    let fails_again = sign.is_shown_by(&again);
    Ok(DeletedRun { trace: best, reproduced, attempts, fails_again })
}

/// Runs a plan once, without any of the means that shrinking by meaning has.
fn replay(
    setup: &mut RunSetup<'_, '_>,
    config: &RunConfig,
    plan: &[PlannedMove],
    unmentioned: Unmentioned,
) -> io::Result<RunResult> {
    let mut tester = ReplayTester::new(plan.to_vec(), unmentioned);
    let mut coverage = Coverage::new(setup.cx.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let events = EventSink::new(&mut silent, &mut clock);
    run(setup, &mut tester, config, RunId::default(), &mut coverage, &events)
}
