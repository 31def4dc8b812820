//! A tester with a deadline: when the time is up, the run under way ends and no other begins.
//!
//! No other tester reads a clock. What a run did up to the deadline counts. The analysis of a tester before a step has
//! an end too: its searches are stopped while there is time left for what they found.

use std::time::{Duration, Instant};

use ioxide_model::sts::SwitchId;
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halt;
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::{MethodFinding, Tester, TesterMove, TesterStop};

/// The divisor of the time left that gives the time for analysis before a step. Half is for the runs themselves; chosen
/// by feel: with a larger divisor runs begin sooner, with purposes that are searched for less long.
const ANALYSIS_DIVISOR: u32 = 2;

/// A tester that lets `inner` decide until the time is up.
pub struct DeadlineTester<'t> {
    inner: &'t mut (dyn Tester + Send),
    limit: Option<Duration>,
    analysis_limit: Option<Duration>,
    /// Makes the signal that stops an analysis after a time; `None` is no limit of time.
    halt_after: fn(Option<Duration>) -> Halt,
    begun: Option<Instant>,
}

impl<'t> DeadlineTester<'t> {
    /// Lets `inner` decide for at most `limit`, counted from its first analysis; an analysis before a step takes at
    /// most `analysis_limit`, and `halt_after` makes the signal that stops it.
    pub fn new(
        inner: &'t mut (dyn Tester + Send),
        limit: Option<Duration>,
        analysis_limit: Option<Duration>,
        halt_after: fn(Option<Duration>) -> Halt,
    ) -> Self {
        // Without a limit of time a campaign is the same on every machine, and so must be the search for values.
        if limit.is_some() {
            inner.limit_choices(halt_after);
        }
        Self { inner, limit, analysis_limit, halt_after, begun: None }
    }

    /// Returns the deadline of the analysis before the next step.
    fn analysis_deadline(&self) -> Halt {
        let left = self
            .limit
            .zip(self.begun)
            .map(|(limit, begun)| limit.saturating_sub(begun.elapsed()) / ANALYSIS_DIVISOR);
        (self.halt_after)(self.analysis_limit.into_iter().chain(left).min())
    }

    /// Returns whether the time is up; false before the tester has begun.
    #[must_use]
    pub fn has_passed(&self) -> bool {
        self.limit.zip(self.begun).is_some_and(|(limit, begun)| begun.elapsed() >= limit)
    }
}

impl Tester for DeadlineTester<'_> {
    fn start(&mut self, seed: u64) {
        self.begun.get_or_insert_with(Instant::now);
        self.inner.start(seed);
    }

    fn next(&mut self, cx: &mut Ctx<'_>, monitor: &Monitor, trace: &Trace) -> TesterMove {
        if self.has_passed() {
            TesterMove::Stop(TesterStop::GoalMet("the time is up".into()))
        } else {
            // The failure that this move may lead to is explained within the limit too.
            if self.limit.is_some() {
                cx.limit_explanations(self.halt_after);
            }
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
        cx.run_within(&self.analysis_deadline(), |cx| self.inner.prepare(cx));
    }

    fn note_free_time(&mut self) {
        self.inner.note_free_time();
    }

    fn note_free_silence(&mut self) {
        self.inner.note_free_silence();
    }

    fn note_move_time(&mut self, time: Duration, is_silent: bool) {
        self.inner.note_move_time(time, is_silent);
    }

    fn note_reset_cost(&mut self, steps: usize) {
        self.inner.note_reset_cost(steps);
    }

    fn is_memoryless(&self) -> bool {
        self.inner.is_memoryless()
    }

    fn limit_choices(&mut self, halt_after: fn(Option<Duration>) -> Halt) {
        self.inner.limit_choices(halt_after);
    }

    fn is_done(&self) -> bool {
        self.has_passed() || self.inner.is_done()
    }
}
