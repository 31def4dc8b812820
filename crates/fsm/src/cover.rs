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
