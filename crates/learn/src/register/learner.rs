//! The learner of register automata: locations, registers and transitions from what is answered.
//!
//! A *basis* node of the tree is a location, its memorable values are the registers. Behind every basis node every
//! region of every input is asked once; the node it leads to is taken for a basis node under some choice of values
//! for its registers, as long as no answer speaks against it (`super::identify`). What speaks against everything is
//! a new location. A word that is not answered as believed is cut in halves until it shows a register that was not
//! known, or a node that is not what it was taken for (`super::refute`).
//!
//! *Promises.* Locations, and registers of a location, are only ever made on proof: no answer of the system can be
//! explained with one of them taken for another, under any choice of values. A machine agrees with all that was seen.

use ioxide_model::index::IndexVec;
use thiserror::Error;

use crate::observer::LearningEffort;

use super::machine::{AnswerField, DataStep, DataSystem, LocationId, RegisterLocation, RegisterMachine};
use super::place::{AnswerValue, DataAnswer, DataInput, DataWord, InputSignature, ValuePoint, ValueRegion};
use super::tree::{DataDisagreement, DataNode, DataTree};

/// The reason why learning cannot go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DataLearnError<E> {
    /// The connection broke.
    #[error("the system cannot be queried")]
    System(E),
    /// Values are compared in some other way than assumed, or the system is not deterministic.
    #[error("the system gives two different replies to inputs whose values compare alike")]
    Disagrees(Box<DataDisagreement>),
    /// A location would need more registers than are allowed.
    #[error("a location would need more than {0} registers")]
    TooMany(usize),
    /// This word speaks against every machine, and shows neither a location nor a register that was not known.
    #[error("no machine that stores and compares values fits the answers")]
    Stuck(DataWord),
}

/// The greatest number of registers of a location. The regions of an input grow faster than its factorial, so more than
/// this many could not be asked in any reasonable time; chosen by feel.
const MAX_REGISTERS: usize = 6;

/// A word that was not answered as believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexpectedDataAnswer {
    /// The inputs and their answers, up to the first that was not expected.
    pub seen: Vec<(DataInput, DataAnswer)>,
    /// The answer believed in place of the last one seen.
    pub believed: DataAnswer,
}

/// A system with values and all that is known of it.
#[derive(Debug)]
pub struct DataObserver<S> {
    /// The system.
    pub system: S,
    /// The answers of the system, asked or recalled.
    pub tree: DataTree,
    /// The cost of asking so far.
    pub effort: LearningEffort,
    /// Answers from earlier sessions and of copies of the system, which are given in its place.
    memory: Option<DataTree>,
    /// The last word that was not answered as a hypothesis says.
    pub surprise: Option<UnexpectedDataAnswer>,
}

impl<S: DataSystem> DataObserver<S> {
    /// An observer of `system` that knows nothing yet.
    pub fn new(system: S, signature: InputSignature) -> Self {
        let (effort, tree) = (LearningEffort::default(), DataTree::new(signature));
        Self { system, tree, effort, memory: None, surprise: None }
    }

    /// Returns the same observer with `memory` to answer in the place of the system as far as it goes.
    #[must_use]
    pub fn with_memory(mut self, memory: DataTree) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Returns the answers to `word` in its own values; `None` if no values of the system compare so, or if it gave
    /// fewer answers than inputs.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn ask_word(
        &mut self,
        word: &[DataInput],
    ) -> Result<Option<Vec<DataAnswer>>, DataLearnError<S::Error>> {
        // First the tree, then the memory, then the system; the last only for values that its types have.
        if let Some(known) = self.tree.answers(word) {
            return Ok(Some(known));
        }
        if let Some(answers) = self.memory.as_ref().and_then(|memory| memory.answers(word)) {
            self.tree.insert_answers(word, &answers).map_err(DataLearnError::Disagrees)?;
            return Ok(Some(answers));
        }
        if !self.system.has_room(word) {
            return Ok(None);
        }
        let answers = self.system.run(word).map_err(DataLearnError::System)?;
        self.effort.resets += 1;
        self.effort.symbols += answers.len() as u64;
        self.tree.insert_answers(word, &answers).map_err(DataLearnError::Disagrees)?;
        Ok(self.tree.answers(word))
    }

    /// Lets copies of the system answer `words` at the same time, so that the answers are known when they are asked
    /// for; does nothing if there are no copies. The answers stay in the memory until then, so the machine learned is
    /// the same as without copies.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn ask_ahead(&mut self, words: &[DataWord]) -> Result<(), DataLearnError<S::Error>> {
        if self.system.width() < 2 {
            return Ok(());
        }
        let unknown = self.words_to_ask(words);
        let answers = self.system.run_all(&unknown).map_err(DataLearnError::System)?;
        let signature = self.tree.signature.clone();
        let memory = self.memory.get_or_insert_with(|| DataTree::new(signature));
        for (word, answers) in unknown.iter().zip(&answers) {
            self.effort.resets += 1;
            self.effort.symbols += answers.len() as u64;
            memory.insert_answers(word, answers).map_err(DataLearnError::Disagrees)?;
        }
        Ok(())
    }

    /// Returns those of `words` that must be asked: one of those that compare alike, none that is a prefix of
    /// another.
    fn words_to_ask(&self, words: &[DataWord]) -> Vec<DataWord> {
        let is_known = |word: &DataWord| {
            let recalled = self.memory.as_ref().is_some_and(|memory| memory.find(word).is_some());
            recalled || self.tree.find(word).is_some()
        };
        let regions = |word: &DataWord| project_suffix(&self.tree.signature, &[], word);
        // Sorted by regions, words that compare alike are neighbours, and a prefix stands right before its extensions.
        let wanted = words.iter().filter(|word| !is_known(word) && self.system.has_room(word));
        let mut all: Vec<(Vec<ValueRegion>, &DataWord)> = wanted.map(|word| (regions(word), word)).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all.dedup_by(|a, b| a.0 == b.0);
        let is_more = |at: usize| all.get(at + 1).is_some_and(|(next, _)| next.starts_with(&all[at].0));
        (0..all.len()).filter(|&at| !is_more(at)).map(|at| all[at].1.clone()).collect()
    }
}

/// The belief about a node: its location, and the values of the registers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NodeBelief {
    pub location: LocationId,
    pub image: Vec<ValuePoint>,
}

/// A learner of register automata.
#[derive(Debug, Default)]
pub struct DataLearner {
    pub(crate) basis: IndexVec<LocationId, DataNode>,
}

/// The outcome of a step of learning.
pub(crate) enum LearningRound<T> {
    /// A result.
    Done(T),
    /// A location or a register was found: the machine must be made again.
    Again,
}

impl DataLearner {
    /// A learner that knows the first location.
    #[must_use]
    pub fn new(tree: &DataTree) -> Self {
        Self { basis: [tree.root()].into_iter().collect() }
    }

    /// Asks until there is a machine that agrees with everything that was seen.
    ///
    /// # Errors
    /// If the system cannot be queried, or contradicts itself.
    pub fn hypothesis<S: DataSystem>(
        &mut self,
        observer: &mut DataObserver<S>,
    ) -> Result<RegisterMachine, DataLearnError<S::Error>> {
        let mut before = None;
        loop {
            let LearningRound::Done(machine) = self.build_machine(observer)? else { continue };
            let Some(word) = find_inconsistency(&machine, &observer.tree) else { return Ok(machine) };
            let now = Some((self.knowledge_size(&observer.tree), machine.clone()));
            // Nothing learned from the last counterexample and the same machine again: the next round would be the
            // same.
            if now == before {
                return Err(DataLearnError::Stuck(word));
            }
            // The tree itself is the counterexample: what it shows is used before the system is asked anything new.
            self.learn_from_counterexample(observer, &machine, &word)?;
            before = now;
        }
    }

    /// Returns the numbers of words, locations and memorable values. If none of them has grown and the machine is the
    /// same again, it will stay so.
    fn knowledge_size(&self, tree: &DataTree) -> (usize, usize, usize) {
        (tree.len(), self.basis.len(), tree.n_memorable())
    }

    /// The machine as it is believed.
    fn build_machine<S: DataSystem>(
        &mut self,
        observer: &mut DataObserver<S>,
    ) -> Result<LearningRound<RegisterMachine>, DataLearnError<S::Error>> {
        let signature = observer.tree.signature.clone();
        let mut machine = RegisterMachine { signature: signature.clone(), locations: IndexVec::new() };
        for &node in &self.basis.iter().copied().collect::<Vec<_>>() {
            let registers = observer.tree.memorable_values(node);
            if registers.len() > MAX_REGISTERS {
                return Err(DataLearnError::TooMany(MAX_REGISTERS));
            }
            let n_known = signature.constants.len() + registers.len();
            let mut location =
                RegisterLocation { n_registers: registers.len(), ..RegisterLocation::default() };
            let regions: Vec<ValueRegion> =
                signature.gates().flat_map(|gate| signature.regions(n_known, gate)).collect();
            let word = |region: &ValueRegion| {
                let input = input_at(&observer.tree, node, &registers, region);
                [observer.tree.word_of_node(node), vec![input]].concat()
            };
            // All regions at once, for systems that have copies; the loop below then finds the answers in the memory.
            let words: Vec<DataWord> = regions.iter().map(word).collect();
            observer.ask_ahead(&words)?;
            for region in regions {
                match self.explore_region(observer, node, &registers, &region)? {
                    LearningRound::Again => return Ok(LearningRound::Again),
                    LearningRound::Done(Some(step)) => {
                        location.steps.insert(region, step);
                    }
                    LearningRound::Done(None) => (),
                }
            }
            machine.locations.push(location);
        }
        Ok(LearningRound::Done(machine))
    }

    /// Returns the transition of `node` in `region`; `None` if there are no such values.
    fn explore_region<S: DataSystem>(
        &mut self,
        observer: &mut DataObserver<S>,
        node: DataNode,
        registers: &[ValuePoint],
        region: &ValueRegion,
    ) -> Result<LearningRound<Option<DataStep>>, DataLearnError<S::Error>> {
        let mut word = observer.tree.word_of_node(node);
        word.push(input_at(&observer.tree, node, registers, region));
        if observer.ask_word(&word)?.is_none() {
            return Ok(LearningRound::Done(None));
        }
        let Some(kid) = observer.tree.find(&word) else { return Ok(LearningRound::Done(None)) };
        // `Again` from within: a location or a register was found, so regions that were listed before may be too
        // coarse.
        let LearningRound::Done(belief) = self.identify(observer, node, kid)? else {
            return Ok(LearningRound::Again);
        };
        // Asking may have shown another register of the parent itself; its regions were listed without it.
        if observer.tree.memorable_values(node).len() != registers.len() {
            return Ok(LearningRound::Again);
        }
        Ok(LearningRound::Done(transition_to(&observer.tree, registers, kid, &belief)))
    }
}

/// An input in `region` relative to `registers` at `node`: new values are none that came before.
pub(crate) fn input_at(
    tree: &DataTree,
    node: DataNode,
    registers: &[ValuePoint],
    region: &ValueRegion,
) -> DataInput {
    let mut known = tree.signature.constants.clone();
    known.extend(registers);
    let values = tree.signature.values_at(&mut known, tree.history(node), &region.1);
    DataInput { gate: region.0, values }
}

/// The transition to `kid`, in terms of `registers` and the new values of its input.
fn transition_to(
    tree: &DataTree,
    registers: &[ValuePoint],
    kid: DataNode,
    belief: &NodeBelief,
) -> Option<DataStep> {
    let input = tree.input(kid)?;
    let mut known = tree.signature.constants.clone();
    known.extend(registers);
    tree.signature.places_of(&mut known, &input.values);
    // Sources are numbered as the available values: constants, registers, then the new values of the input.
    let source = |value: ValuePoint| known.iter().position(|&it| it == value);
    let tell = |said: &AnswerValue| match *said {
        AnswerValue::Point(value) => source(value).map(AnswerField::Source),
        AnswerValue::Literal(value) => Some(AnswerField::Literal(value)),
    };
    let answer = tree.answer(kid);
    Some(DataStep {
        shape: answer.shape,
        told: answer.values.iter().map(tell).collect::<Option<_>>()?,
        target: belief.location,
        registers: belief.image.iter().map(|&value| source(value)).collect::<Option<_>>()?,
    })
}

/// A shortest word of the tree that `machine` answers differently.
fn find_inconsistency(machine: &RegisterMachine, tree: &DataTree) -> Option<DataWord> {
    // Breadth first, so that the word is a shortest one: the search for the wrong transition bisects it.
    let mut queue = vec![(tree.root(), machine.start())];
    let mut at = 0;
    while at < queue.len() {
        let (node, here) = queue[at].clone();
        for kid in tree.children(node) {
            let Some((said, next)) = tree.input(kid).and_then(|input| machine.step(&here, input)) else {
                continue;
            };
            if said != *tree.answer(kid) {
                return Some(tree.word_of_node(kid));
            }
            queue.push((kid, next));
        }
        at += 1;
    }
    None
}

/// `suffix` behind a node, by how its values compare with `image`, the constants and each other.
pub(crate) fn project_suffix(
    signature: &InputSignature,
    image: &[ValuePoint],
    suffix: &[DataInput],
) -> Vec<ValueRegion> {
    let mut known = signature.constants.clone();
    known.extend(image);
    suffix.iter().map(|input| (input.gate, signature.places_of(&mut known, &input.values))).collect()
}

/// `regions` behind `node`, where `image` are the values they compare with: new values are none that came before.
pub(crate) fn instantiate_suffix(
    tree: &DataTree,
    node: DataNode,
    image: &[ValuePoint],
    regions: &[ValueRegion],
) -> DataWord {
    let mut known = tree.signature.constants.clone();
    known.extend(image);
    let others = tree.history(node);
    let input = |(gate, places): &ValueRegion| DataInput {
        gate: *gate,
        values: tree.signature.values_at(&mut known, others, places),
    };
    regions.iter().map(input).collect()
}

/// `answer` to the last input of `suffix`, its values by number among the constants, `image` and the new ones of
/// `suffix`; a value that is none of these becomes -1.
pub(crate) fn answer_values(
    signature: &InputSignature,
    image: &[ValuePoint],
    suffix: &[DataInput],
    answer: &DataAnswer,
) -> DataAnswer {
    let mut known = signature.constants.clone();
    known.extend(image);
    for input in suffix {
        signature.places_of(&mut known, &input.values);
    }
    let number = |said: &AnswerValue| match *said {
        AnswerValue::Point(value) => match known.iter().position(|&it| it == value) {
            Some(at) => AnswerValue::Point(ValuePoint::try_from(at).unwrap_or(ValuePoint::MAX)),
            None => AnswerValue::Point(-1),
        },
        AnswerValue::Literal(_) => *said,
    };
    DataAnswer { shape: answer.shape, values: answer.values.iter().map(number).collect() }
}
