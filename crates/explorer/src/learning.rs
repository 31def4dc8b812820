//! A system that is learned, as whoever learns it tells: stages, hypotheses, what spoke against them, the result.
//!
//! A [`LearningBoard`] is written by the learner and read by the page. Writing is cheap and never waits for a reader: the
//! picture of a hypothesis is laid out by the thread that serves it, once somebody wants to see it, and a page that
//! reads slowly is told the latest and not everything in between. How often the system was asked is counted by a
//! [`LearningMeter`], so that the page sees that something goes on between two stages.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::view::hypothesis::HypothesisView;
use crate::view::learning::LearningView;

/// Notes kept.
const MAX_NOTES: usize = 50;
/// Over how long questions a second are counted.
const RECENT: Duration = Duration::from_secs(5);
/// Whoever asked so lately is still there.
const PRESENT: Duration = Duration::from_secs(4);

/// What is learned, and how, for people.
#[derive(Clone, Debug, Default)]
pub struct LearningSubject {
    /// The system.
    pub system: String,
    /// The model that says which messages there are.
    pub model: String,
    /// What kind of model it becomes.
    pub kind: String,
    /// How many inputs it is learned with.
    pub inputs: usize,
    /// How hypotheses are tested.
    pub suite: String,
    /// The most extra states that suites are made for.
    pub most_extra: usize,
}

/// What is going on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LearningPhase {
    /// Questions that make the next hypothesis.
    #[default]
    Asking,
    /// A suite is applied: so many tests of so many are done.
    Testing {
        /// Extra states of the suite.
        extra: usize,
        /// Tests done.
        done: usize,
        /// Tests of the suite.
        of: usize,
    },
    /// Random walks are made.
    Walking {
        /// Walks done.
        done: usize,
        /// Walks wanted.
        of: usize,
    },
    /// A draft with choices is made, since the system answers in several ways.
    Drafting,
    /// It is found out which moves start a timer.
    Timers,
    /// It is over.
    Over,
}

/// A hypothesis as it is drawn; the first state is where it starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HypothesisDrawing {
    /// Which hypothesis it is.
    pub number: usize,
    /// Its states.
    pub states: Vec<DrawnState>,
    /// Its moves.
    pub moves: Vec<DrawnMove>,
}

/// A state of a hypothesis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnState {
    /// The same in two hypotheses where the state is the same.
    pub key: String,
    /// Its name.
    pub name: String,
    /// The variables that mean something in it.
    pub variables: Vec<String>,
}

/// A move of a hypothesis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnMove {
    /// The number of the state it starts in.
    pub from: usize,
    /// The number of the state it leads to.
    pub to: usize,
    /// Input and answer.
    pub text: String,
    /// When it is made; may be empty.
    pub guard: String,
    /// What is stored; may be empty.
    pub updates: String,
}

/// Inputs with their answers, and what was believed to be the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counterexample {
    /// Inputs and answers.
    pub steps: Vec<(String, String)>,
    /// What the hypothesis said in the place of the last answer.
    pub believed: String,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearningEnd {
    /// Whether there is a model.
    pub has_model: bool,
    /// What is said about it, line by line.
    pub lines: Vec<String>,
    /// Where the model was written.
    pub out: Option<String>,
}

/// Counts what is asked.
#[derive(Clone, Debug, Default)]
pub struct LearningMeter(Arc<(AtomicU64, AtomicU64)>);

impl LearningMeter {
    /// The system was reset so often and given so many inputs.
    pub fn count(&self, resets: u64, symbols: u64) {
        self.0.0.fetch_add(resets, Ordering::Relaxed);
        self.0.1.fetch_add(symbols, Ordering::Relaxed);
    }

    /// Resets and inputs so far.
    #[must_use]
    pub fn read(&self) -> (u64, u64) {
        (self.0.0.load(Ordering::Relaxed), self.0.1.load(Ordering::Relaxed))
    }
}

/// What is known of the learning that goes on.
pub struct LearningBoard {
    state: Mutex<BoardState>,
    changed: Condvar,
    meter: LearningMeter,
    /// The picture that was made last. Whoever makes one holds this alone, so that nobody who learns waits for it.
    picture: Mutex<Arc<HypothesisView>>,
}

/// What the learner has told.
pub(crate) struct BoardState {
    /// Grows with every change.
    version: u64,
    pub(crate) subject: LearningSubject,
    pub(crate) phase: LearningPhase,
    begun: Instant,
    ended: Option<Instant>,
    /// When the suite or the walks began.
    phase_begun: Instant,
    pub(crate) hypotheses: usize,
    pub(crate) states: usize,
    pub(crate) guarantee: String,
    /// How many drawings there were.
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
    /// Nothing was asked yet.
    #[must_use]
    pub fn new(subject: LearningSubject) -> Arc<Self> {
        let now = Instant::now();
        let state = BoardState {
            version: 0,
            subject,
            phase: LearningPhase::Asking,
            begun: now,
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
        let picture = Mutex::new(Arc::new(HypothesisView::none()));
        Arc::new(Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
            meter: LearningMeter::default(),
            picture,
        })
    }

    /// What counts the questions.
    #[must_use]
    pub fn meter(&self) -> LearningMeter {
        self.meter.clone()
    }

    /// Says what is learned, once more is known.
    pub fn subject(&self, change: impl FnOnce(&mut LearningSubject)) {
        self.tell(|state| change(&mut state.subject));
    }

    /// A hypothesis was made; nothing is promised of it yet.
    pub fn hypothesis(&self, number: usize, states: usize) {
        self.tell(|state| {
            (state.hypotheses, state.states) = (number, states);
            state.guarantee.clear();
            state.phase = LearningPhase::Asking;
        });
    }

    /// Something else goes on.
    pub fn phase(&self, phase: LearningPhase) {
        self.tell(|state| {
            if is_begun(state.phase, phase) {
                state.phase_begun = Instant::now();
            }
            state.phase = phase;
        });
    }

    /// What is promised of the hypothesis, in words.
    pub fn guarantee(&self, words: String) {
        self.tell(|state| state.guarantee = words);
    }

    /// What the hypothesis looks like.
    pub fn draw(&self, drawing: HypothesisDrawing) {
        self.tell(|state| {
            let before = std::mem::replace(&mut state.drawing, Arc::new(drawing));
            // The same hypothesis drawn again is compared with what the last drawing was compared with.
            if state.drawn > 0 && before.number != state.drawing.number {
                state.before = Some(before);
            }
            state.drawn += 1;
        });
    }

    /// What spoke against the hypothesis with this number.
    pub fn counterexample(&self, number: usize, found: Counterexample) {
        self.tell(|state| state.counterexample = Some((number, found)));
    }

    /// The system contradicts itself: the runs, line by line.
    pub fn disagreement(&self, runs: String) {
        self.tell(|state| state.disagreement = runs);
    }

    /// Something that people should know.
    pub fn note(&self, text: String) {
        self.tell(|state| {
            if state.notes.len() == MAX_NOTES {
                state.notes.pop_front();
            }
            state.notes.push_back(text);
        });
    }

    /// It is over.
    pub fn end(&self, end: LearningEnd) {
        self.tell(|state| {
            state.phase = LearningPhase::Over;
            state.ended = Some(Instant::now());
            state.end = Some(end);
        });
    }

    /// Whether a page was told something lately.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.lock().looked.is_some_and(|looked| looked.elapsed() < PRESENT)
    }

    /// How things are now.
    #[must_use]
    pub fn view(&self) -> LearningView {
        LearningView::of(&mut self.lock(), self.meter.read())
    }

    /// How things are as soon as they differ from version `seen`; while somebody learns also after `pulse`, since more
    /// was asked then. `None` if nothing has changed after `patience`.
    pub(crate) fn changed(
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
        is_news.then(|| (state.version, LearningView::of(&mut state, self.meter.read())))
    }

    /// The picture of the last drawing, made now if nobody has seen it yet.
    #[must_use]
    pub(crate) fn picture(&self) -> Arc<HypothesisView> {
        let mut picture = self.picture.lock().unwrap_or_else(PoisonError::into_inner);
        let (drawn, drawing, before) = {
            let state = self.lock();
            (state.drawn, Arc::clone(&state.drawing), state.before.clone())
        };
        if picture.number() != drawn {
            *picture = Arc::new(HypothesisView::of(drawn, &drawing, before.as_deref()));
        }
        Arc::clone(&picture)
    }

    fn lock(&self) -> MutexGuard<'_, BoardState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, change: impl FnOnce(&mut BoardState)) {
        let mut state = self.lock();
        change(&mut state);
        state.version += 1;
        drop(state);
        self.changed.notify_all();
    }
}

/// Whether `now` is the beginning of something, and not more of what was `before`.
fn is_begun(before: LearningPhase, now: LearningPhase) -> bool {
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
    /// How long it has taken so far, or took.
    pub(crate) fn elapsed(&self) -> Duration {
        self.ended.unwrap_or_else(Instant::now).saturating_duration_since(self.begun)
    }

    /// How long the tests or walks take that are left, if nothing is found and it goes on as it did.
    pub(crate) fn left(&self) -> Option<Duration> {
        let (LearningPhase::Testing { done, of, .. } | LearningPhase::Walking { done, of }) = self.phase
        else {
            return None;
        };
        let share = of.checked_sub(done)? as f64 / done as f64;
        (done > 0).then(|| self.phase_begun.elapsed().mul_f64(share.min(1e6)))
    }

    /// Inputs a second, lately.
    pub(crate) fn rate(&mut self, symbols: u64) -> f64 {
        let now = self.ended.unwrap_or_else(Instant::now);
        while self.samples.front().is_some_and(|(at, _)| now.saturating_duration_since(*at) > RECENT) {
            self.samples.pop_front();
        }
        let (since, before) = match self.samples.front() {
            Some(&sample) if self.ended.is_none() => sample,
            _ => (self.begun, 0),
        };
        self.samples.push_back((now, symbols));
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        if seconds < 1e-3 { 0.0 } else { symbols.saturating_sub(before) as f64 / seconds }
    }
}

#[cfg(test)]
mod tests;
