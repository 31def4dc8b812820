//! A counter of questions and their times.

use std::time::{Duration, Instant};

use ioxide_model::term::{Term, TermPool};

use crate::solver::{Solver, SolverAnswer, SolverDecision};
use crate::tally::SolverTally;

/// The counting layer. It stands in front of all others, so that its times include theirs.
#[derive(Debug)]
pub struct CountLayer<S> {
    inner: S,
    questions: u64,
    slowest: Duration,
}

impl<S: Solver> CountLayer<S> {
    /// Counts the questions to `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, questions: 0, slowest: Duration::ZERO }
    }

    fn measure_time<T>(&mut self, ask: impl FnOnce(&mut S) -> T) -> T {
        let start = Instant::now();
        let answer = ask(&mut self.inner);
        self.questions += 1;
        self.slowest = self.slowest.max(start.elapsed());
        answer
    }
}

impl<S: Solver> Solver for CountLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        self.measure_time(|inner| inner.check(pool, facts))
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        self.measure_time(|inner| inner.decide(pool, facts))
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        tally.questions += self.questions;
        tally.slowest = tally.slowest.max(self.slowest);
        self.inner.add_to_tally(tally);
    }
}
