//! The order in which transitions are proved.
//!
//! Any order gives a complete suite; which one gives a small suite depends on
//! the machine. A transition of a state where a test ends goes on with that
//! test, so such states come first in every order; the orders differ in what
//! comes when there is none, and in the order of the inputs.

use super::convergence::ConvergenceGraph;
use crate::cover::StateCover;
use crate::mealy::{InputId, StateId, SuiteModel};

/// An order of transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransitionOrder {
    /// The state to start a new test for.
    pub states: StateOrder,
    /// The inputs of a state.
    pub inputs: InputOrder,
}

/// The state for which a new test is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateOrder {
    /// The first state in the order of the cover.
    Shallowest,
    /// The last state in the order of the cover.
    Deepest,
    /// The state with most transitions left.
    MostOpen,
    /// The state with fewest transitions left.
    FewestOpen,
}

/// The order of the inputs of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputOrder {
    /// The order in which the machine lists them.
    Listed,
    /// First the input that leads to the state with the longest access word.
    DeepFirst,
    /// First the input that leads to the state with the shortest access word.
    ShallowFirst,
}

impl TransitionOrder {
    /// Makes the order by states first, then by inputs.
    pub const fn new(states: StateOrder, inputs: InputOrder) -> Self {
        Self { states, inputs }
    }

    /// The inputs of `state` that are no step of the cover, last first.
    fn open_inputs(self, spec: &SuiteModel, cover: &StateCover, state: StateId) -> Vec<InputId> {
        let mut open: Vec<InputId> =
            // Reversed, because transitions are taken from the end.
            spec.inputs().rev().filter(|&x| !cover.has_edge(spec, state, x)).collect();
        let depth = |x: &InputId| cover.depth(spec.next(state, *x));
        // The sorts are stable, so inputs that lead equally deep stay in the order of the machine.
        match self.inputs {
            InputOrder::Listed => (),
            InputOrder::DeepFirst => open.sort_by_key(depth),
            InputOrder::ShallowFirst => open.sort_by_key(|x| std::cmp::Reverse(depth(x))),
        }
        open
    }
}

/// Transitions still to be proved.
pub struct PendingTransitions {
    pub states: Vec<(StateId, Vec<InputId>)>,
    /// The place in `states` of the last transition returned.
    at: usize,
    pub order: StateOrder,
}

impl PendingTransitions {
    /// Lists the transitions of `spec` that are not part of `cover`, in the order of `visit`.
    pub fn new(spec: &SuiteModel, cover: &StateCover, visit: TransitionOrder) -> Self {
        let states = cover.order().iter().map(|&state| (state, visit.open_inputs(spec, cover, state)));
        Self { states: states.filter(|(_, open)| !open.is_empty()).collect(), at: 0, order: visit.states }
    }

    /// The next transition: of a state where a test ends, or as the order says.
    pub fn next_transition(&mut self, graph: &ConvergenceGraph<'_>) -> Option<(StateId, InputId)> {
        let n = self.states.len();
        // From the last state on, round the list: a test that ends where it began goes on with that state's next input.
        let ready = (self.at..n).chain(0..self.at.min(n)).find(|&i| graph.has_test_end(self.states[i].0));
        self.at = match ready {
            Some(ready) => ready,
            None => self.fallback_index()?,
        };
        let (state, open) = &mut self.states[self.at];
        debug_assert!(!open.is_empty(), "a state without open transitions is removed from the list");
        let next = (*state, open.pop()?);
        if open.is_empty() {
            self.states.remove(self.at);
        }
        Some(next)
    }

    fn fallback_index(&self) -> Option<usize> {
        let n = self.states.len();
        let left = |&i: &usize| self.states[i].1.len();
        match self.order {
            StateOrder::Shallowest => (n > 0).then_some(0),
            StateOrder::Deepest => n.checked_sub(1),
            StateOrder::MostOpen => (0..n).max_by_key(left),
            StateOrder::FewestOpen => (0..n).min_by_key(left),
        }
    }
}
