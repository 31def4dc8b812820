//! The progress of a session: on the terminal, and on the page if there is one.

use std::time::{Duration, Instant};

use ioxide_explorer::learning::LearningPhase;
use ioxide_learn::observer::LearningEffort;
use ioxide_learn::oracle::LearningStage;
use ioxide_learn::register::oracle::DataStage;
use ioxide_learn::watch::{LearningEvent, LearningNote, LearningWatcher};
use ioxide_smt::halt::Halt;

use super::page::LearningViewer;
use crate::counted::count_noun;
use crate::progress::ProgressLine;

/// The time of a session divided by the time that may be spent on drawings. Chosen by feel: drawing must not slow
/// learning down noticeably.
const DRAWING_DIVISOR: u32 = 20;

/// The progress of learning as one line on the terminal, and on the page if there is one.
pub struct LearningLine<'v> {
    progress: ProgressLine,
    viewer: &'v LearningViewer,
    /// The time limit and the interrupt, which end the session.
    halt: &'v Halt,
    /// True if notes are not shown.
    is_quiet: bool,
    /// The instant at which the current suite began, and the states and extra states it is made for.
    suite: Option<(Instant, (usize, usize))>,
    drawings: DrawingPace,
}

/// The time spent on drawings, which is kept to a small part of the whole.
struct DrawingPace {
    started_at: Instant,
    spent: Duration,
    /// The last hypothesis that was drawn.
    last: usize,
    /// The instant at which the drawing under way began.
    drawing: Option<Instant>,
}

impl<'v> LearningLine<'v> {
    /// Starts the clock.
    pub fn new(viewer: &'v LearningViewer, halt: &'v Halt) -> Self {
        let drawings =
            DrawingPace { started_at: Instant::now(), spent: Duration::ZERO, last: 0, drawing: None };
        Self { progress: ProgressLine::start(), viewer, halt, is_quiet: false, suite: None, drawings }
    }

    /// Shows no notes, as for a reference.
    pub fn without_notes(self) -> Self {
        Self { is_quiet: true, ..self }
    }

    /// Shows a stage of learning a machine.
    fn show_stage(&mut self, number: usize, stage: LearningStage, effort: LearningEffort) {
        let mut left = None;
        match stage {
            LearningStage::Hypothesis { states } => self.viewer.hypothesis(number, states),
            LearningStage::Settling { .. } => self.viewer.phase(LearningPhase::Asking),
            LearningStage::Testing { states, extra, done, of } => {
                let (started_at, which) = self.suite.unwrap_or((Instant::now(), (0, 0)));
                let started_at =
                    if which == (states, extra) && done > 0 { started_at } else { Instant::now() };
                self.suite = Some((started_at, (states, extra)));
                left = estimate_time_left(started_at.elapsed(), done, of);
                self.viewer.phase(LearningPhase::Testing { extra, done, of });
            }
            LearningStage::Passed { .. } => (),
            LearningStage::Walking { done, of, .. } => self.viewer.phase(LearningPhase::Walking { done, of }),
        }
        self.progress.tick(|| describe_progress(&format!("{stage}{}", time_left_text(left)), number, effort));
    }

    /// Shows a stage of drafting a machine with choices.
    fn show_drafting(&mut self, number: usize, states: usize, effort: LearningEffort) {
        self.viewer.hypothesis(number, states);
        self.viewer.phase(LearningPhase::Drafting);
        let done = || format!("a draft with choices, {}", count_noun(states, "state"));
        self.progress.tick(|| describe_progress(&done(), number, effort));
    }

    /// Shows a stage of learning a machine with values.
    fn show_data_stage(&mut self, number: usize, stage: DataStage, effort: LearningEffort) {
        match stage {
            DataStage::Hypothesis { locations, .. } => self.viewer.hypothesis(number, locations),
            DataStage::Testing { extra, done, of, .. } => {
                self.viewer.phase(LearningPhase::Testing { extra, done, of });
            }
            DataStage::Passed { .. } => (),
            DataStage::Walking { done, of } => self.viewer.phase(LearningPhase::Walking { done, of }),
        }
        self.progress.tick(|| describe_progress(&stage.to_string(), number, effort));
    }

    fn show_note(&self, note: &LearningNote) {
        if !self.is_quiet {
            eprintln!("note: {note}");
            self.viewer.show_note(&note.to_string());
        }
    }
}

impl LearningWatcher for LearningLine<'_> {
    fn notify(&mut self, event: LearningEvent) {
        match event {
            LearningEvent::Begun { inputs, most_extra } => self.viewer.begins(inputs, most_extra),
            LearningEvent::Machine { number, stage, effort } => self.show_stage(number, stage, effort),
            LearningEvent::Values { number, stage, effort } => self.show_data_stage(number, stage, effort),
            LearningEvent::Drafted { number, states, effort } => self.show_drafting(number, states, effort),
            LearningEvent::FindsTimers => self.viewer.phase(LearningPhase::Timers),
            LearningEvent::Guaranteed(words) => self.viewer.guarantee(&words),
            LearningEvent::Refuted(number, found) => self.viewer.counterexample(number, found),
            LearningEvent::Drawn(drawing) => {
                self.drawings.last = drawing.number;
                self.viewer.draw(drawing);
                let started_at = self.drawings.drawing.take();
                self.drawings.spent += started_at.map_or(Duration::ZERO, |started_at| started_at.elapsed());
            }
            LearningEvent::TooLargeToDraw => self.viewer.show_note(
                "the hypothesis is too large to draw while learning; the final model will be drawn",
            ),
            LearningEvent::Contradicted(runs) => self.viewer.disagreement(&runs),
            LearningEvent::DraftsChoices(runs) => {
                eprintln!("note: {runs}; it is drafted with choices");
                self.viewer.drafts();
            }
            LearningEvent::Noted(note) => self.show_note(&note),
        }
    }

    fn wants_details(&self) -> bool {
        self.viewer.is_there()
    }

    fn wants_drawing(&mut self, number: usize) -> bool {
        let pace = &mut self.drawings;
        let is_time = pace.last == 0 || pace.spent * DRAWING_DIVISOR < pace.started_at.elapsed();
        let is_wanted = self.viewer.is_there() && pace.last != number && is_time;
        if is_wanted {
            pace.drawing = Some(Instant::now());
        }
        is_wanted
    }

    fn is_stopped(&self) -> bool {
        self.halt.halt_reason().is_some()
    }
}

fn time_left_text(left: Option<Duration>) -> String {
    left.map_or_else(String::new, |left| format!(", {} s left if it is right", left.as_secs()))
}

fn describe_progress(done: &str, hypotheses: usize, effort: LearningEffort) -> String {
    let LearningEffort { resets, symbols } = effort;
    format!(
        "{done}; hypothesis {hypotheses}, {}, {}",
        count_noun(resets, "reset"),
        count_noun(symbols, "message")
    )
}

/// Returns the time the remaining tests take at the pace so far; `None` before the first.
pub fn estimate_time_left(elapsed: Duration, done: usize, total: usize) -> Option<Duration> {
    let share = total.checked_sub(done)? as f64 / done as f64;
    (done > 0).then(|| elapsed.mul_f64(share.min(1e6)))
}
