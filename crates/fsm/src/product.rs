//! Two machines side by side: equivalence, reduction, and the product with a
//! state `Fail` for answers only the second machine gives.
//!
//! `M₂` is a *reduction* of `M₁` if every trace of `M₂` is a trace of `M₁`; it
//! is *equivalent* if the converse holds as well. Both are decided on the pairs
//! of states a common trace leads to, breadth first, so that the witness of a
//! difference is as short as there is one \[Sachtleben18, §2.4].
//!
//! *Assumes* that both machines have the same input and output names in the
//! same order, which [`align_names`] arranges.

use ioxide_model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use crate::error::MachineRefusal;
use crate::mealy::{InputId, MachineNames, Mealy, OutputId, StateId};
use crate::nfsm::{Nfsm, Observable};
use crate::word::{IoWord, Word};

/// `second` with inputs and outputs numbered as in `first`; outputs that only
/// `second` has follow the others. Refuses machines with different inputs.
pub fn align_names(first: &MachineNames, second: &Nfsm) -> Result<Nfsm, MachineRefusal> {
    let names = second.names();
    let mut outputs = first.outputs.clone();
    // Other outputs are a difference, which the search will find. Other inputs would make words that one side
    // cannot read.
    let odd = names.inputs.iter().find(|name| first.input(name).is_none());
    if let Some(input) = odd.or_else(|| first.inputs.iter().find(|name| names.input(name).is_none())) {
        return Err(MachineRefusal::DifferentInputs { input: input.clone() });
    }
    let input = |id| first.input(&names.inputs[id]).unwrap_or(id);
    let map: IndexVec<OutputId, OutputId> = names
        .outputs
        .iter()
        .map(|name| first.output(name).unwrap_or_else(|| outputs.push(name.clone())))
        .collect();
    let rows: Vec<_> = second.transitions().map(|(s, x, y, t)| (s, input(x), map[y], t)).collect();
    let names = MachineNames { states: names.states.clone(), inputs: first.inputs.clone(), outputs };
    Ok(Nfsm::new(names, second.initial(), rows))
}

/// A shortest word on which two machines differ, `None` if they are equivalent.
///
/// A missing answer differs from any answer. Ids must mean the same in both.
#[must_use]
pub fn difference(first: &Mealy, second: &Mealy) -> Option<Word> {
    let mut search = PairSearch::new((first.initial(), second.initial()));
    while let Some((at, (s, t))) = search.pop() {
        for input in first.inputs() {
            match (first.edge(s, input), second.edge(t, input)) {
                (None, None) => (),
                (Some(a), Some(b)) if a.output == b.output => search.push(at, input, (a.next, b.next)),
                _ => return Some(search.path_to(at, input)),
            }
        }
    }
    None
}

/// A shortest trace of `second` that `first` does not have, `None` if `second`
/// is a reduction of `first`.
#[must_use]
pub fn reduction_witness(first: &Observable, second: &Observable) -> Option<IoWord> {
    let mut search = PairSearch::new((first.initial(), second.initial()));
    while let Some((at, (s, t))) = search.pop() {
        for input in second.inputs() {
            for &(output, next) in second.answers(t, input) {
                match first.state_after(s, input, output) {
                    Some(allowed) => search.push(at, (input, output), (allowed, next)),
                    None => return Some(search.path_to(at, (input, output))),
                }
            }
        }
    }
    None
}

/// The product machine of \[Sachtleben18, Def. 2.4.1], reachable part, with the
/// name of its state `Fail` last if that can be reached.
#[must_use]
pub fn product(first: &Observable, second: &Observable) -> Observable {
    let mut ids: FxHashMap<(StateId, StateId), StateId> = FxHashMap::default();
    let mut pairs: IndexVec<StateId, (StateId, StateId)> = IndexVec::new();
    let start = (first.initial(), second.initial());
    ids.insert(start, pairs.push(start));
    let mut rows = Vec::new();
    let mut failing = Vec::new();
    let mut done = 0;
    while done < pairs.len() {
        let from = StateId::new(done);
        let (s, t) = pairs[from];
        done += 1;
        for input in second.inputs() {
            for &(output, next) in second.answers(t, input) {
                match first.state_after(s, input, output) {
                    Some(allowed) => {
                        let pair = (allowed, next);
                        let to = *ids.entry(pair).or_insert_with(|| pairs.push(pair));
                        rows.push((from, input, output, to));
                    }
                    // Kept for later: `Fail` is the last state, and its number is known only when all pairs
                    // are.
                    None => failing.push((from, input, output)),
                }
            }
        }
    }
    let name =
        |&(s, t): &(StateId, StateId)| format!("({},{})", first.names().states[s], second.names().states[t]);
    let mut names = MachineNames { states: pairs.iter().map(name).collect(), ..second.names().clone() };
    if !failing.is_empty() {
        let fail = names.states.push("Fail".to_owned());
        let output = names.outputs.push("fail".to_owned());
        rows.extend(failing.into_iter().map(|(from, input, output)| (from, input, output, fail)));
        // `Fail` is a sink: what follows a wrong answer is of no interest.
        rows.extend(second.inputs().map(|input| (fail, input, output, fail)));
    }
    Observable::check(Nfsm::new(names, StateId::new(0), rows)).expect("one successor per output was pushed")
}

/// Breadth-first search over pairs of states that remembers how it got there.
struct PairSearch<L> {
    seen: rustc_hash::FxHashSet<(StateId, StateId)>,
    visits: Vec<(usize, Option<L>, (StateId, StateId))>,
    done: usize,
}

impl<L: Copy> PairSearch<L> {
    /// Makes a search that has seen only `start`.
    pub fn new(start: (StateId, StateId)) -> Self {
        Self { seen: [start].into_iter().collect(), visits: vec![(0, None, start)], done: 0 }
    }

    /// Returns the next pair in breadth-first order, with its number.
    fn pop(&mut self) -> Option<(usize, (StateId, StateId))> {
        let &(_, _, pair) = self.visits.get(self.done)?;
        self.done += 1;
        Some((self.done - 1, pair))
    }

    /// Adds a pair if it is new, with the step that leads to it.
    pub fn push(&mut self, from: usize, letter: L, pair: (StateId, StateId)) {
        if self.seen.insert(pair) {
            self.visits.push((from, Some(letter), pair));
        }
    }

    /// The letters to a visit, then `last`.
    fn path_to(&self, mut at: usize, last: L) -> Vec<L> {
        let mut path = vec![last];
        while let (from, Some(letter), _) = self.visits[at] {
            path.push(letter);
            at = from;
        }
        path.reverse();
        path
    }
}

/// Returns whether `machine` and `spec` give the same outputs for `word` from reset, up to the first input without an
/// answer.
#[must_use]
pub fn passes(spec: &Mealy, machine: &Mealy, word: &[InputId]) -> bool {
    spec.run(word) == machine.run(word)
}
