//! Testing a hypothesis: moves in doubt, complete suites in random order, walks, and what is promised afterwards.
//!
//! First every move is settled ([`Learner::settle_next`]): that costs a fraction of a suite, because a question is made
//! for one doubt, and it already shows that the system is the hypothesis or has more states. A suite that is complete
//! for `k` extra states is passed only by systems that are the hypothesis or have more than `n + k` states
//! ([`ioxide_fsm::suite`]). The one for none is applied too: it promises nothing new, but its words are long and few,
//! and find many of the states that are missing before a suite for more states must be made. Tests come in random
//! order, newer ones sooner (`pool`). A test that is in the tree costs nothing, and a test ends at its first
//! surprise.
//!
//! With a new state a new suite is made. Nothing is promised before a whole suite for the final hypothesis was passed.
//!
//! *Promise.* [`LearnedGuarantee::Complete`] is only ever told of a hypothesis that has passed all of such a suite or,
//! for no extra state, of which no move is in doubt.

#[doc(hidden)]
pub mod pool;
mod suites;

pub use suites::OracleSuites;

use std::fmt;
use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, Mealy, SuiteModel};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::suite::SuiteMethod;
use ioxide_model::counted::count_noun;
use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::pool::TestPool;
use crate::learner::{Learner, SettlingStep};
use crate::observer::{LearnError, SystemObserver};

/// Tests that each copy of the system is given at a time: enough to keep copies busy, few enough to lose little when
/// one of them changes the hypothesis. Chosen by feel.
const TESTS_PER_COPY: usize = 8;

/// Tests that are drawn at a time; novelty is measured when they are drawn. Chosen by feel.
const TESTS_PER_DRAW: usize = 64;

/// Words of `P · Σ^(extra+1)` above which a suite is not made, since it would take too long. Chosen by feel.
const MAX_WORDS: usize = 4_000_000;

/// The parameters of testing a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HypothesisTest {
    /// The methods that make the suites.
    pub suites: OracleSuites,
    /// The greatest number of extra states, for which suites are made from 0 up; `None` for walks only, without
    /// settling.
    pub extra: Option<usize>,
    /// The number of random walks after the suites.
    pub walks: usize,
    /// The number of inputs of a walk.
    pub walk_length: usize,
    /// Seed of the order of tests and of the walks.
    pub seed: u64,
}

/// The guarantee for a machine against which no further test has spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnedGuarantee {
    /// The machine is equivalent to the system if the system has at most `states + extra` states.
    Complete {
        /// States of the machine.
        states: usize,
        /// The number of states the system may have beyond these.
        extra: usize,
    },
    /// The machine agrees with all observations; nothing is guaranteed beyond them.
    Consistent,
}

impl LearnedGuarantee {
    /// The guarantee in words.
    #[must_use]
    pub fn description(self) -> String {
        match self {
            Self::Complete { states, extra } => {
                let noun = if states + extra == 1 { "state" } else { "states" };
                format!("exact if the system has at most {} {noun} ({states} + {extra})", states + extra)
            }
            Self::Consistent => "agrees with all observations; nothing is guaranteed beyond them".into(),
        }
    }
}

/// A stage of learning, as reported to a [`LearningWatch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningStage {
    /// A machine was made.
    Hypothesis {
        /// The number of its states.
        states: usize,
    },
    /// Moves in doubt are being settled.
    Settling {
        /// States of the machine.
        states: usize,
        /// The number of the move.
        done: usize,
        /// Moves of the machine.
        of: usize,
    },
    /// A suite is being made or applied.
    Testing {
        /// States of the machine.
        states: usize,
        /// Extra states of the suite.
        extra: usize,
        /// Tests done.
        done: usize,
        /// Tests of the suite; while it is made, those so far.
        of: usize,
    },
    /// All of a suite was passed, by the machine as it is.
    Passed {
        /// States of the machine.
        states: usize,
        /// Extra states of the suite.
        extra: usize,
    },
    /// Random walks are made.
    Walking {
        /// States of the machine.
        states: usize,
        /// Walks done.
        done: usize,
        /// Walks wanted.
        of: usize,
    },
}

impl fmt::Display for LearningStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count_states = |states| count_noun(states, "state");
        match *self {
            Self::Hypothesis { states } => write!(f, "a machine with {}", count_states(states)),
            Self::Settling { states, done, of } => {
                write!(f, "{}: where move {done} of {of} leads", count_states(states))
            }
            Self::Testing { states, extra, done, of } => {
                write!(f, "{}: test {done} of {of} for {extra} extra", count_states(states))
            }
            Self::Passed { states, extra } => {
                write!(f, "{}: passed for {extra} extra", count_states(states))
            }
            Self::Walking { states, done, of } => {
                write!(f, "{}: walk {done} of {of}", count_states(states))
            }
        }
    }
}

/// A machine that was learned.
#[derive(Clone, Debug)]
pub struct LearnedMachine {
    /// The machine; its ids are those of the system.
    pub machine: Mealy,
    /// The guarantee for the machine.
    pub guarantee: LearnedGuarantee,
    /// The number of hypotheses, the last included.
    pub hypotheses: usize,
    /// True if the watch broke off before everything was tested.
    pub is_stopped: bool,
}

/// The callback that receives every stage, with the learner and the observer, and may break off.
pub type LearningWatch<'w, L> =
    dyn FnMut(LearningStage, &Learner, &SystemObserver<L>) -> ControlFlow<()> + 'w;

/// Asks a suite of `reference`, such as an earlier version of the system: where the system is equivalent to it, most
/// of what there is to learn is known then, and where it is not, little is lost, since the tests of a hypothesis ask
/// much of it anyway. `inputs` maps each input of the reference to one of the system; a word ends at the first
/// without. After \[KJR24], with a suite of the reference in the place of its separate rules.
///
/// # Errors
/// If the system cannot be queried, or contradicts itself.
pub fn ask_reference_suite<L: LiveMachine>(
    observer: &mut SystemObserver<L>,
    reference: &SuiteModel,
    inputs: &[Option<InputId>],
) -> Result<(), LearnError<L::Error>> {
    let mut suite = SuiteMethod::S.suite(reference, 0);
    let mut words = Vec::new();
    while let Some(word) = suite.advance() {
        let word: Vec<InputId> = word.iter().map_while(|input| inputs[input.index()]).collect();
        words.push(word);
    }
    // A batch ahead for the copies, then word by word in the order of the suite: the tree grows as without copies.
    let batch = TESTS_PER_COPY * observer.live.width();
    for next in words.chunks(batch) {
        observer.ask_ahead(next.iter().map(Vec::as_slice))?;
        for word in next {
            observer.ask_word(word)?;
        }
    }
    Ok(())
}

/// Learns a machine and tests it, until nothing is found or `watch` breaks off.
///
/// # Errors
/// If the system cannot be queried, or contradicts itself.
pub fn learn<L: LiveMachine>(
    observer: &mut SystemObserver<L>,
    examination: &HypothesisTest,
    watch: &mut LearningWatch<'_, L>,
) -> Result<LearnedMachine, LearnError<L::Error>> {
    let learner = Learner::new(&observer.tree);
    let rng = ChaCha8Rng::seed_from_u64(examination.seed);
    let mut search = OracleSearch {
        learner,
        observer,
        examination,
        rng,
        watch,
        last: None,
        hypotheses: 0,
        is_stopped: false,
    };
    loop {
        let (machine, guarantee) = match search.run_round() {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            // A time limit that ends a question looks like a broken connection; the watch knows which it was.
            Err(LearnError::System(error)) => {
                (search.machine_after_failure(error)?, LearnedGuarantee::Consistent)
            }
            Err(error) => return Err(error),
        };
        let OracleSearch { hypotheses, is_stopped, .. } = search;
        return Ok(LearnedMachine { machine, guarantee, hypotheses, is_stopped });
    }
}

struct OracleSearch<'s, L> {
    learner: Learner,
    observer: &'s mut SystemObserver<L>,
    examination: &'s HypothesisTest,
    rng: ChaCha8Rng,
    watch: &'s mut LearningWatch<'s, L>,
    /// The last machine, as long as nothing was seen that speaks against it.
    last: Option<Mealy>,
    hypotheses: usize,
    is_stopped: bool,
}

/// The outcome of a round of tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestRound {
    /// No test spoke against the hypothesis.
    Passed,
    /// The hypothesis has changed.
    Changed,
    /// The watch broke off.
    Stopped,
}

impl<L: LiveMachine> OracleSearch<'_, L> {
    fn notify_watch(&mut self, stage: LearningStage) {
        self.is_stopped |= (self.watch)(stage, &self.learner, self.observer).is_break();
    }

    fn notify_hypothesis(&mut self) {
        self.hypotheses += 1;
        self.notify_watch(LearningStage::Hypothesis { states: self.learner.n_states() });
    }

    /// Makes a machine and tests it; returns it with its guarantee if no test spoke against it or the watch broke
    /// off, else `None`.
    fn run_round(&mut self) -> Result<Option<(Mealy, LearnedGuarantee)>, LearnError<L::Error>> {
        let machine = self.learner.hypothesis(self.observer)?;
        // Kept for the case that the connection breaks during the tests: until something speaks against it, it is the
        // best.
        self.last = Some(machine.clone());
        self.notify_hypothesis();
        let guarantee = if self.is_stopped {
            Some(LearnedGuarantee::Consistent)
        } else {
            self.test_hypothesis(&machine)?
        };
        Ok(guarantee.map(|guarantee| (machine, guarantee)))
    }

    /// Returns the last machine after the connection broke, if the watch breaks off now or has before; else the
    /// error.
    fn machine_after_failure(&mut self, error: L::Error) -> Result<Mealy, LearnError<L::Error>> {
        self.notify_watch(LearningStage::Hypothesis { states: self.learner.n_states() });
        self.last.take().filter(|_| self.is_stopped).ok_or(LearnError::System(error))
    }

    /// Tests `machine` and returns its guarantee; `None` if the hypothesis has changed.
    fn test_hypothesis(&mut self, machine: &Mealy) -> Result<Option<LearnedGuarantee>, LearnError<L::Error>> {
        let states = machine.n_states();
        let mut guarantee = LearnedGuarantee::Consistent;
        let Some(most) = self.examination.extra else { return self.guarantee_after_walks(states, guarantee) };
        match self.settle_moves()? {
            TestRound::Passed => self.raise_guarantee(&mut guarantee, states, 0),
            TestRound::Changed => return Ok(None),
            TestRound::Stopped => return Ok(Some(guarantee)),
        }
        // From none up: a suite for fewer states is smaller by a factor of the inputs, and finds most of what is wrong.
        for extra in 0..=most {
            let Some(mut tests) = self.build_suite(machine, extra) else { break };
            match self.apply_tests(&mut tests, states, extra)? {
                TestRound::Passed if extra > 0 => self.raise_guarantee(&mut guarantee, states, extra),
                // Settling has promised that much already.
                TestRound::Passed => (),
                TestRound::Changed => return Ok(None),
                TestRound::Stopped => return Ok(Some(guarantee)),
            }
        }
        self.guarantee_after_walks(states, guarantee)
    }

    fn raise_guarantee(&mut self, guarantee: &mut LearnedGuarantee, states: usize, extra: usize) {
        debug_assert_eq!(states, self.learner.n_states(), "a promise is about the hypothesis as it is now");
        *guarantee = LearnedGuarantee::Complete { states, extra };
        self.notify_watch(LearningStage::Passed { states, extra });
    }

    /// Asks about moves until none is in doubt.
    fn settle_moves(&mut self) -> Result<TestRound, LearnError<L::Error>> {
        let (mut at, mut asked, mut has_changed) = (0, 0_usize, false);
        loop {
            match self.learner.settle_next(self.observer, &mut at)? {
                SettlingStep::Settled if has_changed => return Ok(TestRound::Changed),
                SettlingStep::Settled => return Ok(TestRound::Passed),
                SettlingStep::Asked => asked += 1,
                SettlingStep::Changed => {
                    has_changed = true;
                    self.last = None;
                    self.notify_hypothesis();
                }
            }
            if asked.is_multiple_of(64) {
                let (states, of) = (self.learner.n_states(), self.learner.n_moves());
                self.notify_watch(LearningStage::Settling { states, done: at, of });
            }
            if self.is_stopped {
                return Ok(if has_changed { TestRound::Changed } else { TestRound::Stopped });
            }
        }
    }

    /// Makes the walks and returns `guarantee`; `None` if the hypothesis has changed.
    fn guarantee_after_walks(
        &mut self,
        states: usize,
        guarantee: LearnedGuarantee,
    ) -> Result<Option<LearnedGuarantee>, LearnError<L::Error>> {
        match self.walk_randomly(states)? {
            TestRound::Changed => Ok(None),
            TestRound::Passed | TestRound::Stopped => Ok(Some(guarantee)),
        }
    }

    /// Returns the suite for `extra` more states; `None` if it would be too large or the watch broke off.
    fn build_suite(&mut self, machine: &Mealy, extra: usize) -> Option<TestPool> {
        // Estimated before it is made: a suite that takes too long would also fill the memory.
        let words = machine.n_inputs().saturating_pow(u32::try_from(extra + 1).ok()?);
        if words.saturating_mul(machine.n_states()) > MAX_WORDS {
            return None;
        }
        let spec = SuiteModel::check(machine).ok()?;
        let HypothesisTest { suites, extra: most, .. } = *self.examination;
        let mut suite = suites.method_for(extra, most.unwrap_or(extra)).suite(&spec, extra);
        let mut tests = TestPool::default();
        let states = machine.n_states();
        while let Some(word) = suite.advance() {
            tests.push(word);
            let of = tests.count_tests();
            if of.is_multiple_of(4096) {
                self.notify_watch(LearningStage::Testing { states, extra, done: 0, of });
            }
            if self.is_stopped {
                return None;
            }
        }
        Some(tests)
    }

    /// Applies all tests, until there is a new state or the watch breaks off.
    fn apply_tests(
        &mut self,
        tests: &mut TestPool,
        states: usize,
        extra: usize,
    ) -> Result<TestRound, LearnError<L::Error>> {
        let (of, mut done, mut has_changed) = (tests.count_tests(), 0, false);
        let batch = TESTS_PER_COPY * self.observer.live.width();
        loop {
            let drawn = tests.draw_tests(TESTS_PER_DRAW, &self.observer.tree, &mut self.rng);
            if drawn.is_empty() {
                return Ok(if has_changed { TestRound::Changed } else { TestRound::Passed });
            }
            self.notify_watch(LearningStage::Testing { states, extra, done, of });
            for next in drawn.chunks(batch) {
                self.observer.ask_ahead(next.iter().map(|&test| tests.test_word(test)))?;
                for &test in next {
                    // Again until it is answered as believed: one word can contradict several beliefs in turn.
                    while self.is_refuted_by(tests.test_word(test))? {
                        has_changed = true;
                    }
                    done += 1;
                    // The suite was made for fewer states, so passing the rest of it would promise nothing. As long as
                    // only targets of moves have changed, the rest is worth applying: its words are as good as others.
                    if self.learner.n_states() > states {
                        return Ok(TestRound::Changed);
                    }
                    if self.is_stopped {
                        return Ok(if has_changed { TestRound::Changed } else { TestRound::Stopped });
                    }
                }
            }
        }
    }

    /// Returns whether `word` was not answered as believed; beliefs have changed then.
    fn is_refuted_by(&mut self, word: &[InputId]) -> Result<bool, LearnError<L::Error>> {
        let Some(length) = self.learner.test(self.observer, word)? else { return Ok(false) };
        self.last = None;
        // Not a new hypothesis at once: beliefs are mended and completed, and the tests of the suite go on.
        self.learner.learn_from_counterexample(self.observer, &word[..length])?;
        self.learner.complete(self.observer)?;
        self.notify_hypothesis();
        Ok(true)
    }

    fn walk_randomly(&mut self, states: usize) -> Result<TestRound, LearnError<L::Error>> {
        let of = self.examination.walks;
        for done in 0..of {
            let n_inputs = self.observer.tree.n_inputs();
            let word: Vec<InputId> = (0..self.examination.walk_length)
                .map(|_| InputId::new(self.rng.random_range(0..n_inputs)))
                .collect();
            if self.is_refuted_by(&word)? {
                return Ok(TestRound::Changed);
            }
            if done % 64 == 0 {
                self.notify_watch(LearningStage::Walking { states, done, of });
            }
            if self.is_stopped {
                return Ok(TestRound::Stopped);
            }
        }
        Ok(TestRound::Passed)
    }
}
