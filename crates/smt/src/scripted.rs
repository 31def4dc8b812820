//! Canned answers, for tests of what stands in front of a solver.

use std::collections::VecDeque;

use ioxide_model::term::{Term, TermPool};

use crate::solver::{Answer, Solver, Why};

/// Gives its answers in order, then [`Why::NoSolver`]; remembers what it was asked.
#[derive(Clone, Debug, Default)]
pub struct Scripted {
    answers: VecDeque<Answer>,
    asked: Vec<Vec<Term>>,
}

impl Scripted {
    /// Will give `answers`.
    #[must_use]
    pub fn new(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self { answers: answers.into_iter().collect(), asked: Vec::new() }
    }

    /// The questions so far.
    #[must_use]
    pub fn asked(&self) -> &[Vec<Term>] {
        &self.asked
    }
}

impl Solver for Scripted {
    fn check(&mut self, _: &mut TermPool, facts: &[Term]) -> Answer {
        self.asked.push(facts.to_vec());
        self.answers.pop_front().unwrap_or(Answer::Unknown(Why::NoSolver))
    }
}
