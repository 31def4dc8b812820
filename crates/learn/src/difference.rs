//! The changes between two machines, such as two versions of a server.
//!
//! States are matched by walking both machines together from the start: a pair that answers an input alike leads to
//! the next pair. A state of the old machine that meets several states of the new one, or none, has no counterpart;
//! a matched pair whose answers differ has *changed*. Separating words are shortest ones, at most one for every
//! changed answer.
//!
//! *Promise.* There is a separating word exactly if the machines are not equivalent.

use std::collections::VecDeque;

use ioxide_fsm::error::MachineRefusal;
use ioxide_fsm::mealy::{InputId, MachineListing, Mealy, OutputId, StateId, TransitionRow};
use ioxide_fsm::word::Word;
use rustc_hash::FxHashSet;

/// An input that two matched states answer differently.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedAnswer {
    /// A shortest word from the start to the two states, and the input that distinguishes them.
    pub word: Word,
    /// The old state.
    pub old_state: StateId,
    /// The new state.
    pub new_state: StateId,
    /// The old answer; `None` if there was none.
    pub old: Option<OutputId>,
    /// The new answer; `None` if there is none.
    pub new: Option<OutputId>,
}

impl ChangedAnswer {
    /// The input that is answered differently.
    #[must_use]
    pub fn changed_input(&self) -> Option<InputId> {
        self.word.last().copied()
    }
}

/// The differences between two machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineDifference {
    /// Answers that differ, shortest words first.
    pub changed: Vec<ChangedAnswer>,
    /// The states of the new machine without a counterpart in the old one.
    pub added: Vec<StateId>,
    /// The states of the old machine without a counterpart in the new one.
    pub removed: Vec<StateId>,
}

impl MachineDifference {
    /// Returns whether the machines are equivalent; states without a counterpart do not count.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty()
    }
}

/// Returns the machine of `listing`, with ids of inputs and outputs that the machine of `other` shares: those of all
/// names in order.
///
/// # Errors
/// If it is not deterministic.
pub fn machine_with_shared_ids(
    listing: &MachineListing,
    other: &MachineListing,
) -> Result<Mealy, MachineRefusal> {
    let sorted = |name: fn(&TransitionRow) -> &String| {
        let mut names: Vec<&String> = listing.rows.iter().chain(&other.rows).map(name).collect();
        names.sort();
        names.dedup();
        names
    };
    let (inputs, outputs) = (sorted(|row| &row.input), sorted(|row| &row.output));
    // Transitions of an unreachable state give every name its id; the state is dropped again.
    let nowhere = "\0".to_owned();
    let mut rows = Vec::new();
    let longest = inputs.len().max(outputs.len());
    for i in 0..longest {
        let from = format!("{nowhere}{i}");
        let (input, output) =
            (inputs[i.min(inputs.len() - 1)].clone(), outputs[i.min(outputs.len() - 1)].clone());
        rows.push(TransitionRow { from: from.clone(), input, output, to: from });
    }
    rows.extend(listing.rows.iter().cloned());
    let all = MachineListing { rows, ..listing.clone() };
    Mealy::from_listing(&all).map(|machine| machine.reachable_part())
}

/// The differences between `old` and `new`; ids of inputs and outputs must mean the same in both.
#[must_use]
pub fn difference(old: &Mealy, new: &Mealy) -> MachineDifference {
    let mut pairs = StatePairs::new((old.initial(), new.initial()));
    let mut result = MachineDifference::default();
    while let Some((pair, word)) = pairs.queue.pop_front() {
        for input in old.inputs() {
            let (before, after) = (old.edge(pair.0, input), new.edge(pair.1, input));
            // A queue: pairs come in the order of their shortest words, so a word is a shortest one for the pair it
            // leads to.
            let mut longer = word.clone();
            longer.push(input);
            if before.map(|edge| edge.output) != after.map(|edge| edge.output) {
                result.changed.push(ChangedAnswer {
                    word: longer,
                    old_state: pair.0,
                    new_state: pair.1,
                    old: before.map(|edge| edge.output),
                    new: after.map(|edge| edge.output),
                });
            } else if let (Some(before), Some(after)) = (before, after) {
                // Only behind equal answers: after different ones the states need not correspond.
                pairs.add_pair((before.next, after.next), longer);
            }
        }
    }
    let matched = pairs.match_states();
    result.removed = old.states().filter(|state| !matched.iter().any(|pair| pair.0 == *state)).collect();
    result.added = new.states().filter(|state| !matched.iter().any(|pair| pair.1 == *state)).collect();
    result
}

type StatePair = (StateId, StateId);

/// Pairs of states that a common trace leads to.
struct StatePairs {
    seen: FxHashSet<StatePair>,
    order: Vec<StatePair>,
    queue: VecDeque<(StatePair, Word)>,
}

impl StatePairs {
    /// Makes the pairs with `start` alone, reached by the empty word.
    pub fn new(start: StatePair) -> Self {
        let mut pairs = Self { seen: FxHashSet::default(), order: Vec::new(), queue: VecDeque::new() };
        pairs.add_pair(start, Word::new());
        pairs
    }

    fn add_pair(&mut self, pair: StatePair, word: Word) {
        if self.seen.insert(pair) {
            self.order.push(pair);
            self.queue.push_back((pair, word));
        }
    }

    /// One counterpart for every state: the first it meets that has none yet.
    fn match_states(&self) -> Vec<StatePair> {
        let mut matched: Vec<StatePair> = Vec::new();
        for &pair in &self.order {
            // A state that meets several others keeps the one that the shortest word leads to.
            if !matched.iter().any(|known| known.0 == pair.0 || known.1 == pair.1) {
                matched.push(pair);
            }
        }
        matched
    }
}
