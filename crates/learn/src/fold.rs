//! The tree folded into a machine that may have gaps: the assumptions about a system while it is learned.
//!
//! The *basis* holds nodes of the tree that are pairwise apart: states of the system, each with the word that reaches
//! it. A transition of a basis state leads to a node of the tree (the *frontier*, or the basis again); once that
//! node is believed to be a basis state, words are predicted on from there. Predictions choose what to ask; that two
//! states differ is only ever concluded from the tree itself \[VGRW22].

use ioxide_fsm::mealy::{InputId, OutputId, StateId};
use ioxide_fsm::word::Word;
use ioxide_model::index::{Idx, IndexVec};

use crate::tree::{LearnTreeNode, ObservationTree};

/// The move of a basis state on an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct FoldMove {
    /// The node of the tree it leads to; `None` if it was never asked.
    pub node: Option<LearnTreeNode>,
    /// The basis state that the node is believed to be; `None` while no belief is formed.
    pub to: Option<StateId>,
    /// For each basis state whether the node is known to be apart from it; may be shorter than the basis.
    pub apart: Vec<bool>,
}

/// Basis, moves and beliefs.
#[derive(Clone, Debug)]
pub(crate) struct LearnerFold {
    n_inputs: usize,
    pub basis: IndexVec<StateId, LearnTreeNode>,
    moves: Vec<FoldMove>,
    /// The state of each node of the basis.
    state_of: Vec<Option<StateId>>,
}

impl LearnerFold {
    /// The fold whose basis is the root alone.
    pub fn new(tree: &ObservationTree) -> Self {
        let (basis, moves, state_of) = (IndexVec::new(), Vec::new(), Vec::new());
        let mut fold = Self { n_inputs: tree.n_inputs(), basis, moves, state_of };
        fold.push_state(tree, tree.root());
        fold
    }

    pub fn n_states(&self) -> usize {
        self.basis.len()
    }

    pub fn n_moves(&self) -> usize {
        self.moves.len()
    }

    /// Returns the states of the fold, which are those of the basis.
    pub fn states(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.basis.len()).map(StateId::new)
    }

    /// Returns the inputs in the order of their ids.
    pub fn inputs(&self) -> impl Iterator<Item = InputId> + use<> {
        (0..self.n_inputs).map(InputId::new)
    }

    pub fn move_at(&self, (state, input): (StateId, InputId)) -> &FoldMove {
        &self.moves[state.index() * self.n_inputs + input.index()]
    }

    /// Returns the move of a state on an input, to be changed.
    pub fn at_mut(&mut self, (state, input): (StateId, InputId)) -> &mut FoldMove {
        &mut self.moves[state.index() * self.n_inputs + input.index()]
    }

    /// The move with this number, state by state.
    pub fn step_number(&self, number: usize) -> Option<(StateId, InputId)> {
        let is_there = number < self.moves.len();
        is_there.then(|| (StateId::new(number / self.n_inputs), InputId::new(number % self.n_inputs)))
    }

    /// The state whose basis node this is.
    #[inline]
    pub fn state_of(&self, node: LearnTreeNode) -> Option<StateId> {
        self.state_of.get(node.index()).copied().flatten()
    }

    /// Makes `node` a basis state; what the tree knows of its moves is taken over.
    pub fn push_state(&mut self, tree: &ObservationTree, node: LearnTreeNode) -> StateId {
        let state = self.basis.push(node);
        if self.state_of.len() <= node.index() {
            self.state_of.resize(node.index() + 1, None);
        }
        self.state_of[node.index()] = Some(state);
        for input in self.inputs() {
            let kid = tree.child(node, input);
            // A sink goes to itself.
            let to = (kid == Some(node)).then_some(state);
            self.moves.push(FoldMove { node: kid, to, ..FoldMove::default() });
        }
        state
    }

    /// The answer to `input` at `token`, a node of the tree, and where that leads: to a basis node where the state is
    /// believed known.
    #[inline]
    pub fn step(
        &self,
        tree: &ObservationTree,
        token: LearnTreeNode,
        input: InputId,
    ) -> Option<(OutputId, LearnTreeNode)> {
        // *Invariant.* A token is a basis node wherever the state is believed known, so predictions go on beyond what
        // was asked below the node itself; elsewhere the tree alone answers.
        let (kid, to) = match self.state_of(token) {
            Some(state) => {
                let entry = self.move_at((state, input));
                (entry.node?, entry.to)
            }
            None => (tree.child(token, input)?, None),
        };
        Some((tree.output(kid), to.map_or(kid, |state| self.basis[state])))
    }

    /// The state after `word` from `state`, as far as it is believed.
    pub fn run(&self, state: StateId, word: &[InputId]) -> Option<StateId> {
        word.iter().try_fold(state, |state, &input| self.move_at((state, input)).to)
    }

    /// Returns whether an answer below `node` differs from what is predicted for `state`.
    pub fn has_conflict(&self, tree: &ObservationTree, node: LearnTreeNode, state: StateId) -> bool {
        let mut open = vec![(node, self.basis[state])];
        while let Some((node, token)) = open.pop() {
            for (input, kid) in tree.branches(node) {
                let Some((output, token)) = self.step(tree, token, input) else { continue };
                if output != tree.output(kid) {
                    return true;
                }
                open.push((kid, token));
            }
        }
        false
    }

    /// A shortest word below `node` whose answer is not what is predicted for `state`.
    pub fn find_conflict(&self, tree: &ObservationTree, node: LearnTreeNode, state: StateId) -> Option<Word> {
        // As `conflicts`, but breadth first: the word is asked of the system, so it should be a shortest one.
        let mut queue = vec![(node, self.basis[state])];
        let mut at = 0;
        while at < queue.len() {
            let (here, token) = queue[at];
            for (input, kid) in tree.branches(here) {
                let Some((output, token)) = self.step(tree, token, input) else { continue };
                if output != tree.output(kid) {
                    let way = tree.trace_between(node, kid);
                    return Some(way.into_iter().map(|(input, _)| input).collect());
                }
                queue.push((kid, token));
            }
            at += 1;
        }
        None
    }
}
