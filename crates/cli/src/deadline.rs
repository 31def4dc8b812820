//! A tester with a deadline: when the time is up, the run under way ends and no other begins.
//!
//! Time is a matter of the rim, so no tester knows it. What a run did up to the deadline counts.

use std::time::{Duration, Instant};

use ioxide_model::sts::SwitchId;
use ioxide_model::trace::Trace;
use ioxide_symex::{After, Ctx};
use ioxide_testgen::tester::{Finding, Move, Stop, Tester};

/// Lets `inner` decide until the time is up.
pub struct Deadline<'t> {
    inner: &'t mut (dyn Tester + Send),
    limit: Option<Duration>,
    begun: Option<Instant>,
}

impl<'t> Deadline<'t> {
    /// `inner` for at most `limit` from its first run on, if there is a limit.
    pub fn new(inner: &'t mut (dyn Tester + Send), limit: Option<Duration>) -> Self {
        Self { inner, limit, begun: None }
    }

    /// Whether the time is up.
    pub fn has_passed(&self) -> bool {
        self.limit.zip(self.begun).is_some_and(|(limit, begun)| begun.elapsed() >= limit)
    }
}

impl Tester for Deadline<'_> {
    fn start(&mut self, seed: u64) {
        self.begun.get_or_insert_with(Instant::now);
        self.inner.start(seed);
    }

    fn next(&mut self, cx: &mut Ctx<'_>, after: &After, history: &Trace) -> Move {
        match self.has_passed() {
            true => Move::Stop(Stop::GoalMet("the time is up".into())),
            false => self.inner.next(cx, after, history),
        }
    }

    fn explained(&mut self, switches: &[SwitchId]) {
        self.inner.explained(switches);
    }

    fn goal(&self) -> Option<String> {
        self.inner.goal()
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        self.inner.share(worker, jobs);
    }

    fn finding(&mut self, cx: &mut Ctx<'_>, history: &Trace) -> Option<Finding> {
        self.inner.finding(cx, history)
    }

    fn prepare(&mut self, cx: &mut Ctx<'_>) {
        self.inner.prepare(cx);
    }

    fn time_is_free(&mut self) {
        self.inner.time_is_free();
    }

    fn is_done(&self) -> bool {
        self.has_passed() || self.inner.is_done()
    }
}
