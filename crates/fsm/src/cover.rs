//! State cover: for each state one shortest word that reaches it.
//!
//! The words are prefix closed: they form a breadth-first tree of transitions,
//! inputs taken in order, so every method starts from the same tree.

use std::collections::VecDeque;

use ioxide_model::index::IndexVec;

use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

/// A prefix-closed state cover of a machine.
#[derive(Clone, Debug)]
pub struct StateCover {
    parent: IndexVec<StateId, Option<(StateId, InputId)>>,
    depth: IndexVec<StateId, u32>,
    /// The states in the order the search met them, the initial state first.
    order: Vec<StateId>,
}

/// The breadth-first state cover of `spec`.
#[must_use]
pub fn state_cover(spec: &SuiteModel) -> StateCover {
    let n = spec.n_states();
    let mut cover = StateCover {
        parent: IndexVec::from_elem(None, n),
        depth: IndexVec::from_elem(u32::MAX, n),
        order: Vec::with_capacity(n),
    };
    cover.depth[spec.initial()] = 0;
    let mut queue = VecDeque::from([spec.initial()]);
    while let Some(state) = queue.pop_front() {
        cover.order.push(state);
        for input in spec.inputs() {
            let next = spec.next(state, input);
            if cover.depth[next] == u32::MAX {
                cover.depth[next] = cover.depth[state] + 1;
                cover.parent[next] = Some((state, input));
                queue.push_back(next);
            }
        }
    }
    cover
}

impl StateCover {
    /// The states in breadth-first order.
    #[must_use]
    pub fn order(&self) -> &[StateId] {
        &self.order
    }

    /// The length of the access word of `state`.
    #[must_use]
    pub fn depth(&self, state: StateId) -> usize {
        self.depth[state] as usize
    }

    /// The state and input the access word of `state` ends with, unless it is empty.
    #[must_use]
    pub fn parent(&self, state: StateId) -> Option<(StateId, InputId)> {
        self.parent[state]
    }

    /// Returns whether the transition from `state` by `input` is the last step of an access word.
    #[must_use]
    pub fn has_edge(&self, spec: &SuiteModel, state: StateId, input: InputId) -> bool {
        self.parent[spec.next(state, input)] == Some((state, input))
    }

    /// The access word of `state`.
    #[must_use]
    pub fn access_word(&self, state: StateId) -> Word {
        let mut word = Vec::with_capacity(self.depth(state));
        let mut at = state;
        while let Some((from, input)) = self.parent[at] {
            word.push(input);
            at = from;
        }
        word.reverse();
        word
    }

    /// All access words, shortest first.
    pub fn access_words(&self) -> impl Iterator<Item = Word> {
        self.order.iter().map(|&state| self.access_word(state))
    }

    /// The mean length of an access word, at least 1.
    #[must_use]
    pub fn mean_depth(&self) -> usize {
        let total: usize = self.order.iter().map(|&state| self.depth(state)).sum();
        (total / self.order.len().max(1)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use ioxide_model::index::Idx;

    use super::*;
    use crate::mealy::Mealy;

    #[test]
    fn access_words_reach_their_states() {
        let table = [(1, 0), (0, 1), (2, 0), (0, 0), (0, 1), (2, 1)];
        let machine = Mealy::from_table(3, 2, 2, &table.map(Some)).unwrap();
        let spec = SuiteModel::check(&machine).unwrap();
        let cover = state_cover(&spec);
        assert_eq!(cover.access_words().map(|word| word.len()).collect::<Vec<_>>(), [0, 1, 2]);
        for state in spec.states() {
            assert_eq!(spec.state_after(spec.initial(), &cover.access_word(state)), state);
        }
    }

    #[test]
    fn the_cover_is_prefix_closed() {
        let table = [(1, 0), (0, 1), (2, 0), (0, 0), (0, 1), (2, 1)];
        let spec = SuiteModel::check(&Mealy::from_table(3, 2, 2, &table.map(Some)).unwrap()).unwrap();
        let cover = state_cover(&spec);
        let n_edges = spec.states().flat_map(|s| spec.inputs().map(move |x| (s, x)));
        assert_eq!(n_edges.filter(|&(s, x)| cover.has_edge(&spec, s, x)).count(), spec.n_states() - 1);
        assert_eq!(cover.order()[0], StateId::new(0));
    }
}
