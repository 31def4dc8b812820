//! The convergence graph: a test tree with the words known to converge merged.
//!
//! Two words *converge* if they lead every machine of the fault domain that
//! passes the suite to the same state \[SPY12]. The tests form a tree; putting
//! convergent words into one class makes a graph of it. It has one *access
//! node* per state of the machine, the class of that state's access word, and
//! below each access node a tree of words not yet known to converge with one.
//! A word of inputs is *defined* at a node of the graph if tests cover each of
//! its steps, possibly from different but convergent words. Two nodes are
//! *separated* if a word defined at both is answered differently.
//!
//! *Invariants.* A child of an access node is an access node exactly if that
//! transition is proved. Every node knows one shallowest word of the tree that
//! leads to it, and all of its words that end a test.

use ioxide_model::index;
use ioxide_model::index::{Idx, IndexVec};

use super::RESET_COST;
use super::arena::{IdArena, OptionalId};
use super::paths::{TreeWord, TreeWordId, WordPaths};
use crate::cover::StateCover;
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

index! { /// A node of the graph: a class of convergent words.
pub struct WordClassId; }

/// The number of symbols by which a way from the end of a test may exceed an access word before a reset is cheaper.
///
/// Chosen by feel, below [`RESET_COST`]: a detour also uses up the end of a test, which another word could have
/// continued. Every value gives a complete suite.
const RESET_ALLOWANCE: usize = 1;

/// The words at which a new word may start besides the shallowest one of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestContinuation {
    /// Only at the end of a test in the same class.
    InPlace,
    /// At the end of a test in the class of a prefix.
    FromPrefix,
    /// At the end of a test from which proved transitions lead there.
    FromAnywhere,
}

#[derive(Clone, Copy, Debug)]
enum ClassChildren {
    None,
    One(InputId, WordClassId),
    /// A block of one optional child per input.
    Many(u32),
}

#[derive(Clone, Copy, Debug)]
struct WordClass {
    state: StateId,
    parent: WordClassId,
    via: InputId,
    kids: ClassChildren,
    /// A shallowest word of the class.
    shallowest: TreeWordId,
    /// The words of the class that end a test, as a linked list.
    ends: OptionalId,
}

/// The memory of a graph, reused from one that is no longer needed.
#[derive(Default)]
pub struct SpareGraph {
    nodes: IdArena<WordClassId, WordClass>,
    blocks: Vec<OptionalId>,
    tree_words: IdArena<TreeWordId, TreeWord>,
}

impl SpareGraph {
    /// Takes over the memory of discarded words.
    pub(super) fn take_from(&mut self, paths: WordPaths) {
        self.tree_words = paths.into_tree();
    }
}

/// The graph of the tests made so far.
pub struct ConvergenceGraph<'s> {
    pub(super) spec: &'s SuiteModel,
    nodes: IdArena<WordClassId, WordClass>,
    blocks: Vec<OptionalId>,
    tree_words: IdArena<TreeWordId, TreeWord>,
    /// Proved transitions into each state, one for each state they leave; more would lead to the same classes.
    into: IndexVec<StateId, Vec<(StateId, InputId)>>,
    /// True once every two access nodes are separated: (A) of the H-condition \[DEY05].
    pub(super) is_cover_separated: bool,
    pub(super) policy: TestContinuation,
    /// The cost of the tests so far, in symbols with resets; it never falls.
    pub(super) cost: usize,
    /// For each state the epoch of the last search that met it, so that no search has to clear the table.
    visited: IndexVec<StateId, u32>,
    epoch: u32,
}

impl<'s> ConvergenceGraph<'s> {
    /// Makes the graph of the state cover alone.
    pub fn new(
        spec: &'s SuiteModel,
        cover: &StateCover,
        policy: TestContinuation,
        spare: SpareGraph,
    ) -> Self {
        let n = spec.n_states();
        let SpareGraph { mut nodes, mut blocks, mut tree_words } = spare;
        nodes.clear();
        blocks.clear();
        tree_words.clear();
        let mut graph = Self {
            spec,
            nodes,
            blocks,
            tree_words,
            into: IndexVec::from_elem(Vec::new(), n),
            is_cover_separated: false,
            policy,
            cost: 0,
            visited: IndexVec::from_elem(0, n),
            epoch: 0,
        };
        // The access nodes come first, in the order of states, so that a node is one exactly if its number is that of a
        // state: `is_access_node` and `access_node` rely on it.
        for state in spec.states() {
            let parent = WordClassId::new(state.index());
            graph.nodes.push(WordClass {
                state,
                parent,
                via: InputId::new(0),
                kids: ClassChildren::None,
                shallowest: TreeWordId::new(0),
                ends: OptionalId::NONE,
            });
        }
        for &state in cover.order() {
            let word = match cover.parent(state) {
                None => graph.push_tree_word(None, InputId::new(0)),
                Some((from, input)) => {
                    let word =
                        graph.push_tree_word(Some(graph.nodes[graph.access_node(from)].shallowest), input);
                    // A transition of the cover converges with the access word of its target by definition: it is that
                    // word [SPY12].
                    graph.set_child(graph.access_node(from), input, graph.access_node(state));
                    graph.record_convergent(from, input, state);
                    word
                }
            };
            let node = graph.access_node(state);
            graph.nodes[node].shallowest = word;
            debug_assert_eq!(graph.tree_words[word].depth as usize, cover.depth(state));
        }
        // Access words that no other access word goes on from are the first ends of tests.
        for state in spec.states() {
            let node = graph.access_node(state);
            let word = graph.nodes[node].shallowest;
            if !graph.tree_words[word].extended {
                graph.nodes[node].ends = OptionalId::some(word);
            }
        }
        graph
    }

    /// The class of the access word of `state`.
    pub fn access_node(&self, state: StateId) -> WordClassId {
        WordClassId::new(state.index())
    }

    pub fn is_access_node(&self, node: WordClassId) -> bool {
        node.index() < self.spec.n_states()
    }

    /// The state that the words of a class lead to.
    pub fn state(&self, node: WordClassId) -> StateId {
        self.nodes[node].state
    }

    /// Returns whether no word but the empty one is defined at `node`.
    pub fn is_leaf(&self, node: WordClassId) -> bool {
        matches!(self.nodes[node].kids, ClassChildren::None)
    }

    /// Returns the words at `node` that end a test; none if there are many.
    pub(super) fn test_ends_below(&self, node: WordClassId) -> Vec<Word> {
        // Chosen by feel: each end is offered as a word of its own, and more than a few cost time and seldom win.
        const MAX_ENDS: usize = 4;
        let mut words = Vec::new();
        let mut open = vec![(Word::new(), node)];
        while let Some((word, at)) = open.pop() {
            if self.nodes[at].ends.is_some() {
                words.push(word.clone());
            }
            let mut kids = self.first_child(at);
            while let Some((input, kid)) = kids {
                // A proved transition leads to another state's words, which are not "below" this node.
                if !self.is_access_node(kid) {
                    open.push(([word.as_slice(), &[input]].concat(), kid));
                }
                if words.len() + open.len() > MAX_ENDS {
                    return Vec::new();
                }
                kids = self.next_child(at, input);
            }
        }
        words
    }

    /// Returns whether a test ends in the class of the access word of `state`.
    pub(super) fn has_test_end(&self, state: StateId) -> bool {
        self.nodes[self.access_node(state)].ends.is_some()
    }

    /// Returns the class of the words of `node` with one more input, if some word goes on with it.
    pub(super) fn child(&self, node: WordClassId, input: InputId) -> Option<WordClassId> {
        match self.nodes[node].kids {
            ClassChildren::None => None,
            ClassChildren::One(only, kid) => (only == input).then_some(kid),
            ClassChildren::Many(block) => self.blocks[block as usize + input.index()].get(),
        }
    }

    /// Returns the number of symbols of `word` that are defined at `node`, and the node that they lead to.
    pub(super) fn walk_defined(&self, node: WordClassId, word: &[InputId]) -> (usize, WordClassId) {
        let mut at = node;
        for (i, &input) in word.iter().enumerate() {
            match self.child(at, input) {
                Some(next) => at = next,
                None => return (i, at),
            }
        }
        (word.len(), at)
    }

    /// Returns whether a word defined at both nodes is answered differently.
    pub(super) fn are_separated(&self, a: WordClassId, b: WordClassId) -> bool {
        let (s, t) = (self.state(a), self.state(b));
        // The specification answers both alike for ever, so no word of the tests can separate them.
        if s == t {
            return false;
        }
        // A short cut only: the words that separate them are in the graph, and the walk below would find them.
        if self.is_cover_separated && self.is_access_node(a) && self.is_access_node(b) {
            return true;
        }
        // Only inputs defined at both nodes can matter. Most nodes have one child, so try its input instead of all.
        match (self.nodes[a].kids, self.nodes[b].kids) {
            (ClassChildren::None, _) | (_, ClassChildren::None) => false,
            (ClassChildren::One(input, _), _) | (_, ClassChildren::One(input, _)) => {
                self.are_separated_by(a, b, input)
            }
            _ => self.spec.inputs().any(|input| self.are_separated_by(a, b, input)),
        }
    }

    fn are_separated_by(&self, a: WordClassId, b: WordClassId, input: InputId) -> bool {
        let (Some(next_a), Some(next_b)) = (self.child(a, input), self.child(b, input)) else { return false };
        self.spec.output(self.state(a), input) != self.spec.output(self.state(b), input)
            || self.are_separated(next_a, next_b)
    }

    /// Makes `word` defined at `node`, by as few new symbols as it can.
    pub fn add_word(&mut self, node: WordClassId, word: &[InputId]) -> WordClassId {
        let (defined, mut at) = self.walk_defined(node, word);
        if defined == word.len() {
            return at;
        }
        // The defined part may be covered by several tests, none of which has all of it. Only the rest is new, and it
        // may hang at any word of the class it starts in: they all lead to one state in every machine that passes.
        let mut end = self.take_start(at);
        for &input in &word[defined..] {
            end = self.push_tree_word(Some(end), input);
            // New symbols make new classes: nothing is known to converge with them before `mark_convergent` says so.
            let state = self.spec.next(self.state(at), input);
            let fresh = self.nodes.push(WordClass {
                state,
                parent: at,
                via: input,
                kids: ClassChildren::None,
                shallowest: end,
                ends: OptionalId::NONE,
            });
            self.set_child(at, input, fresh);
            at = fresh;
        }
        self.push_test_end(at, end);
        at
    }

    /// Returns the cost of [`Self::add_word`]: the new symbols, and [`Self::access_cost`] where they start.
    pub(super) fn added_cost(&self, node: WordClassId, word: &[InputId]) -> usize {
        let (defined, at) = self.walk_defined(node, word);
        if defined == word.len() {
            return 0;
        }
        word.len() - defined + self.access_cost(at)
    }

    /// Returns the cost of starting a new word at `node`: 0 if a test ends there, else the depth of a shallowest word
    /// plus 1.
    pub(super) fn access_cost(&self, node: WordClassId) -> usize {
        let node = &self.nodes[node];
        if node.ends.is_some() { 0 } else { self.tree_words[node.shallowest].depth as usize + 1 }
    }

    /// A word of the class of `at` to go on from: the end of a test, or, if
    /// that is cheaper, a longer way from the end of another test, or else a
    /// shallowest word, where a new test branches off.
    fn take_start(&mut self, at: WordClassId) -> TreeWordId {
        if let Some(end) = self.pop_test_end(at) {
            return end;
        }
        let branch = self.nodes[at].shallowest;
        // Branching off repeats the access word in a new test; a way from the end of a test must be shorter than that.
        let limit = self.tree_words[branch].depth as usize + RESET_ALLOWANCE;
        match self.find_way_to(at, limit) {
            Some((from, way)) => {
                let end = self.pop_test_end(from).expect("the way starts at the end of a test");
                way.iter().fold(end, |word, &input| self.push_tree_word(Some(word), input))
            }
            None => branch,
        }
    }

    /// A class where a test ends and the shortest way from there, if below `limit`.
    fn find_way_to(&mut self, at: WordClassId, limit: usize) -> Option<(WordClassId, Word)> {
        if self.policy == TestContinuation::InPlace {
            return None;
        }
        // First up the tree: a prefix in whose class a test ends. Then, from the access node, over proved transitions:
        // each leads every machine that passes to the access node of its target, so words stay in their classes.
        let mut way = Word::new();
        let mut node = at;
        while !self.is_access_node(node) {
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
        if self.policy == TestContinuation::FromPrefix {
            return None;
        }
        let (from, mut transfer) = self.find_transfer_to(self.state(node), limit - way.len())?;
        transfer.extend(way);
        Some((self.access_node(from), transfer))
    }

    /// Searches backwards over proved transitions, breadth first, for an access node where
    /// a test ends; gives up after a fixed number of states.
    fn find_transfer_to(&mut self, target: StateId, limit: usize) -> Option<(StateId, Word)> {
        // States met by one search. It bounds the time spent on each word; chosen by feel, any value is correct.
        const MAX_VISITS: usize = 96;
        self.epoch += 1;
        self.visited[target] = self.epoch;
        let mut queue: Vec<(StateId, InputId, usize, usize)> = vec![(target, InputId::new(0), 0, 0)];
        let mut done = 0;
        while done < queue.len() && queue.len() < MAX_VISITS {
            let (state, _, length, _) = queue[done];
            // Breadth first: every entry behind this one is at least as far away.
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
                if self.has_test_end(from) {
                    return Some((from, inputs_along(&queue)));
                }
            }
            done += 1;
        }
        None
    }

    /// Records that `input` in `state` converges with the access word of its
    /// target, and merges the words below.
    pub(super) fn mark_convergent(&mut self, state: StateId, input: InputId) {
        let node = self.access_node(state);
        let Some(kid) = self.child(node, input) else { return };
        if self.is_access_node(kid) {
            return;
        }
        let target = self.state(kid);
        self.set_child(node, input, self.access_node(target));
        self.record_convergent(state, input, target);
        // `kid` and the access node of `target` are one class now, and so is what the same inputs lead to from both:
        // the subtree below `kid` is laid over the one below the access node, and what that lacks is moved there. Each
        // step removes a node of the subtree, so this ends; words are moved, never dropped, so separated nodes stay
        // separated.
        let mut open = vec![(kid, self.access_node(target))];
        while let Some((from, into)) = open.pop() {
            debug_assert_eq!(
                self.state(from),
                self.state(into),
                "convergent words lead the specification to one state"
            );
            self.merge_words(from, into);
            let mut kids = self.first_child(from);
            while let Some((input, kid)) = kids {
                match self.child(into, input) {
                    Some(same) => open.push((kid, same)),
                    None => {
                        self.nodes[kid].parent = into;
                        self.nodes[kid].via = input;
                        self.set_child(into, input, kid);
                    }
                }
                kids = self.next_child(from, input);
            }
        }
    }

    fn merge_words(&mut self, from: WordClassId, into: WordClassId) {
        let WordClass { shallowest, ends, .. } = self.nodes[from];
        if self.tree_words[shallowest].depth < self.tree_words[self.nodes[into].shallowest].depth {
            self.nodes[into].shallowest = shallowest;
        }
        let mut end = ends;
        while let Some(word) = end.get() {
            end = self.tree_words[word].next_end;
            self.push_test_end(into, word);
        }
    }

    /// The child of `node` by the first input that has one.
    fn first_child(&self, node: WordClassId) -> Option<(InputId, WordClassId)> {
        match self.nodes[node].kids {
            ClassChildren::None => None,
            ClassChildren::One(input, kid) => Some((input, kid)),
            ClassChildren::Many(_) => self.child_from(node, 0),
        }
    }

    /// The next child of `node` after that by `input`.
    fn next_child(&self, node: WordClassId, input: InputId) -> Option<(InputId, WordClassId)> {
        match self.nodes[node].kids {
            ClassChildren::None | ClassChildren::One(..) => None,
            ClassChildren::Many(_) => self.child_from(node, input.index() + 1),
        }
    }

    fn child_from(&self, node: WordClassId, first: usize) -> Option<(InputId, WordClassId)> {
        (first..self.spec.n_inputs()).find_map(|x| {
            let input = InputId::new(x);
            Some((input, self.child(node, input)?))
        })
    }

    fn record_convergent(&mut self, from: StateId, input: InputId, to: StateId) {
        let into = &mut self.into[to];
        // One transition per state it leaves is enough: a transfer only asks which states lead here.
        if !into.iter().any(|&(state, _)| state == from) {
            into.push((from, input));
        }
    }

    fn set_child(&mut self, node: WordClassId, input: InputId, kid: WordClassId) {
        match self.nodes[node].kids {
            ClassChildren::None => self.nodes[node].kids = ClassChildren::One(input, kid),
            ClassChildren::One(only, _) if only == input => {
                self.nodes[node].kids = ClassChildren::One(input, kid)
            }
            // The second child: only now is a block of one place per input worth its memory.
            ClassChildren::One(only, other) => {
                let block = self.blocks.len();
                self.blocks.extend(std::iter::repeat_n(OptionalId::NONE, self.spec.n_inputs()));
                self.blocks[block + only.index()] = OptionalId::some(other);
                self.blocks[block + input.index()] = OptionalId::some(kid);
                self.nodes[node].kids =
                    ClassChildren::Many(u32::try_from(block).expect("fewer than 2^32 children"));
            }
            ClassChildren::Many(block) => self.blocks[block as usize + input.index()] = OptionalId::some(kid),
        }
    }

    fn push_tree_word(&mut self, parent: Option<TreeWordId>, input: InputId) -> TreeWordId {
        // A word that goes on at the end of a test costs one symbol; one that branches off is a new test, which costs
        // its whole length and a reset.
        let mut depth = 0;
        let mut branches = true;
        if let Some(parent) = parent {
            branches = std::mem::replace(&mut self.tree_words[parent].extended, true);
            depth = self.tree_words[parent].depth + 1;
        }
        self.cost += if branches { depth as usize + RESET_COST } else { 1 };
        let parent = parent.map_or(OptionalId::NONE, OptionalId::some);
        self.tree_words.push(TreeWord { parent, input, depth, next_end: OptionalId::NONE, extended: false })
    }

    fn push_test_end(&mut self, node: WordClassId, word: TreeWordId) {
        self.tree_words[word].next_end = self.nodes[node].ends;
        self.nodes[node].ends = OptionalId::some(word);
    }

    fn pop_test_end(&mut self, node: WordClassId) -> Option<TreeWordId> {
        let end: TreeWordId = self.nodes[node].ends.get()?;
        self.nodes[node].ends = self.tree_words[end].next_end;
        Some(end)
    }

    /// Returns the tests: all paths of the tree to its ends. The rest of the memory goes to `spare`.
    pub(super) fn into_paths(self, spare: &mut SpareGraph) -> WordPaths {
        (spare.nodes, spare.blocks) = (self.nodes, self.blocks);
        WordPaths::new(self.tree_words)
    }

    /// Returns the memory of a discarded graph.
    pub(super) fn into_spare(self) -> SpareGraph {
        SpareGraph { nodes: self.nodes, blocks: self.blocks, tree_words: self.tree_words }
    }
}

/// The inputs from the last entry of a backwards search to its first.
fn inputs_along(queue: &[(StateId, InputId, usize, usize)]) -> Word {
    let mut word = Word::new();
    let mut at = queue.len() - 1;
    while at != 0 {
        word.push(queue[at].1);
        at = queue[at].3;
    }
    word
}
