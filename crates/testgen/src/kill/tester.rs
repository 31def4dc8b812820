//! The tester that runs a killing suite.
//!
//! 003 sec. 3: where the system may choose, a trace is a purpose rather than a test. A run
//! follows a test as long as the system does what the trace has; if it does something else that
//! is allowed, another test that begins with what was seen takes over, else the run is
//! inconclusive and the test is tried again later, a few times.

use ioxide_model::label::Label;
use ioxide_model::trace::Trace;
use ioxide_symex::{After, Ctx};

use crate::tester::{Move, Stop, Tester};

/// How often a test is begun before it is given up.
const MAX_TRIES: u32 = 5;

/// Runs the tests of a suite, one after the other.
#[derive(Clone, Debug)]
pub struct Killer {
    tests: Vec<Aim>,
    current: Option<usize>,
}

#[derive(Clone, Debug)]
struct Aim {
    trace: Trace,
    done: bool,
    tries: u32,
}

impl Killer {
    /// A tester for tests given by their traces; after each the system is looked at once more.
    #[must_use]
    pub fn new(traces: impl IntoIterator<Item = Trace>) -> Self {
        let aim = |trace| Aim { trace, done: false, tries: 0 };
        Self { tests: traces.into_iter().map(aim).collect(), current: None }
    }

    /// Tests carried out to their end.
    #[must_use]
    pub fn n_done(&self) -> usize {
        self.tests.iter().filter(|test| test.done).count()
    }

    /// All tests.
    #[must_use]
    pub fn n_tests(&self) -> usize {
        self.tests.len()
    }

    /// How many runs it may take: every test as often as it is tried.
    #[must_use]
    pub fn max_runs(&self) -> usize {
        self.tests.len() * MAX_TRIES as usize
    }

    /// Takes in what another worker with the same suite did.
    pub fn absorb(&mut self, other: &Self) {
        for (mine, theirs) in self.tests.iter_mut().zip(&other.tests) {
            mine.done |= theirs.done;
        }
    }

    fn open(&self, at: usize) -> bool {
        !self.tests[at].done && self.tests[at].tries < MAX_TRIES
    }

    /// An open test that `history` is a beginning of; the current one first.
    fn fitting(&self, history: &Trace) -> Option<usize> {
        let fits = |&at: &usize| {
            let labels = &self.tests[at].trace.labels;
            history.len() <= labels.len() && labels[..history.len()] == history.labels[..]
        };
        let others = (0..self.tests.len()).filter(|&at| self.open(at));
        self.current.into_iter().chain(others).find(fits)
    }
}

impl Tester for Killer {
    fn start(&mut self, _seed: u64) {
        self.current = (0..self.tests.len()).find(|&at| self.open(at));
        if let Some(at) = self.current {
            self.tests[at].tries += 1;
        }
    }

    fn next(&mut self, _cx: &mut Ctx<'_>, _after: &After, history: &Trace) -> Move {
        let Some(current) = self.current else {
            return Move::Stop(Stop::GoalMissed("there is no test left to run".into()));
        };
        if history.len() > self.tests[current].trace.len()
            && history.labels[..self.tests[current].trace.len()] == self.tests[current].trace.labels[..]
        {
            self.tests[current].done = true;
            return Move::Stop(Stop::GoalMet(format!("test {} was carried out", current + 1)));
        }
        let Some(at) = self.fitting(history) else {
            let text = "the system took another way that is allowed; no test goes on from here";
            return Move::Stop(Stop::GoalMissed(text.into()));
        };
        self.current = Some(at);
        match self.tests[at].trace.labels.get(history.len()) {
            Some(label @ Label::Input(..)) => Move::Stimulate(label.clone()),
            Some(_) | None => Move::Observe,
        }
    }

    fn share(&mut self, worker: usize, jobs: usize) {
        for (at, test) in self.tests.iter_mut().enumerate() {
            if at % jobs.max(1) != worker {
                test.tries = MAX_TRIES;
            }
        }
    }

    fn is_done(&self) -> bool {
        (0..self.tests.len()).all(|at| !self.open(at))
    }
}
