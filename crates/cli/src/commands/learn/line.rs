//! The progress of a session: on the terminal, and on the page if there is one.

use std::time::{Duration, Instant};

use ioxide_explorer::learning::{Counterexample, HypothesisDrawing, LearningPhase};
use ioxide_learn::observer::LearningEffort;
use ioxide_learn::oracle::{LearnedGuarantee, LearningStage};
use ioxide_learn::register::oracle::{DataGuarantee, DataStage};

use super::page::LearningViewer;
use crate::counted::count_noun;
use crate::progress::ProgressLine;

/// The time of a session divided by the time that may be spent on drawings.
const DRAWN: u32 = 20;

/// The progress of learning as one line on the terminal, and on the page if there is one.
pub struct LearningLine<'v> {
    progress: ProgressLine,
    viewer: &'v LearningViewer,
    hypotheses: usize,
    /// The instant at which the current suite began, and the states and extra states it is made for.
    suite: Option<(Instant, (usize, usize))>,
    drawings: DrawingPace,
}

/// The time spent on drawings, which is kept to a small part of the whole.
struct DrawingPace {
    begun: Instant,
    spent: Duration,
    /// The last hypothesis that was drawn.
    last: usize,
}

impl<'v> LearningLine<'v> {
    /// Starts the clock.
    pub fn new(viewer: &'v LearningViewer) -> Self {
        let drawings = DrawingPace { begun: Instant::now(), spent: Duration::ZERO, last: 0 };
        Self { progress: ProgressLine::start(), viewer, hypotheses: 0, suite: None, drawings }
    }

    /// Goes on after `hypotheses` hypotheses: the system is learned once more.
    pub fn with_hypotheses(mut self, hypotheses: usize) -> Self {
        self.hypotheses = hypotheses;
        self
    }

    /// Returns the number of hypotheses so far.
    pub fn hypotheses(&self) -> usize {
        self.hypotheses
    }

    /// Shows a stage of learning a machine; `promise` puts a guarantee into words.
    pub fn stage(
        &mut self,
        stage: LearningStage,
        effort: LearningEffort,
        promise: impl FnOnce(LearnedGuarantee) -> String,
    ) {
        let mut left = None;
        match stage {
            LearningStage::Hypothesis { states } => {
                self.hypotheses += 1;
                self.viewer.hypothesis(self.hypotheses, states);
            }
            LearningStage::Settling { .. } => self.viewer.phase(LearningPhase::Asking),
            LearningStage::Testing { states, extra, done, of } => {
                let (begun, which) = self.suite.unwrap_or((Instant::now(), (0, 0)));
                let begun = if which == (states, extra) && done > 0 { begun } else { Instant::now() };
                self.suite = Some((begun, (states, extra)));
                left = guess(begun.elapsed(), done, of);
                self.viewer.phase(LearningPhase::Testing { extra, done, of });
            }
            LearningStage::Passed { states, extra } => {
                self.viewer.guarantee(|| promise(LearnedGuarantee::Complete { states, extra }));
            }
            LearningStage::Walking { done, of, .. } => self.viewer.phase(LearningPhase::Walking { done, of }),
        }
        let hypotheses = self.hypotheses;
        self.progress.tick(|| {
            let done = match stage {
                LearningStage::Hypothesis { states } => {
                    format!("a machine with {}", count_noun(states, "state"))
                }
                LearningStage::Settling { states, done, of } => {
                    format!("{}: where move {done} of {of} leads", count_noun(states, "state"))
                }
                LearningStage::Testing { states, extra, done, of } => format!(
                    "{}: test {done} of {of} for {extra} extra{}",
                    count_noun(states, "state"),
                    left.map_or_else(String::new, |left| format!(
                        ", {} s left if it is right",
                        left.as_secs()
                    ))
                ),
                LearningStage::Passed { states, extra } => {
                    format!("{}: passed for {extra} extra", count_noun(states, "state"))
                }
                LearningStage::Walking { states, done, of } => {
                    format!("{}: walk {done} of {of}", count_noun(states, "state"))
                }
            };
            cost(&done, hypotheses, effort)
        });
    }

    /// Draws the hypothesis if it was not drawn yet and it is time to: the number of the hypothesis says which it is.
    pub fn draw(&mut self, drawing: impl FnOnce(usize) -> HypothesisDrawing) {
        let (number, pace) = (self.hypotheses, &mut self.drawings);
        let is_time = pace.last == 0 || pace.spent * DRAWN < pace.begun.elapsed();
        if !self.viewer.is_there() || pace.last == number || !is_time {
            return;
        }
        let begun = Instant::now();
        self.viewer.draw(|| drawing(number));
        pace.spent += begun.elapsed();
        pace.last = number;
    }

    /// Shows the counterexample that refuted the hypothesis before the last one.
    pub fn surprise(&self, found: impl FnOnce() -> Counterexample) {
        self.viewer.counterexample(self.hypotheses.saturating_sub(1), found);
    }

    /// Shows a stage of drafting a machine with choices.
    pub fn show_drafting(&mut self, states: usize, effort: LearningEffort) {
        let number = self.hypotheses + 1;
        self.viewer.hypothesis(number, states);
        self.viewer.phase(LearningPhase::Drafting);
        let done = || format!("a draft with choices, {}", count_noun(states, "state"));
        self.progress.tick(|| cost(&done(), number, effort));
    }

    /// Shows a stage of learning a machine with values; `promise` puts a guarantee into words.
    pub fn data(
        &mut self,
        stage: DataStage,
        effort: LearningEffort,
        promise: impl FnOnce(DataGuarantee) -> String,
    ) {
        match stage {
            DataStage::Hypothesis { locations, .. } => {
                self.hypotheses += 1;
                self.viewer.hypothesis(self.hypotheses, locations);
            }
            DataStage::Testing { extra, done, of, .. } => {
                self.viewer.phase(LearningPhase::Testing { extra, done, of });
            }
            DataStage::Passed { values, states, extra } => {
                self.viewer.guarantee(|| promise(DataGuarantee::Complete { values, states, extra }));
            }
            DataStage::Walking { done, of } => self.viewer.phase(LearningPhase::Walking { done, of }),
        }
        let hypotheses = self.hypotheses;
        self.progress.tick(|| {
            let done = match stage {
                DataStage::Hypothesis { locations, registers } => {
                    format!(
                        "{}, at most {}",
                        count_noun(locations, "location"),
                        count_noun(registers, "register")
                    )
                }
                DataStage::Testing { locations, extra, done, of } => {
                    format!("{}: test {done} of {of} for {extra} extra", count_noun(locations, "location"))
                }
                DataStage::Passed { values, states, extra } => {
                    format!(
                        "{} on {}: passed for {extra} extra",
                        count_noun(states, "state"),
                        count_noun(values, "value")
                    )
                }
                DataStage::Walking { done, of } => format!("walk {done} of {of}"),
            };
            cost(&done, hypotheses, effort)
        });
    }
}

fn cost(done: &str, hypotheses: usize, effort: LearningEffort) -> String {
    let LearningEffort { resets, symbols } = effort;
    format!(
        "{done}; hypothesis {hypotheses}, {}, {}",
        count_noun(resets, "reset"),
        count_noun(symbols, "message")
    )
}

/// Returns the time the remaining tests take at the pace so far; `None` before the first.
fn guess(elapsed: Duration, done: usize, of: usize) -> Option<Duration> {
    let share = of.checked_sub(done)? as f64 / done as f64;
    (done > 0).then(|| elapsed.mul_f64(share.min(1e6)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_is_done() {
        assert_eq!(guess(Duration::from_secs(10), 5, 10), Some(Duration::from_secs(10)));
        assert_eq!(guess(Duration::from_secs(10), 0, 10), None);
        assert_eq!(guess(Duration::from_secs(10), 20, 10), None);
    }
}
