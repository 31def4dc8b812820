//! Everything a system with values has answered, up to how the values compare.
//!
//! A node is a word up to its places ([`super::place`]). A value that led to a node is *memorable* there if what
//! follows depends on it. That is only ever concluded from answers: one that says the value, or two runs that differ
//! in nothing but how they compare with it and are answered differently. Either is a [`MemoryWitness`].

use std::collections::BTreeMap;

use ioxide_fsm::mealy::OutputId;
use ioxide_model::index;
use ioxide_model::index::{Idx, IndexVec};

use super::place::{AnswerValue, DataAnswer, DataInput, DataWord, InputSignature, ValuePoint, ValueRegion};

index! { /// A node of a tree of words with values.
pub struct DataNode; }

/// The words behind a node that show that a value is memorable there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryWitness {
    /// A word that is answered with the value, or one whose answer depends on how it compares with the value.
    pub one: DataWord,
    /// A word that differs from `one` only in how it compares with the value, and is answered differently; `None` if
    /// the answer to `one` says the value.
    pub other: Option<DataWord>,
}

#[derive(Clone, Debug)]
struct SeenWord {
    parent: DataNode,
    input: Option<DataInput>,
    answer: DataAnswer,
    /// All values on the way, constants first.
    history: Vec<ValuePoint>,
    /// The values of the history that are slots which no answer filled.
    hollow: Vec<ValuePoint>,
    kids: BTreeMap<ValueRegion, DataNode>,
    /// Memorable values, by their number in the history.
    memory: BTreeMap<usize, MemoryWitness>,
}

/// The answers of a system with values, as a tree of words up to how values compare.
#[derive(Clone, Debug)]
pub struct DataTree {
    /// The inputs, and how values are compared.
    pub signature: InputSignature,
    nodes: IndexVec<DataNode, SeenWord>,
}

/// Two runs whose values compare alike, with different answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDisagreement {
    /// The inputs and answers seen earlier.
    pub before: Vec<(DataInput, DataAnswer)>,
    /// The inputs and answers seen now.
    pub now: Vec<(DataInput, DataAnswer)>,
}

impl DataTree {
    /// The tree of the empty word.
    #[must_use]
    pub fn new(signature: InputSignature) -> Self {
        let root = SeenWord {
            parent: DataNode::new(0),
            input: None,
            answer: DataAnswer { shape: OutputId::new(0), values: Vec::new() },
            history: signature.constants.clone(),
            hollow: Vec::new(),
            kids: BTreeMap::new(),
            memory: BTreeMap::new(),
        };
        Self { signature, nodes: [root].into_iter().collect() }
    }

    /// The empty word.
    #[must_use]
    pub fn root(&self) -> DataNode {
        DataNode::new(0)
    }

    /// Returns the number of words in the tree, the empty one included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether only the empty word is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.len() == 1
    }

    /// The values on the way to `node`, constants first.
    #[must_use]
    pub fn history(&self, node: DataNode) -> &[ValuePoint] {
        &self.nodes[node].history
    }

    /// The values on the way to `node` that can matter: neither constants nor slots that no answer filled.
    #[must_use]
    pub fn relevant_values(&self, node: DataNode) -> Vec<ValuePoint> {
        let SeenWord { history, hollow, .. } = &self.nodes[node];
        let relevant = &history[self.signature.constants.len()..];
        relevant.iter().copied().filter(|value| !hollow.contains(value)).collect()
    }

    /// The last answer on the way to `node`.
    #[must_use]
    pub fn answer(&self, node: DataNode) -> &DataAnswer {
        &self.nodes[node].answer
    }

    /// The values that are known to be memorable at `node`: sorted where there is an order.
    #[must_use]
    pub fn memorable_values(&self, node: DataNode) -> Vec<ValuePoint> {
        let seen = &self.nodes[node];
        let mut values: Vec<ValuePoint> = seen.memory.keys().map(|&number| seen.history[number]).collect();
        if self.signature.theory == super::place::Theory::Order {
            // Registers are numbered by this list. Where values are ordered, the order of a register is part of what is
            // known of it; where they only can be equal, the order of arrival is as good as any.
            values.sort_unstable();
        }
        values
    }

    /// Returns the sum over all nodes of the number of values known to be memorable.
    #[must_use]
    pub fn n_memorable(&self) -> usize {
        self.nodes.iter().map(|seen| seen.memory.len()).sum()
    }

    /// Returns the witness that `value` is memorable at `node`; `None` if it is not known to be.
    #[must_use]
    pub fn memory_witness(&self, node: DataNode, value: ValuePoint) -> Option<&MemoryWitness> {
        let number = self.value_index(node, value)?;
        self.nodes[node].memory.get(&number)
    }

    fn value_index(&self, node: DataNode, value: ValuePoint) -> Option<usize> {
        self.nodes[node].history.iter().position(|&known| known == value)
    }

    /// The word that leads to `node`.
    #[must_use]
    pub fn word_of_node(&self, node: DataNode) -> DataWord {
        self.trace(node).into_iter().map(|(input, _)| input).collect()
    }

    /// The word that leads to `node`, with its answers.
    #[must_use]
    pub fn trace(&self, node: DataNode) -> Vec<(DataInput, DataAnswer)> {
        let mut trace = Vec::new();
        let mut at = node;
        while let Some(input) = &self.nodes[at].input {
            trace.push((input.clone(), self.nodes[at].answer.clone()));
            at = self.nodes[at].parent;
        }
        trace.reverse();
        trace
    }

    /// Returns the node after `word`, found by how its values compare; `None` unless all of it is known.
    #[must_use]
    pub fn find(&self, word: &[DataInput]) -> Option<DataNode> {
        let mut known = self.signature.constants.clone();
        let mut node = self.root();
        for input in word {
            let region = (input.gate, self.signature.places_of(&mut known, &input.values));
            node = *self.nodes[node].kids.get(&region)?;
        }
        Some(node)
    }

    /// The answers to `word` in its own values, if all of it is known.
    #[must_use]
    pub fn answers(&self, word: &[DataInput]) -> Option<Vec<DataAnswer>> {
        let mut known = self.signature.constants.clone();
        let mut node = self.root();
        let mut answers = Vec::new();
        for input in word {
            let region = (input.gate, self.signature.places_of(&mut known, &input.values));
            node = *self.nodes[node].kids.get(&region)?;
            answers.push(rename_answer(self.answer(node), self.history(node), &known));
        }
        Some(answers)
    }

    /// Returns the nodes one input after `node`.
    pub fn children(&self, node: DataNode) -> impl Iterator<Item = DataNode> + '_ {
        self.nodes[node].kids.values().copied()
    }

    /// The node after an input in `region` of all values that came before.
    #[must_use]
    pub fn child(&self, node: DataNode, region: &ValueRegion) -> Option<DataNode> {
        self.nodes[node].kids.get(region).copied()
    }

    /// The last answer on the way to `node`, with the values of its history replaced by `values`.
    #[must_use]
    pub fn answer_in(&self, node: DataNode, values: &[ValuePoint]) -> DataAnswer {
        rename_answer(self.answer(node), self.history(node), values)
    }

    /// Returns the length of the word that leads to `node`.
    #[must_use]
    pub fn depth(&self, node: DataNode) -> usize {
        let mut depth = 0;
        let mut at = node;
        while self.nodes[at].input.is_some() {
            depth += 1;
            at = self.nodes[at].parent;
        }
        depth
    }

    /// The input that leads to `node`.
    #[must_use]
    pub fn input(&self, node: DataNode) -> Option<&DataInput> {
        self.nodes[node].input.as_ref()
    }

    /// Notes the answers to `word`.
    ///
    /// # Errors
    /// If an answer is not what is known.
    pub fn insert_answers(
        &mut self,
        word: &[DataInput],
        answers: &[DataAnswer],
    ) -> Result<DataNode, Box<DataDisagreement>> {
        let mut known = self.signature.constants.clone();
        let mut node = self.root();
        for (at, (input, answer)) in word.iter().zip(answers).enumerate() {
            let region = (input.gate, self.signature.places_of(&mut known, &input.values));
            node = match self.nodes[node].kids.get(&region) {
                Some(&kid) => {
                    // Values that compare alike must be answered alike, up to renaming: else the system compares in
                    // some other way, or is not deterministic.
                    if rename_answer(self.answer(kid), self.history(kid), &known) != *answer {
                        let now = word.iter().cloned().zip(answers.iter().cloned()).take(at + 1).collect();
                        return Err(Box::new(DataDisagreement { before: self.trace(kid), now }));
                    }
                    kid
                }
                None => self.grow_child(node, region, answer, &known),
            };
        }
        Ok(node)
    }

    fn grow_child(
        &mut self,
        node: DataNode,
        region: ValueRegion,
        answer: &DataAnswer,
        known: &[ValuePoint],
    ) -> DataNode {
        let mut history = self.nodes[node].history.clone();
        // New values stand between those of this tree, whatever they were in the run.
        let values = self.signature.values_at(&mut history, &[], &region.1);
        let input = DataInput { gate: region.0, values };
        let answer = rename_answer(answer, known, &history);
        debug_assert_eq!(
            history.len(),
            known.len(),
            "the tree and the run have met the same number of values"
        );
        // A slot that the answer does not fill stands for no value at all, so it can never be memorable.
        let mut hollow = self.nodes[node].hollow.clone();
        let slots = self.signature.slots(&input).iter().copied();
        hollow.extend(slots.filter(|&slot| !answer.values.contains(&AnswerValue::Point(slot))));
        let (kids, memory) = (BTreeMap::new(), BTreeMap::new());
        let (input, answer_there) = (Some(input), answer.clone());
        let seen = SeenWord { parent: node, input, answer: answer_there, history, hollow, kids, memory };
        let kid = self.nodes.push(seen);
        self.nodes[node].kids.insert(region, kid);
        for said in answer.values {
            if let AnswerValue::Point(value) = said {
                self.record_said_value(kid, value);
            }
        }
        kid
    }

    /// Notes that the last answer on the way to `node` says `value`: it is memorable at every node on the way since
    /// it last occurred in an input.
    fn record_said_value(&mut self, node: DataNode, value: ValuePoint) {
        // Upwards from the answer: the value had to be kept at every node between its last occurrence in an input and
        // the answer, and the inputs in between are the witness. Constants are always available and never have to be
        // kept.
        let mut suffix = Vec::new();
        let mut at = node;
        while let Some(input) = self.nodes[at].input.clone() {
            let has_come = input.values.contains(&value);
            suffix.insert(0, input);
            at = self.nodes[at].parent;
            let Some(number) = self.value_index(at, value) else { return };
            if has_come || number < self.signature.constants.len() {
                return;
            }
            self.nodes[at].memory.entry(number).or_insert(MemoryWitness { one: suffix.clone(), other: None });
        }
    }

    /// Notes that `value` is memorable at `node` and wherever it was known on the way to it.
    pub fn mark_memorable(&mut self, node: DataNode, value: ValuePoint, witness: MemoryWitness) {
        // What is memorable at a node was memorable before it, with the input in between put before both words.
        let (mut node, mut witness) = (node, witness);
        while let Some(number) =
            self.value_index(node, value).filter(|&number| number >= self.signature.constants.len())
        {
            self.nodes[node].memory.entry(number).or_insert_with(|| witness.clone());
            let Some(input) = self.nodes[node].input.clone() else { return };
            // Further up another word must not say it again: there it would be no difference in one value.
            if input.values.contains(&value) {
                return;
            }
            witness.one.insert(0, input.clone());
            if let Some(other) = &mut witness.other {
                other.insert(0, input);
            }
            node = self.nodes[node].parent;
        }
    }
}

/// `answer` with each value of `from` replaced by the one of `to` at the same position.
fn rename_answer(answer: &DataAnswer, from: &[ValuePoint], to: &[ValuePoint]) -> DataAnswer {
    let rename = |&said: &AnswerValue| match said {
        AnswerValue::Point(value) => {
            let at = from.iter().position(|&known| known == value);
            at.and_then(|at| to.get(at)).map_or(said, |&value| AnswerValue::Point(value))
        }
        AnswerValue::Literal(_) => said,
    };
    DataAnswer { shape: answer.shape, values: answer.values.iter().map(rename).collect() }
}
