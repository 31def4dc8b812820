//! Harmonised identifiers grown pair by pair, each word where it costs least.
//!
//! A pair of states that no common prefix of its identifiers separates yet
//! gets the word that makes the two identifiers grow least: a word that one of
//! them has already, an end of one continued by a shortest separating word, or
//! a branch.
//!
//! *Promises* that identifiers are harmonised \[LPB94] once every pair was
//! separated, in whatever order: words are only added.

use ioxide_model::index::{Idx, IndexVec};

use crate::distinguish::{SeparatingWords, WordCosts};
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::{Word, without_prefixes};

/// One set of words per state, as tries in one arena; the root of a state has its number.
#[derive(Default)]
pub struct Identifiers {
    nodes: Vec<TrieNode>,
    /// The log of changes: each node whose first child was replaced, with the former one.
    changes: Vec<(u32, u32)>,
}

/// A point in the history of identifiers to go back to.
#[derive(Clone, Copy)]
pub(super) struct IdentifierMark {
    nodes: usize,
    changes: usize,
}

#[derive(Clone, Copy)]
struct TrieNode {
    input: InputId,
    first_kid: u32,
    next_sibling: u32,
}

/// The id of no node, in the place of an option, which would double the size of a link.
const NO_NODE: u32 = u32::MAX;

impl Identifiers {
    /// Empty sets.
    pub fn new(spec: &SuiteModel) -> Self {
        Self::with_states(spec.n_states())
    }

    fn with_states(n: usize) -> Self {
        let root = TrieNode { input: InputId::new(0), first_kid: NO_NODE, next_sibling: NO_NODE };
        Self { nodes: vec![root; n], changes: Vec::new() }
    }

    /// Sets of these words.
    pub(super) fn from_words(words: &IndexVec<StateId, Vec<Word>>) -> Self {
        let mut identifiers = Self::with_states(words.len());
        for (state, words) in words.iter_enumerated() {
            words.iter().for_each(|word| identifiers.add(state, word));
        }
        identifiers
    }

    /// Returns a mark of the current identifiers for [`Self::restore`].
    pub(super) fn mark(&self) -> IdentifierMark {
        IdentifierMark { nodes: self.nodes.len(), changes: self.changes.len() }
    }

    /// Restores the identifiers to `mark`.
    pub(super) fn restore(&mut self, mark: IdentifierMark) {
        // Nodes are only pushed and first children only replaced, so undoing the replacements backwards and dropping
        // the new nodes gives back exactly what was, without a copy of the tries.
        debug_assert!(
            mark.nodes <= self.nodes.len() && mark.changes <= self.changes.len(),
            "marks are used in order"
        );
        for (node, first_kid) in self.changes.drain(mark.changes..).rev() {
            self.nodes[node as usize].first_kid = first_kid;
        }
        self.nodes.truncate(mark.nodes);
    }

    fn set_first_child(&mut self, node: u32, kid: u32) {
        let before = std::mem::replace(&mut self.nodes[node as usize].first_kid, kid);
        self.changes.push((node, before));
    }

    /// The children of a node with their inputs.
    fn children(&self, node: u32) -> impl Iterator<Item = (InputId, u32)> {
        let mut at = self.nodes[node as usize].first_kid;
        std::iter::from_fn(move || {
            let found = (at != NO_NODE).then_some(at)?;
            at = self.nodes[found as usize].next_sibling;
            Some((self.nodes[found as usize].input, found))
        })
    }

    /// Returns the child of a node by an input, if it has one.
    fn child(&self, node: u32, input: InputId) -> Option<u32> {
        self.children(node).find(|&(x, _)| x == input).map(|(_, kid)| kid)
    }

    fn is_leaf(&self, node: u32) -> bool {
        self.nodes[node as usize].first_kid == NO_NODE
    }

    /// Adds a word to the set of `state`.
    pub(super) fn add(&mut self, state: StateId, word: &[InputId]) {
        let mut at = root_node(state);
        for &input in word {
            at = self.child(at, input).unwrap_or_else(|| self.add_child(at, input));
        }
    }

    fn add_child(&mut self, node: u32, input: InputId) -> u32 {
        let fresh = u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes");
        // In front of its siblings: their links stay as they are, so that one entry of the log undoes the change.
        let next_sibling = self.nodes[node as usize].first_kid;
        self.nodes.push(TrieNode { input, first_kid: NO_NODE, next_sibling });
        self.set_first_child(node, fresh);
        fresh
    }

    /// Empties the set of `state`.
    pub(super) fn clear(&mut self, state: StateId) {
        self.set_first_child(root_node(state), NO_NODE);
    }

    /// Returns whether `word` is a prefix of a word of `state`.
    pub fn contains(&self, state: StateId, word: &[InputId]) -> bool {
        word.iter().try_fold(root_node(state), |node, &input| self.child(node, input)).is_some()
    }

    /// Returns the cost of the words of `state`, weighted by its uses.
    pub(super) fn state_cost(&self, state: StateId, costs: &WordCosts) -> f64 {
        costs.uses[state] * self.cost_below(root_node(state), 0, costs.access)
    }

    fn cost_below(&self, node: u32, depth: usize, access: f64) -> f64 {
        // Only leaves are words of a suite: inner nodes are prefixes, and cost nothing of their own.
        if self.is_leaf(node) {
            return if depth > 0 { depth as f64 + access } else { 0.0 };
        }
        self.children(node).map(|(_, kid)| self.cost_below(kid, depth + 1, access)).sum()
    }

    /// The words of `state`, without prefixes.
    pub(super) fn identifier_words(&self, state: StateId) -> Vec<Word> {
        let mut words = Vec::new();
        let mut open = vec![(Word::new(), root_node(state))];
        while let Some((word, node)) = open.pop() {
            open.extend(self.children(node).map(|(input, kid)| ([word.as_slice(), &[input]].concat(), kid)));
            if self.is_leaf(node) && !word.is_empty() {
                words.push(word);
            }
        }
        without_prefixes(words)
    }

    /// The words of all states.
    pub fn all_words(&self, spec: &SuiteModel) -> IndexVec<StateId, Vec<Word>> {
        spec.states().map(|state| self.identifier_words(state)).collect()
    }
}

fn root_node(state: StateId) -> u32 {
    state.index() as u32
}

/// The position of a word in the trie of a state's identifier.
#[derive(Clone, Copy)]
enum IdentifierPlace {
    /// The word leads to this node.
    Inside(u32),
    /// The word goes on beyond a leaf at this depth.
    Beyond(usize),
    /// The word leaves the trie at an inner node or at the empty root.
    Branched,
}

/// The best word for a pair so far, to be followed by a shortest one from where it leads.
pub struct PairWord {
    /// The increase in the cost of each of the two identifiers.
    growth: [f64; 2],
    word: Word,
    now: [StateId; 2],
}

impl PairWord {
    fn total_growth(&self) -> f64 {
        self.growth[0] + self.growth[1]
    }
}

/// Grows identifiers.
pub struct PairGrower<'a> {
    pub(super) spec: &'a SuiteModel,
    pub(super) shortest: &'a SeparatingWords,
    pub(super) weights: &'a WordCosts,
    pub identifiers: Identifiers,
    /// The number of pairs of positions explored so far.
    pub(super) steps: usize,
    word: Word,
    best: PairWord,
}

impl<'a> PairGrower<'a> {
    /// Starts with empty sets.
    pub fn new(spec: &'a SuiteModel, shortest: &'a SeparatingWords, costs: &'a WordCosts) -> Self {
        let best = PairWord { growth: [0.0; 2], word: Word::new(), now: [spec.initial(); 2] };
        Self {
            spec,
            shortest,
            weights: costs,
            identifiers: Identifiers::new(spec),
            steps: 0,
            word: Word::new(),
            best,
        }
    }

    /// Adds a word to both identifiers that separates the two states, unless a common prefix does already; returns
    /// the increase in the cost of each.
    pub(super) fn separate(&mut self, a: StateId, b: StateId) -> [f64; 2] {
        self.best.growth = [f64::INFINITY; 2];
        self.word.clear();
        self.explore_words(
            [a, b],
            [a, b],
            [IdentifierPlace::Inside(root_node(a)), IdentifierPlace::Inside(root_node(b))],
        );
        // No growth means that a common prefix separates the states already.
        let PairWord { growth, ref mut word, now } = self.best;
        debug_assert!(growth[0].is_finite(), "a branch at both roots is always possible");
        if growth != [0.0; 2] {
            self.shortest.append_word(self.spec, now, word);
            self.identifiers.add(a, word);
            self.identifiers.add(b, word);
        }
        growth
    }

    /// Looks at the words that leave the identifiers here or go on in one of them.
    fn explore_words(&mut self, states: [StateId; 2], now: [StateId; 2], places: [IdentifierPlace; 2]) {
        // States that have met answer alike for ever: no continuation separates them.
        if now[0] == now[1] {
            return;
        }
        // Branch and bound: whatever follows is at least as long as a shortest word from here.
        let length = self.word.len() + self.shortest.distance(now[0], now[1]);
        if self.growth_lower_bound(states, places, length) >= self.best.total_growth() {
            return;
        }
        self.steps += 1;
        self.keep_if_cheaper(states, now, places);
        if let IdentifierPlace::Inside(node) = places[0] {
            let mut at = self.identifiers.nodes[node as usize].first_kid;
            while at != NO_NODE {
                let TrieNode { input, next_sibling, .. } = self.identifiers.nodes[at as usize];
                self.explore_input(
                    states,
                    now,
                    [IdentifierPlace::Inside(at), self.advance_place(places[1], input)],
                    input,
                );
                at = next_sibling;
            }
        }
        if let IdentifierPlace::Inside(node) = places[1] {
            let mut at = self.identifiers.nodes[node as usize].first_kid;
            while at != NO_NODE {
                let TrieNode { input, next_sibling, .. } = self.identifiers.nodes[at as usize];
                // Inputs that both tries have were taken above.
                let other = self.advance_place(places[0], input);
                if !matches!(other, IdentifierPlace::Inside(_)) {
                    self.explore_input(states, now, [other, IdentifierPlace::Inside(at)], input);
                }
                at = next_sibling;
            }
        }
    }

    fn explore_input(
        &mut self,
        states: [StateId; 2],
        now: [StateId; 2],
        places: [IdentifierPlace; 2],
        input: InputId,
    ) {
        let [a, b] = now;
        self.word.push(input);
        if self.spec.output(a, input) == self.spec.output(b, input) {
            self.explore_words(states, [self.spec.next(a, input), self.spec.next(b, input)], places);
        } else {
            // Separated: nothing has to follow, which equal states stand for, their distance being 0.
            self.keep_if_cheaper(states, [a, a], places);
        }
        self.word.pop();
    }

    fn advance_place(&self, place: IdentifierPlace, input: InputId) -> IdentifierPlace {
        let IdentifierPlace::Inside(node) = place else { return place };
        match self.identifiers.child(node, input) {
            Some(kid) => IdentifierPlace::Inside(kid),
            None if self.identifiers.is_leaf(node) && !self.word.is_empty() => {
                IdentifierPlace::Beyond(self.word.len())
            }
            None => IdentifierPlace::Branched,
        }
    }

    /// Returns a lower bound on the cost added by any word of at least `length` symbols that goes on from here.
    fn growth_lower_bound(&self, states: [StateId; 2], places: [IdentifierPlace; 2], length: usize) -> f64 {
        let reached = self.word.len();
        let growth = |place| match place {
            // Inside, some word that is there already may do; at a leaf only the symbols behind it are new.
            IdentifierPlace::Inside(node) if !self.identifiers.is_leaf(node) => 0.0,
            IdentifierPlace::Inside(_) if reached > 0 => (length - reached) as f64,
            IdentifierPlace::Beyond(end) => (length - end) as f64,
            IdentifierPlace::Inside(_) | IdentifierPlace::Branched => length as f64 + self.weights.access,
        };
        growth(places[0]) * self.weights.uses[states[0]] + growth(places[1]) * self.weights.uses[states[1]]
    }

    /// Keeps the word, with a shortest one from `now`, if it costs less than the best so far.
    fn keep_if_cheaper(&mut self, states: [StateId; 2], now: [StateId; 2], places: [IdentifierPlace; 2]) {
        let reached = self.word.len();
        let length = reached + self.shortest.distance(now[0], now[1]);
        let growth = |place| match place {
            // Ending inside costs nothing; going on at a leaf, or beyond one, costs the new symbols; any other way out
            // of the trie is a new word with an access word of its own.
            IdentifierPlace::Inside(_) if reached == length => 0.0,
            IdentifierPlace::Inside(node) if self.identifiers.is_leaf(node) && reached > 0 => {
                (length - reached) as f64
            }
            IdentifierPlace::Beyond(end) => (length - end) as f64,
            IdentifierPlace::Inside(_) | IdentifierPlace::Branched => length as f64 + self.weights.access,
        };
        let uses = &self.weights.uses;
        let growth = [growth(places[0]) * uses[states[0]], growth(places[1]) * uses[states[1]]];
        if growth[0] + growth[1] < self.best.total_growth() {
            self.best.growth = growth;
            self.best.now = now;
            self.best.word.clone_from(&self.word);
        }
    }
}
