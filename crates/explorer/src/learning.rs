//! The state of learning a system as the learner reports it: phases, hypotheses, counterexamples, the result.
//!
//! A [`LearningBoard`] is written by the learner and read by the page. Writing is cheap and never waits for a reader:
//! the picture of a hypothesis is laid out by the thread that serves it, at the first request, and a page that reads
//! slowly gets the latest state and not every state in between. A [`LearningMeter`] counts resets and inputs, so that
//! the page shows activity between two phases.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ioxide_learn::drawing::{Counterexample, HypothesisDrawing};

use crate::view::hypothesis::HypothesisView;
use crate::view::learning::LearningView;

/// The number of notes kept. Chosen by feel: the page shows fewer.
const MAX_NOTES: usize = 50;
/// The period over which inputs per second are counted. Chosen by feel: shorter jumps, longer lags behind.
const RATE_PERIOD: Duration = Duration::from_secs(5);
/// The time since the last request within which a page counts as watching. Chosen by feel.
const WATCHING_TIMEOUT: Duration = Duration::from_secs(4);

/// The system to learn and the method, in words for people.
#[derive(Clone, Debug, Default)]
pub struct LearningSubject {
    /// The system.
    pub system: String,
    /// The model that declares the messages.
    pub model: String,
    /// The kind of the learned model.
    pub kind: String,
    /// The number of inputs used for learning.
    pub inputs: usize,
    /// The method by which hypotheses are tested.
    pub suite: String,
    /// The greatest number of extra states for which suites are generated.
    pub most_extra: usize,
}

/// The activity of the learner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LearningPhase {
    /// Membership queries for the next hypothesis.
    #[default]
    Asking,
    /// Application of a test suite.
    Testing {
        /// The number of extra states of the suite.
        extra: usize,
        /// The number of tests done.
        done: usize,
        /// The number of tests of the suite.
        of: usize,
    },
    /// Random walks through the hypothesis.
    Walking {
        /// The number of walks done.
        done: usize,
        /// The number of walks wanted.
        of: usize,
    },
    /// Construction of a draft with choices, since the system answers in several ways.
    Drafting,
    /// Search for the moves that start a timer.
    Timers,
    /// Learning has ended.
    Over,
}

/// The end of learning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearningEnd {
    /// True if there is a model.
    pub has_model: bool,
    /// The final report, line by line.
    pub lines: Vec<String>,
    /// The file to which the model was written; `None` if there is none.
    pub out: Option<String>,
}

/// A counter of resets and inputs, shared between threads.
#[derive(Clone, Debug, Default)]
pub struct LearningMeter(Arc<(AtomicU64, AtomicU64)>);

impl LearningMeter {
    /// Adds to the numbers of resets and inputs.
    pub fn count(&self, resets: u64, symbols: u64) {
        self.0.0.fetch_add(resets, Ordering::Relaxed);
        self.0.1.fetch_add(symbols, Ordering::Relaxed);
    }

    /// Returns the numbers of resets and inputs so far.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.0.0.load(Ordering::Relaxed), self.0.1.load(Ordering::Relaxed))
    }
}

/// The state of learning, shared by the learner and the page.
pub struct LearningBoard {
    state: Mutex<BoardState>,
    changed: Condvar,
    meter: LearningMeter,
    /// The last picture made. Its own lock is held while one is made, so that the learner never waits for it.
    picture: Mutex<Arc<HypothesisView>>,
}

/// The state of learning as last reported.
pub(crate) struct BoardState {
    /// A number that grows with every change.
    version: u64,
    pub(crate) subject: LearningSubject,
    pub(crate) phase: LearningPhase,
    started_at: Instant,
    ended: Option<Instant>,
    /// The instant at which the suite or the walks began.
    phase_begun: Instant,
    pub(crate) hypotheses: usize,
    pub(crate) states: usize,
    pub(crate) guarantee: String,
    /// The number of drawings so far.
    pub(crate) drawn: usize,
    drawing: Arc<HypothesisDrawing>,
    before: Option<Arc<HypothesisDrawing>>,
    pub(crate) counterexample: Option<(usize, Counterexample)>,
    pub(crate) disagreement: String,
    pub(crate) notes: VecDeque<String>,
    pub(crate) end: Option<LearningEnd>,
    samples: VecDeque<(Instant, u64)>,
    looked: Option<Instant>,
}

impl LearningBoard {
    /// Returns a board on which nothing is reported yet.
    #[must_use]
    pub fn new(subject: LearningSubject) -> Arc<Self> {
        let now = Instant::now();
        let state = BoardState {
            version: 0,
            subject,
            phase: LearningPhase::Asking,
            started_at: now,
            ended: None,
            phase_begun: now,
            hypotheses: 0,
            states: 0,
            guarantee: String::new(),
            drawn: 0,
            drawing: Arc::default(),
            before: None,
            counterexample: None,
            disagreement: String::new(),
            notes: VecDeque::new(),
            end: None,
            samples: VecDeque::new(),
            looked: None,
        };
        let picture = Mutex::new(Arc::new(HypothesisView::empty()));
        Arc::new(Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            meter: LearningMeter::default(),
            picture,
        })
    }

    /// Returns the counter of resets and inputs.
    #[must_use]
    pub fn meter(&self) -> LearningMeter {
        self.meter.clone()
    }

    /// Changes the description of the system and the method.
    pub fn change_subject(&self, change: impl FnOnce(&mut LearningSubject)) {
        self.update_state(|state| change(&mut state.subject));
    }

    /// Reports a new hypothesis, for which there is no guarantee yet.
    pub fn report_hypothesis(&self, number: usize, states: usize) {
        self.update_state(|state| {
            (state.hypotheses, state.states) = (number, states);
            state.guarantee.clear();
            state.phase = LearningPhase::Asking;
        });
    }

    /// Reports the activity of the learner.
    pub fn report_phase(&self, phase: LearningPhase) {
        self.update_state(|state| {
            if begins_activity(state.phase, phase) {
                state.phase_begun = Instant::now();
            }
            state.phase = phase;
        });
    }

    /// Reports the guarantee for the hypothesis, in words.
    pub fn report_guarantee(&self, words: String) {
        self.update_state(|state| state.guarantee = words);
    }

    /// Reports a drawing of the hypothesis.
    pub fn report_drawing(&self, drawing: HypothesisDrawing) {
        self.update_state(|state| {
            let before = std::mem::replace(&mut state.drawing, Arc::new(drawing));
            // The same hypothesis drawn again is compared with what the last drawing was compared with.
            if state.drawn > 0 && before.number != state.drawing.number {
                state.before = Some(before);
            }
            state.drawn += 1;
        });
    }

    /// Reports a counterexample to the hypothesis with this number.
    pub fn report_counterexample(&self, number: usize, counterexample: Counterexample) {
        self.update_state(|state| state.counterexample = Some((number, counterexample)));
    }

    /// Reports that the system contradicts itself, with the runs line by line.
    pub fn report_disagreement(&self, runs: String) {
        self.update_state(|state| state.disagreement = runs);
    }

    /// Adds a note for people; only the last ones are kept.
    pub fn add_note(&self, text: String) {
        self.update_state(|state| {
            if state.notes.len() == MAX_NOTES {
                state.notes.pop_front();
            }
            state.notes.push_back(text);
        });
    }

    /// Reports the end of learning.
    pub fn report_end(&self, end: LearningEnd) {
        self.update_state(|state| {
            state.phase = LearningPhase::Over;
            state.ended = Some(Instant::now());
            state.end = Some(end);
        });
    }

    /// Returns whether a page asked for the state within the last seconds.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.lock().looked.is_some_and(|looked| looked.elapsed() < WATCHING_TIMEOUT)
    }

    /// Returns the current state.
    #[must_use]
    pub fn view(&self) -> LearningView {
        LearningView::new(&mut self.lock(), self.meter.read())
    }

    /// Returns the state and its version as soon as it differs from version `seen`. During learning it is returned
    /// after `pulse` even if unchanged, since the counters have moved; afterwards `None` is returned if nothing changes
    /// within `patience`.
    pub(crate) fn wait_for_change(
        &self,
        seen: Option<u64>,
        pulse: Duration,
        patience: Duration,
    ) -> Option<(u64, LearningView)> {
        let mut state = self.lock();
        let is_over = state.end.is_some();
        state.looked = Some(Instant::now());
        let same = |state: &mut BoardState| Some(state.version) == seen;
        let wait = if is_over { patience } else { pulse };
        let waited = self.changed.wait_timeout_while(state, wait, same);
        let (mut state, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        let is_news = !timeout.timed_out() || !is_over;
        is_news.then(|| (state.version, LearningView::new(&mut state, self.meter.read())))
    }

    /// Returns the picture of the last drawing, and makes it if it is not the last one made.
    #[must_use]
    pub(crate) fn current_picture(&self) -> Arc<HypothesisView> {
        let mut picture = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        let (drawn, drawing, before) = {
            let state = self.lock();
            (state.drawn, Arc::clone(&state.drawing), state.before.clone())
        };
        if picture.number() != drawn {
            *picture = Arc::new(HypothesisView::new(drawn, &drawing, before.as_deref()));
        }
        Arc::clone(&picture)
    }

    /// Locks the state; a thread that panicked leaves it usable.
    fn lock(&self) -> MutexGuard<'_, BoardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_state(&self, change: impl FnOnce(&mut BoardState)) {
        let mut state = self.lock();
        change(&mut state);
        state.version += 1;
        drop(state);
        self.changed.notify_all();
    }
}

/// Returns whether `now` begins a new activity rather than continuing the one `before`.
fn begins_activity(before: LearningPhase, now: LearningPhase) -> bool {
    match (before, now) {
        (
            LearningPhase::Testing { extra: one, done: earlier, .. },
            LearningPhase::Testing { extra, done, .. },
        ) => one != extra || done < earlier || done == 0,
        (LearningPhase::Walking { done: earlier, .. }, LearningPhase::Walking { done, .. }) => done < earlier,
        (before, now) => before != now,
    }
}

impl BoardState {
    /// Returns the time learning has taken so far, or took.
    pub(crate) fn elapsed(&self) -> Duration {
        self.ended.unwrap_or_else(Instant::now).saturating_duration_since(self.started_at)
    }

    /// Returns the time the remaining tests or walks will take at the speed so far, if they find no counterexample;
    /// `None` in other phases, and before the first is done.
    pub(crate) fn estimated_time_left(&self) -> Option<Duration> {
        let (LearningPhase::Testing { done, of, .. } | LearningPhase::Walking { done, of }) = self.phase
        else {
            return None;
        };
        let share = of.checked_sub(done)? as f64 / done as f64;
        (done > 0).then(|| self.phase_begun.elapsed().mul_f64(share.min(1e6)))
    }

    /// Returns inputs per second over the last seconds; after the end, over the whole time.
    pub(crate) fn inputs_per_second(&mut self, symbols: u64) -> f64 {
        let now = self.ended.unwrap_or_else(Instant::now);
        while self.samples.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) > RATE_PERIOD) {
            self.samples.pop_front();
        }
        let (since, before) = match self.samples.front() {
            Some(&sample) if self.ended.is_none() => sample,
            _ => (self.started_at, 0),
        };
        self.samples.push_back((now, symbols));
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        if seconds < 1e-3 { 0.0 } else { symbols.saturating_sub(before) as f64 / seconds }
    }
}

#[cfg(test)]
mod tests;
