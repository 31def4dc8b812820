//! Counts of questions and of the layers that answered them.

use std::time::Duration;

use crate::solver::{SolverAnswer, SolverDecision};

/// The number of questions, and of the answers by each layer and back-end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SolverTally {
    /// The number of questions put to the outermost solver.
    pub questions: u64,
    /// The longest time of a question; zero if no layer measures it.
    pub slowest: Duration,
    /// One line per layer or back-end, outermost first.
    pub lines: Vec<LayerTally>,
}

/// The answers that one layer or back-end gave itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayerTally {
    /// The name of the layer or back-end.
    pub who: &'static str,
    /// Its answers.
    pub answers: AnswerCounts,
}

/// Answers, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerCounts {
    /// The number of satisfiable answers.
    pub sat: u64,
    /// The number of unsatisfiable answers.
    pub unsat: u64,
    /// The number of unknown answers.
    pub unknown: u64,
}

impl AnswerCounts {
    /// Returns the number of all answers.
    #[must_use]
    pub fn total(self) -> u64 {
        self.sat + self.unsat + self.unknown
    }

    /// Counts `answer` and returns it.
    pub fn count_answer(&mut self, answer: SolverAnswer) -> SolverAnswer {
        match answer {
            SolverAnswer::Sat(_) => self.sat += 1,
            SolverAnswer::Unsat => self.unsat += 1,
            SolverAnswer::Unknown(_) => self.unknown += 1,
        }
        answer
    }

    /// Counts `decision` and returns it.
    pub fn count_decision(&mut self, decision: SolverDecision) -> SolverDecision {
        match decision {
            SolverDecision::Sat => self.sat += 1,
            SolverDecision::Unsat => self.unsat += 1,
            SolverDecision::Unknown(_) => self.unknown += 1,
        }
        decision
    }
}

impl SolverTally {
    /// Adds the line of one layer.
    pub fn add_layer(&mut self, who: &'static str, answers: AnswerCounts) {
        self.lines.push(LayerTally { who, answers });
    }

    /// Returns the answers of `who`, over all its lines.
    #[must_use]
    pub fn answers_of(&self, who: &str) -> AnswerCounts {
        let mut sum = AnswerCounts::default();
        for line in self.lines.iter().filter(|line| line.who == who) {
            sum.sat += line.answers.sat;
            sum.unsat += line.answers.unsat;
            sum.unknown += line.answers.unknown;
        }
        sum
    }

    /// Adds the counts of another solver, such as another worker's.
    pub fn absorb(&mut self, other: &Self) {
        self.questions += other.questions;
        self.slowest = self.slowest.max(other.slowest);
        for line in &other.lines {
            match self.lines.iter_mut().find(|mine| mine.who == line.who) {
                Some(mine) => {
                    mine.answers.sat += line.answers.sat;
                    mine.answers.unsat += line.answers.unsat;
                    mine.answers.unknown += line.answers.unknown;
                }
                None => self.lines.push(line.clone()),
            }
        }
    }
}
