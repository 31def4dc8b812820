//! Counts of questions and of who answered them.

use std::time::Duration;

use crate::solver::{Answer, Decision};

/// How many questions were asked, and where they ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Questions put to the outermost solver.
    pub questions: u64,
    /// The longest any of them took, if anyone took the time.
    pub slowest: Duration,
    /// One line per layer or back-end, outermost first.
    pub lines: Vec<Line>,
}

/// What one layer or back-end answered itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Who answered.
    pub who: &'static str,
    /// Its answers.
    pub answers: Answers,
}

/// Answers, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Satisfiable.
    pub sat: u64,
    /// Unsatisfiable.
    pub unsat: u64,
    /// Left open.
    pub unknown: u64,
}

impl Answers {
    /// All answers.
    #[must_use]
    pub fn total(self) -> u64 {
        self.sat + self.unsat + self.unknown
    }

    /// Counts `answer` and hands it on.
    pub fn note(&mut self, answer: Answer) -> Answer {
        match answer {
            Answer::Sat(_) => self.sat += 1,
            Answer::Unsat => self.unsat += 1,
            Answer::Unknown(_) => self.unknown += 1,
        }
        answer
    }

    /// Counts `decision` and hands it on.
    pub fn note_decision(&mut self, decision: Decision) -> Decision {
        match decision {
            Decision::Sat => self.sat += 1,
            Decision::Unsat => self.unsat += 1,
            Decision::Unknown(_) => self.unknown += 1,
        }
        decision
    }
}

impl Tally {
    /// Adds the line of one layer.
    pub fn add(&mut self, who: &'static str, answers: Answers) {
        self.lines.push(Line { who, answers });
    }

    /// What `who` answered, over all its lines.
    #[must_use]
    pub fn answers_of(&self, who: &str) -> Answers {
        let mut sum = Answers::default();
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
