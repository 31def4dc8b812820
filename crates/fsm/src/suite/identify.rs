//! The words that distinguish the state after a test from all others.
//!
//! A node of the convergence graph is *identified* if it is separated from the
//! access node of every other state. Under the fixed rule it gets the harmonised identifier of its
//! state. On the fly it gets the cheapest of several greedy choices of words,
//! given what the tests hold already; a word the access nodes still lack is
//! charged to all nodes that will use it.

use ioxide_model::index::{Idx, IndexVec};

use super::convergence::{ConvergenceGraph, WordClassId};
use super::offers::{CutWord, OfferPrices, Offers, WordChooser};
use crate::distinguish::{
    SplittingTree, WordCosts, WordPassage, greedy_separating_word, harmonised_identifiers, identifying_words,
};
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

/// The rule by which nodes of the graph are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifyRule {
    /// The harmonised identifier of the state for every node.
    Fixed,
    /// Harmonised identifiers for the access words, words chosen on the fly for all other nodes.
    FixedCover,
    /// Words chosen on the fly for all nodes.
    OnTheFly,
}

impl IdentifyRule {
    pub const ALL: [Self; 3] = [Self::Fixed, Self::FixedCover, Self::OnTheFly];
    pub(super) const CHOOSING: [Self; 2] = [Self::FixedCover, Self::OnTheFly];
}

/// The words to choose from.
pub struct WordLibrary<'s> {
    spec: &'s SuiteModel,
    splitting: SplittingTree,
    weights: WordCosts,
    /// Words for each state, those of its harmonised identifier first.
    pub words: IndexVec<StateId, Vec<Word>>,
    n_harmonised: IndexVec<StateId, usize>,
    /// The number of the first row of each state, which has one row for each of its words.
    first_row: IndexVec<StateId, usize>,
    /// The rows: for each other state the number of symbols after which the word separates it, 0 if it does not.
    pub ends: Vec<u16>,
}

impl<'s> WordLibrary<'s> {
    /// Makes a library of the harmonised identifiers of `spec`, chosen by `costs`.
    pub fn new(spec: &'s SuiteModel, costs: WordCosts) -> Self {
        let splitting = SplittingTree::new(spec);
        let words = harmonised_identifiers(spec, &splitting, &costs);
        let n_harmonised = words.iter().map(Vec::len).collect();
        Self {
            spec,
            splitting,
            weights: costs,
            words,
            n_harmonised,
            first_row: IndexVec::new(),
            ends: Vec::new(),
        }
    }

    /// Returns the library with further words for each state, which need not be harmonised, and with the rows.
    pub fn with_more_words(mut self) -> Self {
        let (spec, mut passage) = (self.spec, WordPassage::default());
        let mut n_rows = 0;
        for state in spec.states() {
            self.words[state].extend(identifying_words(spec, &self.splitting, state));
            self.first_row.push(n_rows);
            n_rows += self.words[state].len();
        }
        // One row per word instead of a run of the word for each pair: the choice of words reads these numbers for
        // every node of the suite.
        self.ends.reserve(n_rows * spec.n_states());
        for (state, words) in self.words.iter_enumerated() {
            for word in words {
                passage.follow(spec, state, word);
                let end = |other| {
                    if other == state { 0 } else { narrow_length(passage.separation_length(spec, other)) }
                };
                self.ends.extend(spec.states().map(end));
            }
        }
        self
    }

    fn harmonised_words(&self, state: StateId) -> &[Word] {
        &self.words[state][..self.n_harmonised[state]]
    }

    /// Returns the index in `ends` at which the row of a word of `state` begins.
    pub fn row_start(&self, state: StateId, word: usize) -> usize {
        (self.first_row[state] + word) * self.spec.n_states()
    }
}

/// The identification of nodes under a rule, with the words chosen so far.
pub struct Identification<'l, 's> {
    library: &'l WordLibrary<'s>,
    spec: &'s SuiteModel,
    /// The last choice for a leaf of each state.
    chosen: IndexVec<StateId, ChosenWords>,
    /// For each entry of the library's rows, true once that much of the word is known to be defined at the
    /// access node.
    defined_at_access: Vec<bool>,
    rule: IdentifyRule,
    chooser: WordChooser,
    /// Scratch: the states whose access nodes a node is not separated from.
    pub open: Vec<StateId>,
}

/// Words chosen for a state.
#[derive(Clone, Default)]
struct ChosenWords {
    words: Vec<CutWord>,
    /// The number of leaves of the state identified so far.
    uses: usize,
    /// The cost of starting a word when the words were chosen, if at that cost they would be chosen again; else
    /// `None`.
    settled: Option<usize>,
}

impl<'l, 's> Identification<'l, 's> {
    /// Makes an identification that has chosen no words yet; a fixed rule needs no room for chosen words.
    pub fn new(library: &'l WordLibrary<'s>, rule: IdentifyRule) -> Self {
        let spec = library.spec;
        let chosen = IndexVec::from_elem(
            ChosenWords::default(),
            if rule == IdentifyRule::Fixed { 0 } else { spec.n_states() },
        );
        let defined_at_access = vec![false; if rule == IdentifyRule::Fixed { 0 } else { library.ends.len() }];
        Self {
            library,
            spec,
            chosen,
            defined_at_access,
            rule,
            chooser: WordChooser::default(),
            open: Vec::new(),
        }
    }

    /// Separates `node` from the access nodes of all other states.
    pub fn identify(&mut self, graph: &mut ConvergenceGraph<'_>, node: WordClassId) {
        // Pairs (A) of [DEY05] were separated first; an access node needs no more.
        if graph.is_cover_separated && graph.is_access_node(node) {
            return;
        }
        let state = graph.state(node);
        let fixed = match self.rule {
            IdentifyRule::Fixed => true,
            IdentifyRule::FixedCover => graph.is_access_node(node),
            IdentifyRule::OnTheFly => false,
        };
        // Harmonised identifiers need no look at the graph: whatever other node is identified, the two share a prefix
        // that separates them.
        if fixed {
            self.library.harmonised_words(state).iter().for_each(|word| {
                graph.add_word(node, word);
            });
        } else if graph.is_leaf(node) && !graph.is_access_node(node) {
            self.identify_leaf(graph, node);
        } else {
            self.choose_words(graph, node);
        }
    }

    /// Reuses the last choice for the state, looking for a better one each
    /// time the number of its uses has doubled.
    fn identify_leaf(&mut self, graph: &mut ConvergenceGraph<'_>, node: WordClassId) {
        let state = graph.state(node);
        let chosen = &mut self.chosen[state];
        // A choice costs the time of looking at all words; what it saves is less with every use, so it is made again at
        // the uses 1, 2, 4, 8 and so on: a logarithm of choices, and none where it would come out the same.
        chosen.uses += 1;
        if chosen.uses.is_power_of_two()
            && chosen.settled.is_none_or(|price| price != graph.access_cost(node))
        {
            self.choose_for_leaf(graph, node);
        } else {
            for cut in &chosen.words {
                graph.add_word(node, &self.library.words[state][cut.word][..cut.end]);
            }
        }
    }

    /// Separates two nodes of different states.
    pub(super) fn separate(&self, graph: &mut ConvergenceGraph<'_>, a: WordClassId, b: WordClassId) {
        let (s, t) = (graph.state(a), graph.state(b));
        debug_assert_ne!(s, t, "no word separates a state from itself");
        let known = self.library.words[s].iter().chain(&self.library.words[t]).map(Vec::as_slice);
        let cut = |word: &'l [InputId]| {
            let end = self.spec.separation_length(s, t, word)?;
            let cost = graph.added_cost(a, &word[..end]) + graph.added_cost(b, &word[..end]);
            Some((cost, &word[..end]))
        };
        // The word of the splitting tree separates any two states, so there is always a candidate.
        let candidates = known.chain([self.library.splitting.separating_word(s, t)]).filter_map(cut);
        if let Some((_, word)) = candidates.min_by_key(|&(cost, _)| cost) {
            graph.add_word(a, word);
            graph.add_word(b, word);
        }
    }

    /// Adds the cheapest plan of words to a node at which some may be defined already.
    fn choose_words(&mut self, graph: &mut ConvergenceGraph<'_>, node: WordClassId) {
        let state = graph.state(node);
        let is_leaf = graph.is_leaf(node);
        let is_open = |&other: &StateId| {
            other != state && (is_leaf || !graph.are_separated(node, graph.access_node(other)))
        };
        self.open.clear();
        self.open.extend(self.spec.states().filter(is_open));
        if self.open.is_empty() {
            return;
        }
        // A word that ends a test here can go on without a reset, which may be cheaper than any word of the library.
        let continued = self.continue_tests(graph, node);
        self.offer_library_words(graph, node);
        for word in &continued {
            let end = |other| narrow_length(self.spec.separation_length(state, other, word).unwrap_or(0));
            self.chooser.offers.push_offer(graph, node, word, &self.open, |other| {
                let end = end(other);
                (
                    end,
                    if end > 0 {
                        graph.added_cost(graph.access_node(other), &word[..usize::from(end)])
                    } else {
                        0
                    },
                )
            });
        }
        self.chooser.choose_cheapest_plan(&self.offer_prices(state));
        self.add_chosen_words(graph, node, &continued);
    }

    /// Adds the cheapest plan of words to a node without any, and notes it for the state.
    ///
    /// The words that end there, continued, are those of the library.
    fn choose_for_leaf(&mut self, graph: &mut ConvergenceGraph<'_>, node: WordClassId) {
        let state = graph.state(node);
        self.open.clear();
        self.open.extend(self.spec.states().filter(|&other| other != state));
        let price = graph.access_cost(node);
        self.offer_library_words(graph, node);
        self.chooser.choose_cheapest_plan(&self.offer_prices(state));
        let chosen = &mut self.chosen[state];
        // If no access node lacked a word, the prices cannot fall any more: at the same cost of starting a word the
        // choice would come out the same.
        chosen.settled = self.chooser.offers.are_all_defined().then_some(price);
        chosen.words.clear();
        chosen.words.extend(self.chooser.chosen_words().map(|(cut, _)| cut));
        self.add_chosen_words(graph, node, &[]);
    }

    /// Returns the parameters of the choice of words for a node of `state`.
    fn offer_prices(&self, state: StateId) -> OfferPrices {
        OfferPrices {
            n_open: self.open.len(),
            n_harmonised: self.library.n_harmonised[state],
            uses: self.library.weights.uses[state],
            access: self.library.weights.access,
        }
    }

    /// Adds the chosen words to the node, and to the access nodes at which they are not defined yet.
    fn add_chosen_words(&self, graph: &mut ConvergenceGraph<'_>, node: WordClassId, continued: &[Word]) {
        let words = &self.library.words[graph.state(node)];
        for (cut, separations) in self.chooser.chosen_words() {
            // Numbers beyond the words of the library are those of `continued`, which were offered after them.
            let word = words.get(cut.word).unwrap_or_else(|| &continued[cut.word - words.len()]);
            graph.add_word(node, &word[..cut.end]);
            // A word separates two nodes only if it is defined at both.
            for separation in separations.iter().filter(|separation| separation.missing_cost > 0) {
                let node = graph.access_node(self.open[separation.open as usize]);
                graph.add_word(node, &word[..usize::from(separation.end)]);
            }
        }
    }

    /// Offers every word of the library for the state of `node`, with the open states it separates and its cost.
    fn offer_library_words(&mut self, graph: &ConvergenceGraph<'_>, node: WordClassId) {
        let state = graph.state(node);
        let offers: &mut Offers = &mut self.chooser.offers;
        offers.clear();
        for (i, word) in self.library.words[state].iter().enumerate() {
            let row = self.library.row_start(state, i);
            let ends = &self.library.ends[row..row + self.spec.n_states()];
            let defined_at_access = &mut self.defined_at_access[row..row + self.spec.n_states()];
            offers.push_offer(graph, node, word, &self.open, |other| {
                let (end, defined_at_access) = (ends[other.index()], &mut defined_at_access[other.index()]);
                // Tests only grow: what an access node has of a word it keeps, so this is asked until the answer is
                // yes.
                if end == 0 || *defined_at_access {
                    return (end, 0);
                }
                let missing_cost = graph.added_cost(graph.access_node(other), &word[..usize::from(end)]);
                *defined_at_access = missing_cost == 0;
                (end, missing_cost)
            });
        }
    }

    /// The words at `node` that end a test, each continued to separate what is open.
    pub fn continue_tests(&self, graph: &ConvergenceGraph<'_>, node: WordClassId) -> Vec<Word> {
        let state = graph.state(node);
        let go_on = |mut word: Word| {
            let now = self.spec.state_after(state, &word);
            let undecided =
                self.open.iter().filter(|&&other| self.spec.separation_length(state, other, &word).is_none());
            let others: Vec<StateId> = undecided.map(|&other| self.spec.state_after(other, &word)).collect();
            word.extend(greedy_separating_word(self.spec, &self.library.splitting, now, &others));
            word
        };
        graph.test_ends_below(node).into_iter().map(go_on).collect()
    }
}

/// Returns `end`, the number of symbols after which a word separates two states, or 0 (never) if it exceeds `u16`.
fn narrow_length(end: usize) -> u16 {
    u16::try_from(end).unwrap_or(0)
}
