//! A test tree folded by what is known to converge.
//!
//! Two words *converge* if they lead every machine of the fault domain that
//! passes the suite to the same state. The tests form a tree; folding it along
//! known convergence gives a graph with one *root* per state of the machine,
//! the class of that state's access word, and below each root a tree of words
//! not yet known to converge with a root. A word of inputs is *defined* at a
//! node of the fold if tests cover each of its steps, possibly from different
//! but convergent words.
//!
//! *Invariants.* A child of a root is a root exactly if that transition is
//! proved. Every node knows one shallowest word of the tree that leads to it,
//! and all of its words that end a test.

use ioxide_model::index;
use ioxide_model::index::{Idx, IndexVec};

use super::RESET_COST;
use super::arena::{IdArena, OptionalId};
use super::paths::{LeafId, TreeWord, WordPaths};
use crate::cover::StateCover;
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

index! { /// A node of the fold: a class of convergent words.
pub(super) struct FoldId; }

/// The number of symbols by which a way from the end of a test may exceed an access word before a reset is cheaper.
const RESET: usize = 1;

/// The words at which a new word may start besides the shallowest one of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoldContinuation {
    /// Only at the end of a test in the same class.
    InPlace,
    /// At the end of a test in the class of a prefix.
    FromPrefix,
    /// At the end of a test from which proved transitions lead there.
    FromAnywhere,
}

#[derive(Clone, Copy, Debug)]
enum FoldChildren {
    None,
    One(InputId, FoldId),
    /// A block of one optional child per input.
    Many(u32),
}

#[derive(Clone, Copy, Debug)]
struct FoldNode {
    state: StateId,
    parent: FoldId,
    via: InputId,
    kids: FoldChildren,
    /// A shallowest word of the class.
    real: LeafId,
    /// The words of the class that end a test, as a linked list.
    ends: OptionalId,
}

/// Memory for a fold, reused from one that is no longer needed.
#[derive(Default)]
pub(super) struct SpareFold {
    nodes: IdArena<FoldId, FoldNode>,
    blocks: Vec<OptionalId>,
    reals: IdArena<LeafId, TreeWord>,
}

impl SpareFold {
    /// Takes over the memory of discarded words.
    pub(super) fn take_from(&mut self, paths: WordPaths) {
        self.reals = paths.into_reals();
    }
}

/// The folded tree.
pub(super) struct SuiteFold<'s> {
    pub(super) spec: &'s SuiteModel,
    nodes: IdArena<FoldId, FoldNode>,
    blocks: Vec<OptionalId>,
    reals: IdArena<LeafId, TreeWord>,
    /// Proved transitions into each state, one for each state they leave.
    into: IndexVec<StateId, Vec<(StateId, InputId)>>,
    /// True once every two roots are known to be apart.
    pub(super) roots_apart: bool,
    pub(super) policy: FoldContinuation,
    /// The cost of the tests so far, in symbols with resets; it never falls.
    pub(super) cost: usize,
    visited: IndexVec<StateId, u32>,
    epoch: u32,
}

impl<'s> SuiteFold<'s> {
    /// The fold of the state cover alone.
    pub(super) fn new(
        spec: &'s SuiteModel,
        cover: &StateCover,
        policy: FoldContinuation,
        spare: SpareFold,
    ) -> Self {
        let n = spec.n_states();
        let SpareFold { mut nodes, mut blocks, mut reals } = spare;
        nodes.clear();
        blocks.clear();
        reals.clear();
        let mut fold = Self {
            spec,
            nodes,
            blocks,
            reals,
            into: IndexVec::filled(Vec::new(), n),
            roots_apart: false,
            policy,
            cost: 0,
            visited: IndexVec::filled(0, n),
            epoch: 0,
        };
        // The roots come first, in the order of states, so that a node is a root exactly if its number is that of a
        // state: `is_root` and `root` rely on it.
        for state in spec.states() {
            let real = LeafId::new(0);
            let parent = FoldId::new(state.index());
            fold.nodes.push(FoldNode {
                state,
                parent,
                via: InputId::new(0),
                kids: FoldChildren::None,
                real,
                ends: OptionalId::NONE,
            });
        }
        for &state in cover.order() {
            let real = match cover.parent(state) {
                None => fold.push_real(None, InputId::new(0)),
                Some((from, input)) => {
                    let real = fold.push_real(Some(fold.nodes[fold.root(from)].real), input);
                    // A transition of the cover converges with the access word of its target by definition: it is that
                    // word [SPY12].
                    fold.set_child(fold.root(from), input, fold.root(state));
                    fold.note_proved(from, input, state);
                    real
                }
            };
            let root = fold.root(state);
            fold.nodes[root].real = real;
        }
        // Access words that no other access word goes on from are the first ends of tests.
        for state in spec.states() {
            let root = fold.root(state);
            let real = fold.nodes[root].real;
            if !fold.reals[real].extended {
                fold.nodes[root].ends = OptionalId::some(real);
            }
        }
        fold
    }

    pub(super) fn root(&self, state: StateId) -> FoldId {
        FoldId::new(state.index())
    }

    pub(super) fn is_root(&self, node: FoldId) -> bool {
        node.index() < self.spec.n_states()
    }

    pub(super) fn state(&self, node: FoldId) -> StateId {
        self.nodes[node].state
    }

    /// Returns whether no word but the empty one is defined at `node`.
    pub(super) fn is_bare(&self, node: FoldId) -> bool {
        matches!(self.nodes[node].kids, FoldChildren::None)
    }

    /// Returns the words at `node` that end a test; none if there are many.
    pub(super) fn ends_below(&self, node: FoldId) -> Vec<Word> {
        const FEW: usize = 4;
        let mut words = Vec::new();
        let mut open = vec![(Word::new(), node)];
        while let Some((word, at)) = open.pop() {
            if self.nodes[at].ends.is_some() {
                words.push(word.clone());
            }
            let mut kids = self.first_kid(at);
            while let Some((input, kid)) = kids {
                if !self.is_root(kid) {
                    open.push(([word.as_slice(), &[input]].concat(), kid));
                }
                if words.len() + open.len() > FEW {
                    return Vec::new();
                }
                kids = self.kid_after(at, input);
            }
        }
        words
    }

    /// Returns whether a test ends in the class of the access word of `state`.
    pub(super) fn has_end(&self, state: StateId) -> bool {
        self.nodes[self.root(state)].ends.is_some()
    }

    pub(super) fn child(&self, node: FoldId, input: InputId) -> Option<FoldId> {
        match self.nodes[node].kids {
            FoldChildren::None => None,
            FoldChildren::One(only, kid) => (only == input).then_some(kid),
            FoldChildren::Many(block) => self.blocks[block as usize + input.index()].get(),
        }
    }

    /// Returns the number of symbols of `word` that are defined at `node`, and the node that they lead to.
    pub(super) fn walk(&self, node: FoldId, word: &[InputId]) -> (usize, FoldId) {
        let mut at = node;
        for (i, &input) in word.iter().enumerate() {
            match self.child(at, input) {
                Some(next) => at = next,
                None => return (i, at),
            }
        }
        (word.len(), at)
    }

    /// Returns whether a word defined at both nodes separates them.
    pub(super) fn apart(&self, a: FoldId, b: FoldId) -> bool {
        let (s, t) = (self.state(a), self.state(b));
        // The specification answers both alike for ever, so no word of the tests can separate them.
        if s == t {
            return false;
        }
        if self.roots_apart && self.is_root(a) && self.is_root(b) {
            return true;
        }
        match (self.nodes[a].kids, self.nodes[b].kids) {
            (FoldChildren::None, _) | (_, FoldChildren::None) => false,
            (FoldChildren::One(input, _), _) | (_, FoldChildren::One(input, _)) => {
                self.apart_after(a, b, input)
            }
            _ => self.spec.inputs().any(|input| self.apart_after(a, b, input)),
        }
    }

    fn apart_after(&self, a: FoldId, b: FoldId, input: InputId) -> bool {
        let (Some(next_a), Some(next_b)) = (self.child(a, input), self.child(b, input)) else { return false };
        self.spec.output(self.state(a), input) != self.spec.output(self.state(b), input)
            || self.apart(next_a, next_b)
    }

    /// Makes `word` defined at `node`, by as few new symbols as it can.
    pub(super) fn add(&mut self, node: FoldId, word: &[InputId]) -> FoldId {
        let (defined, mut at) = self.walk(node, word);
        if defined == word.len() {
            return at;
        }
        // The defined part may be covered by several tests, none of which has all of it. Only the rest is new, and it
        // may hang at any word of the class it starts in: they all lead to one state in every machine that passes.
        let mut real = self.start(at);
        for &input in &word[defined..] {
            real = self.push_real(Some(real), input);
            let state = self.spec.next(self.state(at), input);
            let fresh = self.nodes.push(FoldNode {
                state,
                parent: at,
                via: input,
                kids: FoldChildren::None,
                real,
                ends: OptionalId::NONE,
            });
            self.set_child(at, input, fresh);
            at = fresh;
        }
        self.push_end(at, real);
        at
    }

    /// Returns the cost of [`Self::add`]: the new symbols, and [`Self::access`] where they start.
    pub(super) fn cost(&self, node: FoldId, word: &[InputId]) -> usize {
        let (defined, at) = self.walk(node, word);
        if defined == word.len() {
            return 0;
        }
        word.len() - defined + self.access(at)
    }

    /// Returns the cost of starting a new word at `node`: 0 if a test ends there, else the depth of a shallowest word
    /// plus 1.
    pub(super) fn access(&self, node: FoldId) -> usize {
        let node = &self.nodes[node];
        if node.ends.is_some() { 0 } else { self.reals[node.real].depth as usize + 1 }
    }

    /// A word of the class of `at` to go on from: the end of a test, or, if
    /// that is cheaper, a longer way from the end of another test, or else a
    /// shallowest word, where a new test branches off.
    fn start(&mut self, at: FoldId) -> LeafId {
        if let Some(end) = self.pop_end(at) {
            return end;
        }
        let branch = self.nodes[at].real;
        // Branching off repeats the access word in a new test; a way from the end of a test must be shorter than that.
        let limit = self.reals[branch].depth as usize + RESET;
        match self.way_to(at, limit) {
            Some((from, way)) => {
                let end = self.pop_end(from).expect("the way starts at the end of a test");
                way.iter().fold(end, |real, &input| self.push_real(Some(real), input))
            }
            None => branch,
        }
    }

    /// A class where a test ends and the shortest way from there, if below `limit`.
    fn way_to(&mut self, at: FoldId, limit: usize) -> Option<(FoldId, Word)> {
        if self.policy == FoldContinuation::InPlace {
            return None;
        }
        // First up the tree: a prefix in whose class a test ends. Then, from the root, over proved transitions: each
        // leads every machine that passes to the root of its target, so words stay in their classes.
        let mut way = Word::new();
        let mut node = at;
        while !self.is_root(node) {
            way.push(self.nodes[node].via);
            node = self.nodes[node].parent;
            if way.len() >= limit {
                return None;
            }
            if self.nodes[node].ends.is_some() {
                way.reverse();
                return Some((node, way));
            }
        }
        way.reverse();
        if self.policy == FoldContinuation::FromPrefix {
            return None;
        }
        let (from, mut transfer) = self.transfer_to(self.state(node), limit - way.len())?;
        transfer.extend(way);
        Some((self.root(from), transfer))
    }

    /// Backwards breadth-first search over proved transitions for a root with
    /// the end of a test; gives up after a fixed number of states.
    fn transfer_to(&mut self, target: StateId, limit: usize) -> Option<(StateId, Word)> {
        const MAX_VISITS: usize = 96;
        self.epoch += 1;
        self.visited[target] = self.epoch;
        let mut queue: Vec<(StateId, InputId, usize, usize)> = vec![(target, InputId::new(0), 0, 0)];
        let mut done = 0;
        while done < queue.len() && queue.len() < MAX_VISITS {
            let (state, _, length, _) = queue[done];
            if length + 1 >= limit {
                return None;
            }
            for i in 0..self.into[state].len() {
                let (from, input) = self.into[state][i];
                if self.visited[from] == self.epoch {
                    continue;
                }
                self.visited[from] = self.epoch;
                queue.push((from, input, length + 1, done));
                if self.has_end(from) {
                    return Some((from, trail(&queue)));
                }
            }
            done += 1;
        }
        None
    }

    /// Notes that `input` in `state` converges with the access word of its
    /// target, and folds the words below.
    pub(super) fn prove(&mut self, state: StateId, input: InputId) {
        let root = self.root(state);
        let Some(kid) = self.child(root, input) else { return };
        if self.is_root(kid) {
            return;
        }
        let target = self.state(kid);
        self.set_child(root, input, self.root(target));
        self.note_proved(state, input, target);
        // `kid` and the root of `target` are one class now, and so are what the same inputs lead to from both: the
        // subtree below `kid` is laid over the one below the root, and what the root lacks is moved there.
        let mut open = vec![(kid, self.root(target))];
        while let Some((from, into)) = open.pop() {
            self.merge_words(from, into);
            let mut kids = self.first_kid(from);
            while let Some((input, kid)) = kids {
                match self.child(into, input) {
                    Some(same) => open.push((kid, same)),
                    None => {
                        self.nodes[kid].parent = into;
                        self.nodes[kid].via = input;
                        self.set_child(into, input, kid);
                    }
                }
                kids = self.kid_after(from, input);
            }
        }
    }

    fn merge_words(&mut self, from: FoldId, into: FoldId) {
        let FoldNode { real, ends, .. } = self.nodes[from];
        if self.reals[real].depth < self.reals[self.nodes[into].real].depth {
            self.nodes[into].real = real;
        }
        let mut end = ends;
        while let Some(real) = end.get() {
            end = self.reals[real].next_end;
            self.push_end(into, real);
        }
    }

    /// The child of `node` by the first input that has one.
    fn first_kid(&self, node: FoldId) -> Option<(InputId, FoldId)> {
        match self.nodes[node].kids {
            FoldChildren::None => None,
            FoldChildren::One(input, kid) => Some((input, kid)),
            FoldChildren::Many(_) => self.kid_from(node, 0),
        }
    }

    /// The next child of `node` after that by `input`.
    fn kid_after(&self, node: FoldId, input: InputId) -> Option<(InputId, FoldId)> {
        match self.nodes[node].kids {
            FoldChildren::None | FoldChildren::One(..) => None,
            FoldChildren::Many(_) => self.kid_from(node, input.index() + 1),
        }
    }

    fn kid_from(&self, node: FoldId, first: usize) -> Option<(InputId, FoldId)> {
        (first..self.spec.n_inputs()).find_map(|x| {
            let input = InputId::new(x);
            Some((input, self.child(node, input)?))
        })
    }

    fn note_proved(&mut self, from: StateId, input: InputId, to: StateId) {
        let into = &mut self.into[to];
        if !into.iter().any(|&(state, _)| state == from) {
            into.push((from, input));
        }
    }

    fn set_child(&mut self, node: FoldId, input: InputId, kid: FoldId) {
        match self.nodes[node].kids {
            FoldChildren::None => self.nodes[node].kids = FoldChildren::One(input, kid),
            FoldChildren::One(only, _) if only == input => {
                self.nodes[node].kids = FoldChildren::One(input, kid)
            }
            FoldChildren::One(only, other) => {
                let block = self.blocks.len();
                self.blocks.extend(std::iter::repeat_n(OptionalId::NONE, self.spec.n_inputs()));
                self.blocks[block + only.index()] = OptionalId::some(other);
                self.blocks[block + input.index()] = OptionalId::some(kid);
                self.nodes[node].kids =
                    FoldChildren::Many(u32::try_from(block).expect("fewer than 2^32 children"));
            }
            FoldChildren::Many(block) => self.blocks[block as usize + input.index()] = OptionalId::some(kid),
        }
    }

    fn push_real(&mut self, parent: Option<LeafId>, input: InputId) -> LeafId {
        // A word that goes on at the end of a test costs one symbol; one that branches off is a new test, which costs its
        // whole length and a reset.
        let mut depth = 0;
        let mut branches = true;
        if let Some(parent) = parent {
            branches = std::mem::replace(&mut self.reals[parent].extended, true);
            depth = self.reals[parent].depth + 1;
        }
        self.cost += if branches { depth as usize + RESET_COST } else { 1 };
        let parent = parent.map_or(OptionalId::NONE, OptionalId::some);
        self.reals.push(TreeWord { parent, input, depth, next_end: OptionalId::NONE, extended: false })
    }

    fn push_end(&mut self, node: FoldId, real: LeafId) {
        self.reals[real].next_end = self.nodes[node].ends;
        self.nodes[node].ends = OptionalId::some(real);
    }

    fn pop_end(&mut self, node: FoldId) -> Option<LeafId> {
        let end: LeafId = self.nodes[node].ends.get()?;
        self.nodes[node].ends = self.reals[end].next_end;
        Some(end)
    }

    /// Returns the tests: all paths of the tree to its ends. The rest of the memory goes to `spare`.
    pub(super) fn into_paths(self, spare: &mut SpareFold) -> WordPaths {
        (spare.nodes, spare.blocks) = (self.nodes, self.blocks);
        WordPaths::new(self.reals)
    }

    /// Returns the memory of a discarded fold.
    pub(super) fn into_spare(self) -> SpareFold {
        SpareFold { nodes: self.nodes, blocks: self.blocks, reals: self.reals }
    }
}

/// The inputs from the last entry of a backwards search to its first.
fn trail(queue: &[(StateId, InputId, usize, usize)]) -> Word {
    let mut word = Word::new();
    let mut at = queue.len() - 1;
    while at != 0 {
        word.push(queue[at].1);
        at = queue[at].3;
    }
    word
}
