//! Testing a hypothesis: moves in doubt, complete suites in random order, walks, and what is promised afterwards.
//!
//! First every move is settled ([`Learner::settle`]): that costs a fraction of a suite, because a question is made for one
//! doubt, and it already shows that the system is the hypothesis or has more states. A suite that is complete for `k` extra
//! states is passed only by systems that are the hypothesis or have more than `n + k` states
//! ([`ioxide_fsm::suite`]). The one for none is applied too: it promises nothing new, but its words are long and few,
//! and find many of the states that are missing before a suite for more states must be made. Tests come in random order,
//! newer ones sooner ([`pool`]). A test that is in the tree costs nothing, and a test ends at its first surprise.
//!
//! With a new state a new suite is made. Nothing is promised before a whole suite for the final hypothesis was passed.
//!
//! *Promise.* [`LearnedGuarantee::Complete`] is only ever told of a hypothesis that has passed all of such a suite or,
//! for no extra state, of which no move is in doubt.

mod pool;
mod suites;

pub use suites::OracleSuites;

use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, Mealy, SuiteModel};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::suite::SuiteMethod;
use ioxide_model::index::Idx;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use self::pool::TestPool;
use crate::learner::{Learner, SettlingStep};
use crate::observer::{LearnError, SystemObserver};

/// Tests that each copy of the system is given at a time.
const AHEAD: usize = 8;

/// Tests that are drawn at a time.
const DRAWN_TOGETHER: usize = 64;

/// Words after every state above which a suite is not made.
const MAX_WORDS: usize = 4_000_000;

/// How a hypothesis is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HypothesisTest {
    /// How the suites are made.
    pub suites: OracleSuites,
    /// Suites for 0, 1, … up to this many extra states; none at all without.
    pub extra: Option<usize>,
    /// Random walks after the suites.
    pub walks: usize,
    /// Inputs of a walk.
    pub walk_length: usize,
    /// Seed of the order of tests and of the walks.
    pub seed: u64,
}

/// What is known of the machine when nothing was found any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearnedGuarantee {
    /// It is the system, if the system has at most this many states.
    Complete {
        /// States of the machine.
        states: usize,
        /// How many more the system may have.
        extra: usize,
    },
    /// It agrees with everything that was seen.
    Consistent,
}

impl LearnedGuarantee {
    /// The guarantee in words.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Complete { states, extra } => {
                format!("exact if the system has at most {} states ({states} + {extra})", states + extra)
            }
            Self::Consistent => "agrees with everything that was seen; nothing is promised beyond".into(),
        }
    }
}

/// What is told while learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LearningStage {
    /// A machine was made.
    Hypothesis {
        /// Its states.
        states: usize,
    },
    /// Moves in doubt are asked about: it is at this move of so many.
    Settling {
        /// States of the machine.
        states: usize,
        /// The number of the move.
        done: usize,
        /// Moves of the machine.
        of: usize,
    },
    /// A suite is applied: so many tests of so many are done.
    Testing {
        /// States of the machine.
        states: usize,
        /// Extra states of the suite.
        extra: usize,
        /// Tests done.
        done: usize,
        /// Tests of the suite.
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

/// A machine that was learned.
#[derive(Clone, Debug)]
pub struct LearnedMachine {
    /// The machine; its ids are those of the system.
    pub machine: Mealy,
    /// What is known of it.
    pub guarantee: LearnedGuarantee,
    /// How many machines were made on the way.
    pub hypotheses: usize,
    /// Whether somebody stopped it before everything was tested.
    pub is_stopped: bool,
}

/// Who is told every stage, with the learner and what is known so far, and may break off.
pub type LearningWatch<'w, L> =
    dyn FnMut(LearningStage, &Learner, &SystemObserver<L>) -> ControlFlow<()> + 'w;

/// Asks what would show that the system is `reference`, such as an earlier version of it: where it is, most of what
/// there is to learn is known then, and where it is not, little is lost, since the tests of a hypothesis ask much of
/// it anyway. `inputs` says which input of the system an input of the reference is. After [KJR24], with a
/// suite of the reference in the place of its separate rules.
///
/// # Errors
/// If the system cannot be asked, or contradicts itself.
pub fn revisit<L: LiveMachine>(
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
    let batch = AHEAD * observer.live.width();
    for next in words.chunks(batch) {
        observer.ahead(next.iter().map(Vec::as_slice))?;
        for word in next {
            observer.ask(word)?;
        }
    }
    Ok(())
}

/// Learns a machine and tests it, until nothing is found or `watch` breaks off.
///
/// # Errors
/// If the system cannot be asked, or contradicts itself.
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
        let (machine, guarantee) = match search.round() {
            Ok(Some(found)) => found,
            Ok(None) => continue,
            Err(LearnError::System(error)) => (search.cut(error)?, LearnedGuarantee::Consistent),
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

/// How a round of tests ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TestRound {
    /// Nothing was found.
    Passed,
    /// The hypothesis has changed.
    Changed,
    /// Somebody stopped it.
    Stopped,
}

impl<L: LiveMachine> OracleSearch<'_, L> {
    fn tell(&mut self, stage: LearningStage) {
        self.is_stopped |= (self.watch)(stage, &self.learner, self.observer).is_break();
    }

    fn told_hypothesis(&mut self) {
        self.hypotheses += 1;
        self.tell(LearningStage::Hypothesis { states: self.learner.n_states() });
    }

    /// Makes a machine and tests it; with its guarantee if nothing was found or somebody stopped it.
    fn round(&mut self) -> Result<Option<(Mealy, LearnedGuarantee)>, LearnError<L::Error>> {
        let machine = self.learner.hypothesis(self.observer)?;
        self.last = Some(machine.clone());
        self.told_hypothesis();
        let guarantee =
            if self.is_stopped { Some(LearnedGuarantee::Consistent) } else { self.examine(&machine)? };
        Ok(guarantee.map(|guarantee| (machine, guarantee)))
    }

    /// The system cannot be asked any more: if somebody wanted to stop anyway, the last machine will do.
    fn cut(&mut self, error: L::Error) -> Result<Mealy, LearnError<L::Error>> {
        self.tell(LearningStage::Hypothesis { states: self.learner.n_states() });
        self.last.take().filter(|_| self.is_stopped).ok_or(LearnError::System(error))
    }

    /// Tests `machine`; the guarantee if it has passed everything.
    fn examine(&mut self, machine: &Mealy) -> Result<Option<LearnedGuarantee>, LearnError<L::Error>> {
        let states = machine.n_states();
        let mut guarantee = LearnedGuarantee::Consistent;
        let Some(most) = self.examination.extra else { return self.walked(states, guarantee) };
        match self.settle()? {
            TestRound::Passed => self.promise(&mut guarantee, states, 0),
            TestRound::Changed => return Ok(None),
            TestRound::Stopped => return Ok(Some(guarantee)),
        }
        for extra in 0..=most {
            let Some(mut tests) = self.suite(machine, extra) else { break };
            match self.apply(&mut tests, states, extra)? {
                TestRound::Passed if extra > 0 => self.promise(&mut guarantee, states, extra),
                TestRound::Passed => (),
                TestRound::Changed => return Ok(None),
                TestRound::Stopped => return Ok(Some(guarantee)),
            }
        }
        self.walked(states, guarantee)
    }

    fn promise(&mut self, guarantee: &mut LearnedGuarantee, states: usize, extra: usize) {
        *guarantee = LearnedGuarantee::Complete { states, extra };
        self.tell(LearningStage::Passed { states, extra });
    }

    /// Asks about moves until none is in doubt.
    fn settle(&mut self) -> Result<TestRound, LearnError<L::Error>> {
        let (mut at, mut asked, mut has_changed) = (0, 0_usize, false);
        loop {
            match self.learner.settle(self.observer, &mut at)? {
                SettlingStep::Settled if has_changed => return Ok(TestRound::Changed),
                SettlingStep::Settled => return Ok(TestRound::Passed),
                SettlingStep::Asked => asked += 1,
                SettlingStep::Changed => {
                    has_changed = true;
                    self.last = None;
                    self.told_hypothesis();
                }
            }
            if asked.is_multiple_of(64) {
                let (states, of) = (self.learner.n_states(), self.learner.n_moves());
                self.tell(LearningStage::Settling { states, done: at, of });
            }
            if self.is_stopped {
                return Ok(if has_changed { TestRound::Changed } else { TestRound::Stopped });
            }
        }
    }

    /// Makes the walks; `guarantee` if they have found nothing.
    fn walked(
        &mut self,
        states: usize,
        guarantee: LearnedGuarantee,
    ) -> Result<Option<LearnedGuarantee>, LearnError<L::Error>> {
        match self.walk(states)? {
            TestRound::Changed => Ok(None),
            TestRound::Passed | TestRound::Stopped => Ok(Some(guarantee)),
        }
    }

    /// The suite for `extra` more states, unless it is out of proportion.
    fn suite(&mut self, machine: &Mealy, extra: usize) -> Option<TestPool> {
        let words = machine.n_inputs().saturating_pow(u32::try_from(extra + 1).ok()?);
        if words.saturating_mul(machine.n_states()) > MAX_WORDS {
            return None;
        }
        let spec = SuiteModel::check(machine).ok()?;
        let HypothesisTest { suites, extra: most, .. } = *self.examination;
        let mut suite = suites.method(extra, most.unwrap_or(extra)).suite(&spec, extra);
        let mut tests = TestPool::default();
        let states = machine.n_states();
        while let Some(word) = suite.advance() {
            tests.push(word);
            let of = tests.len();
            if of.is_multiple_of(4096) {
                self.tell(LearningStage::Testing { states, extra, done: 0, of });
            }
            if self.is_stopped {
                return None;
            }
        }
        Some(tests)
    }

    /// Applies all tests, until there is a new state.
    fn apply(
        &mut self,
        tests: &mut TestPool,
        states: usize,
        extra: usize,
    ) -> Result<TestRound, LearnError<L::Error>> {
        let (of, mut done, mut has_changed) = (tests.len(), 0, false);
        let batch = AHEAD * self.observer.live.width();
        loop {
            let drawn = tests.draw(DRAWN_TOGETHER, &self.observer.tree, &mut self.rng);
            if drawn.is_empty() {
                return Ok(if has_changed { TestRound::Changed } else { TestRound::Passed });
            }
            self.tell(LearningStage::Testing { states, extra, done, of });
            for next in drawn.chunks(batch) {
                self.observer.ahead(next.iter().map(|&test| tests.word(test)))?;
                for &test in next {
                    while self.failed(tests.word(test))? {
                        has_changed = true;
                    }
                    done += 1;
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

    /// Whether `word` was answered otherwise than believed; then beliefs have changed.
    fn failed(&mut self, word: &[InputId]) -> Result<bool, LearnError<L::Error>> {
        let Some(length) = self.learner.test(self.observer, word)? else { return Ok(false) };
        self.last = None;
        self.learner.refute(self.observer, &word[..length])?;
        self.learner.complete(self.observer)?;
        self.told_hypothesis();
        Ok(true)
    }

    fn walk(&mut self, states: usize) -> Result<TestRound, LearnError<L::Error>> {
        let of = self.examination.walks;
        for done in 0..of {
            let n_inputs = self.observer.tree.n_inputs();
            let word: Vec<InputId> = (0..self.examination.walk_length)
                .map(|_| InputId::new(self.rng.random_range(0..n_inputs)))
                .collect();
            if self.failed(&word)? {
                return Ok(TestRound::Changed);
            }
            if done % 64 == 0 {
                self.tell(LearningStage::Walking { states, done, of });
            }
            if self.is_stopped {
                return Ok(TestRound::Stopped);
            }
        }
        Ok(TestRound::Passed)
    }
}
