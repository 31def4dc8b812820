//! A solver with canned answers, for tests of layers.

use std::collections::VecDeque;

use ioxide_model::term::{Term, TermPool};

use crate::solver::{Solver, SolverAnswer, UnknownReason};

/// A solver that gives its answers in order, then [`UnknownReason::NoSolver`], and records its questions.
#[derive(Clone, Debug, Default)]
pub struct ScriptedSolver {
    answers: VecDeque<SolverAnswer>,
    asked: Vec<Vec<Term>>,
}

impl ScriptedSolver {
    /// Makes a solver that will give `answers`.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = SolverAnswer>) -> Self {
        Self { answers: answers.into_iter().collect(), asked: Vec::new() }
    }

    /// Returns the questions so far.
    #[must_use]
    pub fn questions(&self) -> &[Vec<Term>] {
        &self.asked
    }
}

impl Solver for ScriptedSolver {
    fn check(&mut self, _: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        self.asked.push(facts.to_vec());
        self.answers.pop_front().unwrap_or(SolverAnswer::Unknown(UnknownReason::NoSolver))
    }
}
