//! Testing a hypothesis with values: complete suites of the machine unrolled over a few values, then walks.
//!
//! On inputs whose values are constants or one of `d` others, a register automaton is a finite machine. A suite that is
//! complete for `k` extra states ([`ioxide_fsm::suite`]) shows that the system is the same machine on these inputs, or
//! has more than `k` states more on them. Words that compare alike are asked once, so a suite costs a fraction of its
//! size.
//!
//! *Promise.* [`DataGuarantee::Complete`] is only told of a hypothesis that has passed all of such a suite. It
//! *assumes* that values are compared as the signature says, and with no other constants.

use std::fmt;
use std::ops::ControlFlow;

use ioxide_fsm::mealy::InputId;
use ioxide_fsm::suite::SuiteMethod;
use ioxide_model::counted::count_noun;
use ioxide_model::index::Idx;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::learner::{DataLearnError, DataLearner, DataObserver, UnexpectedDataAnswer};
use super::machine::{DataSystem, RegisterMachine};
use super::place::{AnswerValue, DataInput, DataWord, ValuePlace, ValuePoint};
pub use super::unrolled::UnrolledMachine;

/// Walks that are planned before the first of them is made. Chosen by feel, as is the next.
const WALKS_AT_ONCE: usize = 64;

/// Words that every copy of a system is given ahead. Chosen by feel: no copy waits, and few answers are in vain once a
/// word refutes the machine.
const WORDS_PER_COPY: usize = 4;

/// The parameters of testing a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataExamination {
    /// The method that makes the suites.
    pub method: SuiteMethod,
    /// The greatest number of extra states, for which suites are made from 0 up.
    pub extra: usize,
    /// Values, in addition to the constants, over which the hypothesis is unrolled; with an order, between any two
    /// constants.
    pub values: usize,
    /// The number of random walks after the suites.
    pub walks: usize,
    /// The number of inputs of a walk.
    pub walk_length: usize,
    /// Seed of the order of tests and of the walks.
    pub seed: u64,
}

/// The guarantee for a machine against which no further test has spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataGuarantee {
    /// On inputs over the constants and `values` others, the machine is equivalent to the system if the system has at
    /// most `states + extra` states on them.
    Complete {
        /// The number of values in addition to the constants; with an order, in every gap between constants.
        values: usize,
        /// States of the machine on these values.
        states: usize,
        /// The number of states the system may have beyond these.
        extra: usize,
    },
    /// The machine agrees with all observations; nothing is guaranteed beyond them.
    Consistent,
}

/// A stage of learning, as reported to a [`DataWatch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataStage {
    /// A machine was made.
    Hypothesis {
        /// Its locations.
        locations: usize,
        /// The most registers of a location.
        registers: usize,
    },
    /// A suite is being applied.
    Testing {
        /// Locations of the machine.
        locations: usize,
        /// Extra states of the suite.
        extra: usize,
        /// Tests done.
        done: usize,
        /// Tests of the suite.
        of: usize,
    },
    /// All of a suite was passed.
    Passed {
        /// The number of values in addition to the constants; with an order, in every gap between constants.
        values: usize,
        /// States of the machine on these values.
        states: usize,
        /// Extra states of the suite.
        extra: usize,
    },
    /// Random walks are made.
    Walking {
        /// Walks done.
        done: usize,
        /// Walks wanted.
        of: usize,
    },
}

impl fmt::Display for DataStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Hypothesis { locations, registers } => {
                let registers = count_noun(registers, "register");
                write!(f, "{}, at most {registers}", count_noun(locations, "location"))
            }
            Self::Testing { locations, extra, done, of } => {
                write!(f, "{}: test {done} of {of} for {extra} extra", count_noun(locations, "location"))
            }
            Self::Passed { values, states, extra } => {
                let values = count_noun(values, "value");
                write!(f, "{} on {values}: passed for {extra} extra", count_noun(states, "state"))
            }
            Self::Walking { done, of } => write!(f, "walk {done} of {of}"),
        }
    }
}

/// A machine that was learned.
#[derive(Clone, Debug)]
pub struct DataLearned {
    /// The machine.
    pub machine: RegisterMachine,
    /// The guarantee for the machine.
    pub guarantee: DataGuarantee,
    /// The number of hypotheses, the last included.
    pub hypotheses: usize,
    /// The words that refuted the hypotheses before the last.
    pub surprises: Vec<DataWord>,
    /// True if the watch broke off before everything was tested.
    pub is_stopped: bool,
}

/// The callback that receives every stage, with the hypothesis and the observer, and may break off.
pub type DataWatch<'w, S> = dyn FnMut(DataStage, &RegisterMachine, &DataObserver<S>) -> ControlFlow<()> + 'w;

/// Learns a register automaton and tests it, until no test speaks against it or `watch` breaks off. Every hypothesis
/// is first tested with the words of `first`, such as those that refuted hypotheses of an earlier version.
///
/// # Errors
/// If the system cannot be queried, or contradicts itself.
pub fn learn_data<S: DataSystem>(
    observer: &mut DataObserver<S>,
    examination: &DataExamination,
    first: &[DataWord],
    watch: &mut DataWatch<'_, S>,
) -> Result<DataLearned, DataLearnError<S::Error>> {
    let mut learner = DataLearner::new(&observer.tree);
    let mut rng = ChaCha8Rng::seed_from_u64(examination.seed);
    let (mut hypotheses, mut surprises) = (0, Vec::new());
    loop {
        let machine = learner.hypothesis(observer)?;
        hypotheses += 1;
        let stage =
            DataStage::Hypothesis { locations: machine.locations.len(), registers: machine.n_registers() };
        let mut exam = RegisterExam {
            observer,
            machine: &machine,
            examination,
            first,
            rng: &mut rng,
            watch,
            is_stopped: false,
        };
        exam.notify_watch(stage);
        let (found, guarantee) = if exam.is_stopped {
            (None, DataGuarantee::Consistent)
        } else {
            match exam.examine() {
                Ok(found) => found,
                // Nothing has spoken against the machine so far: if somebody wanted to stop anyway, it will do.
                Err(DataLearnError::System(error)) => {
                    exam.notify_watch(stage);
                    if !exam.is_stopped {
                        return Err(DataLearnError::System(error));
                    }
                    (None, DataGuarantee::Consistent)
                }
                Err(error) => return Err(error),
            }
        };
        let is_stopped = exam.is_stopped;
        match found {
            Some(word) => {
                learner.learn_from_counterexample(observer, &machine, &word)?;
                surprises.push(word);
            }
            None => return Ok(DataLearned { machine, guarantee, hypotheses, surprises, is_stopped }),
        }
    }
}

struct RegisterExam<'e, 'w, S> {
    observer: &'e mut DataObserver<S>,
    machine: &'e RegisterMachine,
    examination: &'e DataExamination,
    first: &'e [DataWord],
    rng: &'e mut ChaCha8Rng,
    watch: &'e mut DataWatch<'w, S>,
    is_stopped: bool,
}

type FoundWord = (Option<DataWord>, DataGuarantee);

impl<S: DataSystem> RegisterExam<'_, '_, S> {
    fn notify_watch(&mut self, stage: DataStage) {
        self.is_stopped |= (self.watch)(stage, self.machine, self.observer).is_break();
    }

    /// Returns a word that is not answered as believed, if one is found, and the guarantee reached before.
    fn examine(&mut self) -> Result<FoundWord, DataLearnError<S::Error>> {
        let mut guarantee = DataGuarantee::Consistent;
        self.observer.ask_ahead(self.first)?;
        for word in self.first {
            if self.is_wrong(word)? {
                return Ok((Some(word.clone()), guarantee));
            }
        }
        // Guarantees are raised suite by suite and never lowered: what was passed for `extra` states holds of this
        // hypothesis whatever the next suite, which is larger, finds. A word that is found ends this hypothesis and its
        // guarantee. On finitely many values the hypothesis is an ordinary machine, and suites for those are complete
        // for it.
        if let Some(unrolled) = UnrolledMachine::new(self.machine, self.examination.values) {
            for extra in 0..=self.examination.extra {
                let Some(tests) = unrolled.build_suite(self.examination.method, extra) else { break };
                if let Some(word) = self.apply_tests(&unrolled, tests, extra)? {
                    return Ok((Some(word), guarantee));
                }
                if self.is_stopped {
                    return Ok((None, guarantee));
                }
                let (values, states) = (unrolled.n_values(), unrolled.n_states());
                guarantee = DataGuarantee::Complete { values, states, extra };
                self.notify_watch(DataStage::Passed { values, states, extra });
            }
        }
        Ok((self.walk_randomly()?, guarantee))
    }

    fn apply_tests(
        &mut self,
        unrolled: &UnrolledMachine,
        mut tests: Vec<Vec<InputId>>,
        extra: usize,
    ) -> Result<Option<DataWord>, DataLearnError<S::Error>> {
        // Tests of one place fail together, so chance finds a failure sooner than the order of the suite.
        tests.shuffle(self.rng);
        let (of, locations) = (tests.len(), self.machine.locations.len());
        let batch = WORDS_PER_COPY * self.observer.system.width();
        for (number, tests) in tests.chunks(batch).enumerate() {
            let words: Vec<DataWord> =
                tests.iter().map(|test| unrolled.word_for_test(self.machine, test)).collect();
            self.observer.ask_ahead(&words)?;
            for (at, word) in words.into_iter().enumerate() {
                if self.is_wrong(&word)? {
                    return Ok(Some(word));
                }
                let done = number * batch + at;
                if done.is_multiple_of(64) {
                    self.notify_watch(DataStage::Testing { locations, extra, done, of });
                }
                if self.is_stopped {
                    return Ok(None);
                }
            }
        }
        Ok(None)
    }

    /// Returns whether `word` is answered otherwise than the hypothesis says; notes the surprise in the observer.
    fn is_wrong(&mut self, word: &[DataInput]) -> Result<bool, DataLearnError<S::Error>> {
        let Some(answers) = self.observer.ask_word(word)? else { return Ok(false) };
        let mut at = self.machine.start();
        for (number, (input, answer)) in word.iter().zip(&answers).enumerate() {
            let Some((believed, next)) = self.machine.step(&at, input) else { return Ok(false) };
            if believed != *answer {
                let seen = word.iter().cloned().zip(answers).take(number + 1).collect();
                self.observer.surprise = Some(UnexpectedDataAnswer { seen, believed });
                return Ok(true);
            }
            at = next;
        }
        Ok(false)
    }

    fn walk_randomly(&mut self) -> Result<Option<DataWord>, DataLearnError<S::Error>> {
        let of = self.examination.walks;
        for done in (0..of).step_by(WALKS_AT_ONCE) {
            self.notify_watch(DataStage::Walking { done, of });
            // As many at once with copies of the system as without: so the same ones.
            let words: Vec<DataWord> =
                (done..of.min(done + WALKS_AT_ONCE)).map(|_| self.random_word()).collect();
            for words in words.chunks(WORDS_PER_COPY * self.observer.system.width()) {
                if self.is_stopped {
                    return Ok(None);
                }
                self.observer.ask_ahead(words)?;
                for word in words {
                    if self.is_wrong(word)? {
                        return Ok(Some(word.clone()));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Inputs by chance, with values that came before as often as new ones.
    fn random_word(&mut self) -> DataWord {
        let signature = &self.machine.signature;
        let (mut known, mut hollow) = (signature.constants.clone(), Vec::new());
        let mut at = Some(self.machine.start());
        let mut word = DataWord::new();
        for _ in 0..self.examination.walk_length {
            let gate = InputId::new(self.rng.random_range(0..signature.arity.len()));
            let mut values = Vec::new();
            for number in 0..signature.n_values(gate) {
                let is_given = number < signature.arity[gate.index()];
                // Half of the values came before: purely new ones would hardly ever meet what is stored.
                let again = known.choose(self.rng).copied().filter(|_| self.rng.random_bool(0.5));
                let gap = self.rng.random_range(0..=known.len());
                let place = ValuePlace::New(u32::try_from(gap).unwrap_or(0));
                let fresh = || signature.value_at(&known, &hollow, place);
                let value = again.filter(|_| is_given).unwrap_or_else(fresh);
                if !known.contains(&value) {
                    known.push(value);
                }
                values.push(value);
            }
            let input = DataInput { gate, values };
            let step = at.and_then(|at| self.machine.step(&at, &input));
            // What is thought not to be made up is not given back.
            let is_said = |slot: &ValuePoint| {
                step.as_ref().is_some_and(|(answer, _)| answer.values.contains(&AnswerValue::Point(*slot)))
            };
            let unsaid: Vec<ValuePoint> =
                signature.slots(&input).iter().copied().filter(|slot| !is_said(slot)).collect();
            known.retain(|value| !unsaid.contains(value));
            hollow.extend(unsaid);
            at = step.map(|(_, next)| next);
            word.push(input);
        }
        word
    }
}
