//! Testing a hypothesis with values: complete suites of the machine unrolled over a few values, then walks.
//!
//! On inputs whose values are constants or one of `d` others, a register automaton is a finite machine. A suite that is
//! complete for `k` extra states ([`ioxide_fsm::suite`]) shows that the system is the same machine on these inputs, or
//! has more than `k` states more on them. Words that compare alike are asked once, so a suite costs a fraction of its
//! size.
//!
//! *Promise.* [`DataGuarantee::Complete`] is only told of a hypothesis that has passed all of such a suite. It
//! *assumes* that values are compared as the signature says, and with no other constants.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, Mealy, Spec};
use ioxide_fsm::suite::Method;
use ioxide_model::index::Idx;
use rand::seq::{IndexedRandom, SliceRandom};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::learner::{DataLearnError, DataLearner, DataObserver};
use super::machine::{DataSystem, RegisterMachine};
use super::place::{DataAnswer, DataInput, DataWord, Place, Point, Signature, Theory};

/// States of an unrolled machine above which no suite is made of it.
const MAX_STATES: usize = 5_000;

/// Inputs of an unrolled machine above which no suite is made of it.
const MAX_INPUTS: usize = 400;

/// Words after every state above which a suite is not made.
const MAX_WORDS: usize = 1_000_000;

/// How a hypothesis is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataExamination {
    /// How the suites are made.
    pub method: Method,
    /// Suites for 0, 1, … up to this many extra states.
    pub extra: usize,
    /// Values, beside the constants, over which the hypothesis is unrolled; with an order, between any two constants.
    pub values: usize,
    /// Random walks after the suites.
    pub walks: usize,
    /// Inputs of a walk.
    pub walk_length: usize,
    /// Seed of the order of tests and of the walks.
    pub seed: u64,
}

/// What is known of a machine when nothing was found any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataGuarantee {
    /// It is the system, as far as inputs with so many values show, if the system has at most so many states then.
    Complete {
        /// Different values beside the constants.
        values: usize,
        /// States of the machine on these values.
        states: usize,
        /// How many more the system may have.
        extra: usize,
    },
    /// It agrees with everything that was seen.
    Consistent,
}

/// What is told while learning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataStage {
    /// A machine was made.
    Hypothesis {
        /// Its locations.
        locations: usize,
        /// The most registers of a location.
        registers: usize,
    },
    /// A suite is applied: so many tests of so many are done.
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
    /// Random walks are made.
    Walking {
        /// Walks done.
        done: usize,
        /// Walks wanted.
        of: usize,
    },
}

/// A machine that was learned.
#[derive(Clone, Debug)]
pub struct DataLearned {
    /// The machine.
    pub machine: RegisterMachine,
    /// What is known of it.
    pub guarantee: DataGuarantee,
    /// How many machines were made on the way.
    pub hypotheses: usize,
    /// Whether somebody stopped it before everything was tested.
    pub is_stopped: bool,
}

/// Who is told every stage and may break off.
pub type DataWatch<'w, S> = dyn FnMut(DataStage, &RegisterMachine, &DataObserver<S>) -> ControlFlow<()> + 'w;

/// Learns a register automaton and tests it, until nothing is found or `watch` breaks off.
///
/// # Errors
/// If the system cannot be asked, or contradicts itself.
pub fn learn_data<S: DataSystem>(
    observer: &mut DataObserver<S>,
    examination: &DataExamination,
    watch: &mut DataWatch<'_, S>,
) -> Result<DataLearned, DataLearnError<S::Error>> {
    let mut learner = DataLearner::new(&observer.tree);
    let mut rng = ChaCha8Rng::seed_from_u64(examination.seed);
    let mut hypotheses = 0;
    loop {
        let machine = learner.hypothesis(observer)?;
        hypotheses += 1;
        let stage =
            DataStage::Hypothesis { locations: machine.locations.len(), registers: machine.n_registers() };
        let mut exam =
            Exam { observer, machine: &machine, examination, rng: &mut rng, watch, is_stopped: false };
        exam.tell(stage);
        let (found, guarantee) = match exam.is_stopped {
            true => (None, DataGuarantee::Consistent),
            false => match exam.take() {
                Ok(found) => found,
                // Nothing has spoken against the machine so far: if somebody wanted to stop anyway, it will do.
                Err(DataLearnError::System(error)) => {
                    exam.tell(stage);
                    if !exam.is_stopped {
                        return Err(DataLearnError::System(error));
                    }
                    (None, DataGuarantee::Consistent)
                }
                Err(error) => return Err(error),
            },
        };
        let is_stopped = exam.is_stopped;
        match found {
            Some(word) => learner.refute(observer, &machine, &word)?,
            None => return Ok(DataLearned { machine, guarantee, hypotheses, is_stopped }),
        }
    }
}

struct Exam<'e, 'w, S> {
    observer: &'e mut DataObserver<S>,
    machine: &'e RegisterMachine,
    examination: &'e DataExamination,
    rng: &'e mut ChaCha8Rng,
    watch: &'e mut DataWatch<'w, S>,
    is_stopped: bool,
}

type Found = (Option<DataWord>, DataGuarantee);

impl<S: DataSystem> Exam<'_, '_, S> {
    fn tell(&mut self, stage: DataStage) {
        self.is_stopped |= (self.watch)(stage, self.machine, self.observer).is_break();
    }

    /// A word that is answered differently, or what is promised.
    fn take(&mut self) -> Result<Found, DataLearnError<S::Error>> {
        let mut guarantee = DataGuarantee::Consistent;
        if let Some(unrolled) = Unrolled::new(self.machine, self.examination.values) {
            for extra in 0..=self.examination.extra {
                let Some(tests) = unrolled.suite(self.examination.method, extra) else { break };
                if let Some(word) = self.apply(&unrolled, tests, extra)? {
                    return Ok((Some(word), guarantee));
                }
                if self.is_stopped {
                    return Ok((None, guarantee));
                }
                let (values, states) = (unrolled.n_values, unrolled.spec.n_states());
                guarantee = DataGuarantee::Complete { values, states, extra };
            }
        }
        Ok((self.walk()?, guarantee))
    }

    fn apply(
        &mut self,
        unrolled: &Unrolled,
        mut tests: Vec<Vec<InputId>>,
        extra: usize,
    ) -> Result<Option<DataWord>, DataLearnError<S::Error>> {
        tests.shuffle(self.rng);
        let (of, locations) = (tests.len(), self.machine.locations.len());
        for (done, test) in tests.iter().enumerate() {
            let word: DataWord = test.iter().map(|input| unrolled.inputs[input.index()].clone()).collect();
            if self.is_wrong(&word)? {
                return Ok(Some(word));
            }
            if done % 64 == 0 {
                self.tell(DataStage::Testing { locations, extra, done, of });
            }
            if self.is_stopped {
                break;
            }
        }
        Ok(None)
    }

    /// Whether `word` is answered otherwise than believed.
    fn is_wrong(&mut self, word: &[DataInput]) -> Result<bool, DataLearnError<S::Error>> {
        let Some(answers) = self.observer.ask(word)? else { return Ok(false) };
        let mut at = self.machine.start();
        for (input, answer) in word.iter().zip(&answers) {
            let Some((said, next)) = self.machine.step(&at, input) else { return Ok(false) };
            if said != *answer {
                return Ok(true);
            }
            at = next;
        }
        Ok(false)
    }

    fn walk(&mut self) -> Result<Option<DataWord>, DataLearnError<S::Error>> {
        let of = self.examination.walks;
        for done in 0..of {
            let word = self.random_word();
            if self.is_wrong(&word)? {
                return Ok(Some(word));
            }
            if done % 64 == 0 {
                self.tell(DataStage::Walking { done, of });
            }
            if self.is_stopped {
                break;
            }
        }
        Ok(None)
    }

    /// Inputs by chance, with values that came before as often as new ones.
    fn random_word(&mut self) -> DataWord {
        let signature = &self.machine.signature;
        let mut known = signature.constants.clone();
        let mut word = DataWord::new();
        for _ in 0..self.examination.walk_length {
            let gate = InputId::new(self.rng.random_range(0..signature.arity.len()));
            let mut values = Vec::new();
            for _ in 0..signature.arity[gate.index()] {
                let again = known.choose(self.rng).copied().filter(|_| self.rng.random_bool(0.5));
                let gap = self.rng.random_range(0..=known.len());
                let fresh = || signature.at(&known, &[], Place::New(u32::try_from(gap).unwrap_or(0)));
                let value = again.unwrap_or_else(fresh);
                if !known.contains(&value) {
                    known.push(value);
                }
                values.push(value);
            }
            word.push(DataInput { gate, values });
        }
        word
    }
}

/// A machine on inputs with few values.
pub struct Unrolled {
    inputs: Vec<DataInput>,
    spec: Spec,
    n_values: usize,
}

impl Unrolled {
    /// `machine` over its constants and `n_values` others; nothing if that is too large.
    #[must_use]
    pub fn new(machine: &RegisterMachine, n_values: usize) -> Option<Self> {
        let inputs = inputs(&machine.signature, n_values);
        if inputs.len() > MAX_INPUTS {
            return None;
        }
        let mut numbers = BTreeMap::from([(machine.start(), 0)]);
        let mut queue = VecDeque::from([machine.start()]);
        let mut outputs: BTreeMap<Option<DataAnswer>, usize> = BTreeMap::new();
        let mut table = Vec::new();
        while let Some(at) = queue.pop_front() {
            for input in &inputs {
                let (said, next) = match machine.step(&at, input) {
                    Some((said, next)) => (Some(said), next),
                    // No such values: never asked, so anything will do.
                    None => (None, at.clone()),
                };
                let n_states = numbers.len();
                let state = *numbers.entry(next.clone()).or_insert(n_states);
                if state == n_states {
                    queue.push_back(next);
                }
                let n_outputs = outputs.len();
                table.push(Some((state, *outputs.entry(said).or_insert(n_outputs))));
            }
            if numbers.len() > MAX_STATES {
                return None;
            }
        }
        let mealy = Mealy::from_table(numbers.len(), inputs.len(), outputs.len().max(1), &table)?;
        let spec = Spec::reduced(&mealy).ok()?;
        Some(Self { inputs, spec, n_values })
    }

    /// How many states there are.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.spec.n_states()
    }

    /// The tests of a complete suite, unless it is out of proportion.
    fn suite(&self, method: Method, extra: usize) -> Option<Vec<Vec<InputId>>> {
        let words = self.inputs.len().checked_pow(u32::try_from(extra + 1).ok()?)?;
        if words.checked_mul(self.spec.n_states())? > MAX_WORDS {
            return None;
        }
        let mut suite = method.suite(&self.spec, extra);
        let mut tests = Vec::new();
        while let Some(word) = suite.advance() {
            tests.push(word.to_vec());
        }
        Some(tests)
    }
}

/// All inputs whose values are constants or one of `n_values` others.
fn inputs(signature: &Signature, n_values: usize) -> Vec<DataInput> {
    let mut domain = signature.constants.clone();
    let gaps = if signature.theory == Theory::Equality { 1 } else { signature.constants.len() + 1 };
    for gap in (0..gaps).rev() {
        // Gaps among the constants, from above: those below keep their number.
        for _ in 0..n_values {
            let value: Point = signature.at(&domain, &[], Place::New(u32::try_from(gap).unwrap_or(0)));
            domain.push(value);
        }
    }
    domain.sort_unstable();
    let mut all = Vec::new();
    for gate in signature.gates() {
        let mut rows: Vec<Vec<Point>> = vec![Vec::new()];
        for _ in 0..signature.arity[gate.index()] {
            let longer = |row: &Vec<Point>| {
                let row = row.clone();
                domain.iter().map(move |&value| [&row[..], &[value]].concat()).collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(longer).take(MAX_INPUTS + 1).collect();
        }
        all.extend(rows.into_iter().map(|values| DataInput { gate, values }));
    }
    all
}
