//! Deletion alone: what a shrinker does that knows nothing of the model and sends the literal inputs again.

use std::io;

use ioxide_model::trace::Trace;
use ioxide_record::clock::StoppedClock;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{RunConfig, RunId, RunResult, RunSetup, run};
use ioxide_run::shrink::FailureSign;
use ioxide_testgen::tester::replay::{PlannedMove, ReplayTester, Unmentioned, plan_of};

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
    trace: &Trace,
    sign: FailureSign,
    replays: u32,
    budget: u32,
) -> io::Result<DeletedRun> {
    let mut plan = plan_of(setup.cx.sts, trace);
    let mut best = trace.clone();
    let mut reproduced = 0;
    for _ in 0..replays {
        let finished = replay(setup, &plan, Unmentioned::Stop)?;
        reproduced += u32::from(FailureSign::of(&finished) == Some(sign));
    }
    let mut attempts = 0;
    let mut piece = if reproduced == 0 { 0 } else { plan.len().div_ceil(2) };
    while piece > 0 {
        let (mut from, mut is_changed) = (0, false);
        while from < plan.len() && attempts < budget {
            let to = (from + piece).min(plan.len());
            let mut rest = [&plan[..from], &plan[to..]].concat();
            if !matches!(rest.last(), Some(PlannedMove::Look)) {
                rest.push(PlannedMove::Look);
            }
            attempts += 1;
            let finished = replay(setup, &rest, Unmentioned::Skip)?;
            let smaller = plan_of(setup.cx.sts, &finished.trace);
            if FailureSign::of(&finished) == Some(sign) && smaller.len() < plan.len() {
                (plan, best, is_changed) = (smaller, finished.trace, true);
            } else {
                from = to;
            }
        }
        piece = match (piece, is_changed) {
            (1, true) if attempts < budget => 1,
            (piece, _) => piece / 2,
        };
    }
    let again = replay(setup, &plan, Unmentioned::Skip)?;
    let fails_again = FailureSign::of(&again) == Some(sign);
    Ok(DeletedRun { trace: best, reproduced, attempts, fails_again })
}

/// Runs a plan once, without any of the means that shrinking by meaning has.
fn replay(
    setup: &mut RunSetup<'_, '_>,
    plan: &[PlannedMove],
    unmentioned: Unmentioned,
) -> io::Result<RunResult> {
    let mut tester = ReplayTester::new(plan.to_vec(), unmentioned);
    let mut coverage = Coverage::new(setup.cx.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let events = EventSink::new(&mut silent, &mut clock);
    run(setup, &mut tester, &RunConfig::default(), RunId::default(), &mut coverage, &events)
}
