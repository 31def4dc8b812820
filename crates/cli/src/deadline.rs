//! A tester with a deadline: when the time is up, the run under way ends and no other begins.
//!
//! Time is a matter of the rim, so no tester knows it. What a run did up to the deadline counts. The analysis of a
//! tester before a step has an end too: its searches are stopped while there is time left for what they found.

use std::time::{Duration, Instant};

use ioxide_model::sts::SwitchId;
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halt;
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::{MethodFinding, Tester, TesterMove, TesterStop};

use crate::args::TimeLimit;
use crate::limit;

/// The divisor of the time left that gives the time for analysis before a step. Half is for the runs themselves; chosen
/// by feel.
const ANALYSIS_DIVISOR: u32 = 2;

/// A tester that lets `inner` decide until the time is up.
pub struct TimedTester<'t> {
    inner: &'t mut (dyn Tester + Send),
    limit: Option<Duration>,
    analysis_limit: TimeLimit,
    begun: Option<Instant>,
}

impl<'t> TimedTester<'t> {
    /// `inner` for at most `limit`, if there is one, from when it begins to think; it thinks for at most
    /// `analysis_limit` before a step.
    pub fn new(
        inner: &'t mut (dyn Tester + Send),
        limit: Option<Duration>,
        analysis_limit: TimeLimit,
    ) -> Self {
        Self { inner, limit, analysis_limit, begun: None }
    }

    /// Returns the deadline of the analysis before the next step.
    fn analysis_deadline(&self) -> Halt {
        let left = self
            .limit
            .zip(self.begun)
            .map(|(limit, begun)| limit.saturating_sub(begun.elapsed()) / ANALYSIS_DIVISOR);
        let time = match (self.analysis_limit, left) {
            (TimeLimit::Within(limit), Some(left)) => Some(limit.min(left)),
            (TimeLimit::Within(limit), None) => Some(limit),
            (TimeLimit::Unlimited, left) => left,
        };
        limit::from_now(time)
    }

    /// Returns whether the time is up; false before the tester has begun.
    pub fn has_passed(&self) -> bool {
        self.limit.zip(self.begun).is_some_and(|(limit, begun)| begun.elapsed() >= limit)
    }
}

impl Tester for TimedTester<'_> {
    fn start(&mut self, seed: u64) {
        self.begun.get_or_insert_with(Instant::now);
        self.inner.start(seed);
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if self.has_passed() {
            TesterMove::Stop(TesterStop::GoalMet("the time is up".into()))
        } else {
            cx.run_within(&self.analysis_deadline(), |cx| self.inner.next(cx, monitor, trace))
        }
    }

    fn explained(&mut self, switches: &[SwitchId]) {
        self.inner.explained(switches);
    }

    fn goal(&self) -> Option<String> {
        self.inner.goal()
    }

    fn step_limit(&self) -> Option<usize> {
        self.inner.step_limit()
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        self.inner.share(worker, jobs);
    }

    fn finding(&mut self, cx: &mut Ctx<'_>, trace: &Trace) -> Option<MethodFinding> {
        self.inner.finding(cx, trace)
    }

    fn prepare(&mut self, cx: &mut Ctx<'_>) {
        self.begun.get_or_insert_with(Instant::now);
        let _stage = limit::stage("looking for test purposes");
        cx.run_within(&self.analysis_deadline(), |cx| self.inner.prepare(cx));
    }

    fn time_is_free(&mut self) {
        self.inner.time_is_free();
    }

    fn silence_is_free(&mut self) {
        self.inner.silence_is_free();
    }

    fn move_took(&mut self, time: Duration, is_silent: bool) {
        self.inner.move_took(time, is_silent);
    }

    fn reset_costs(&mut self, steps: usize) {
        self.inner.reset_costs(steps);
    }

    fn is_memoryless(&self) -> bool {
        self.inner.is_memoryless()
    }

    fn is_done(&self) -> bool {
        self.has_passed() || self.inner.is_done()
    }
}
