//! Which words tell the state after a test from all others.
//!
//! A node of the fold is *identified* if it is apart from every root but that
//! of its state. Under the fixed rule it gets the harmonised identifier of its
//! state. On the fly it gets the cheapest of several greedy choices of words,
//! given what the tests hold already; a word the roots still lack is charged
//! to all nodes that will use it.

use ioxide_model::index::{Idx, IndexVec};

use super::fold::{Fold, NodeId};
use crate::distinguish::{
    SplittingTree, Way, Weights, harmonised_identifiers, identifying_words, singling_word,
};
use crate::mealy::{InputId, Spec, StateId};
use crate::word::Word;

/// How nodes are identified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// By the harmonised identifier of the state.
    Fixed,
    /// The cover by harmonised identifiers, all else as the tests suggest.
    FixedCover,
    /// As the tests suggest, from the beginning.
    OnTheFly,
}

impl Rule {
    pub(super) const ALL: [Self; 3] = [Self::Fixed, Self::FixedCover, Self::OnTheFly];
    pub(super) const CHOOSING: [Self; 2] = [Self::FixedCover, Self::OnTheFly];
}

/// The words to choose from.
pub(super) struct Library<'s> {
    spec: &'s Spec,
    splitting: SplittingTree,
    weights: Weights,
    /// Words for each state, those of its harmonised identifier first.
    words: IndexVec<StateId, Vec<Word>>,
    n_harmonised: IndexVec<StateId, usize>,
    /// For each word of each state after how many symbols it separates the
    /// state from each other one, 0 if it does not.
    ends: IndexVec<StateId, Vec<Vec<u16>>>,
}

impl<'s> Library<'s> {
    pub(super) fn new(spec: &'s Spec, weights: Weights) -> Self {
        let splitting = SplittingTree::new(spec);
        let words = harmonised_identifiers(spec, &splitting, &weights);
        let n_harmonised = words.iter().map(Vec::len).collect();
        Self { spec, splitting, weights, words, n_harmonised, ends: IndexVec::new() }
    }

    /// The same with words for each state that need not be harmonised.
    pub(super) fn with_more_words(mut self) -> Self {
        for state in self.spec.states() {
            let more = identifying_words(self.spec, &self.splitting, state);
            self.words[state].extend(more);
        }
        let (spec, mut way) = (self.spec, Way::default());
        let mut ends = |state, word: &Word| {
            way.follow(spec, state, word);
            let end = |other| if other == state { 0 } else { narrow(way.end(spec, other)) };
            spec.states().map(end).collect()
        };
        let of_state = |state| self.words[state].iter().map(|word| ends(state, word)).collect();
        self.ends = spec.states().map(of_state).collect();
        self
    }

    fn harmonised(&self, state: StateId) -> &[Word] {
        &self.words[state][..self.n_harmonised[state]]
    }
}

/// The choices made.
pub(super) struct Identify<'l, 's> {
    library: &'l Library<'s>,
    spec: &'s Spec,
    /// The last choice for a bare node of each state, and how often it was used.
    chosen: IndexVec<StateId, (Vec<Word>, usize)>,
    rule: Rule,
}

/// A word for a node and what it would cost, whatever else is chosen.
#[derive(Clone, Copy)]
struct Offer<'w> {
    word: &'w [InputId],
    /// How much of it is defined at the node, and what starting the rest costs.
    defined: usize,
    access: usize,
}

/// Words for a node with what they would do.
struct Offers<'w> {
    offers: Vec<Offer<'w>>,
    /// The open roots each separates the node from, one offer after the other.
    roots: Vec<Separation>,
    /// Where the roots of each offer end.
    ends: Vec<usize>,
    /// What each offer does for its roots.
    uses: Vec<Uses>,
}

/// A root that a word separates a node from.
#[derive(Clone, Copy)]
struct Separation {
    /// Its place among the open roots.
    open: u32,
    /// After how many symbols.
    end: u16,
    /// What it costs to define that much of the word at the root.
    owed: u16,
}

/// An offer taken: the word cut after its last use.
struct Choice {
    offer: usize,
    end: usize,
    roots: Vec<Separation>,
    cost: f64,
}

impl<'l, 's> Identify<'l, 's> {
    pub(super) fn new(library: &'l Library<'s>, rule: Rule) -> Self {
        let chosen = IndexVec::filled((Vec::new(), 0), library.spec.n_states());
        Self { library, spec: library.spec, chosen, rule }
    }

    /// Makes `node` apart from all roots of other states.
    pub(super) fn identify(&mut self, fold: &mut Fold<'_>, node: NodeId) {
        if fold.roots_apart && fold.is_root(node) {
            return;
        }
        let state = fold.state(node);
        let fixed = match self.rule {
            Rule::Fixed => true,
            Rule::FixedCover => fold.is_root(node),
            Rule::OnTheFly => false,
        };
        if fixed {
            add_all(fold, node, self.library.harmonised(state));
        } else if fold.is_bare(node) && !fold.is_root(node) {
            self.identify_bare(fold, node);
        } else {
            self.choose_all(fold, node);
        }
    }

    /// Reuses the last choice for the state, looking for a better one each
    /// time the number of its uses has doubled.
    fn identify_bare(&mut self, fold: &mut Fold<'_>, node: NodeId) {
        let state = fold.state(node);
        self.chosen[state].1 += 1;
        if self.chosen[state].1.is_power_of_two() {
            self.chosen[state].0 = self.choose_all(fold, node);
        } else {
            add_all(fold, node, &self.chosen[state].0);
        }
    }

    /// Makes two nodes of different states apart.
    pub(super) fn separate(&self, fold: &mut Fold<'_>, a: NodeId, b: NodeId) {
        let (s, t) = (fold.state(a), fold.state(b));
        let known = self.library.words[s].iter().chain(&self.library.words[t]).map(Vec::as_slice);
        let cut = |word: &'_ [InputId]| {
            let end = self.spec.separated_at(s, t, word)?;
            let cost = fold.cost(a, &word[..end]) + fold.cost(b, &word[..end]);
            Some((cost, word[..end].to_vec()))
        };
        let candidates = known.chain([self.library.splitting.word(s, t)]).filter_map(cut);
        if let Some((_, word)) = candidates.min_by_key(|&(cost, _)| cost) {
            fold.add(a, &word);
            fold.add(b, &word);
        }
    }

    /// Adds the cheapest plan of words and returns them.
    fn choose_all(&self, fold: &mut Fold<'_>, node: NodeId) -> Vec<Word> {
        let state = fold.state(node);
        let bare = fold.is_bare(node);
        let is_open = |&other: &StateId| other != state && (bare || !fold.apart(node, fold.root(other)));
        let mut open: Vec<StateId> = Vec::with_capacity(self.spec.n_states());
        open.extend(self.spec.states().filter(is_open));
        if open.is_empty() {
            return Vec::new();
        }
        let continued = self.continued(fold, node, &open);
        let offers = self.offers(fold, node, &open, &continued);
        let n_harmonised = self.library.n_harmonised[state];
        let access = self.library.weights.access;
        let uses = self.library.weights.uses[state];
        let total = |plan: &Vec<Choice>| {
            let further = plan.len().saturating_sub(1) as f64 * access;
            plan.iter().map(|choice| choice.cost).sum::<f64>() + further
        };
        let mut best = offers.plan(offers.offers.len(), open.len(), uses, access);
        if best.len() > 1 {
            let others = [
                offers.plan(offers.offers.len(), open.len(), uses, 0.0),
                offers.plan(n_harmonised, open.len(), uses, access),
            ];
            best = others
                .into_iter()
                .fold(best, |best, plan| if total(&plan) < total(&best) { plan } else { best });
        }
        let mut added = Vec::new();
        for choice in best {
            let word = &offers.offers[choice.offer].word[..choice.end];
            fold.add(node, word);
            for separation in choice.roots.iter().filter(|separation| separation.owed > 0) {
                fold.add(fold.root(open[separation.open as usize]), &word[..usize::from(separation.end)]);
            }
            added.push(word.to_vec());
        }
        added
    }

    /// What every word of the library for the state of `node`, and every one of `continued`, would do.
    fn offers<'w>(
        &'w self,
        fold: &Fold<'_>,
        node: NodeId,
        open: &[StateId],
        continued: &'w [Word],
    ) -> Offers<'w> {
        let state = fold.state(node);
        let words = &self.library.words[state];
        let mut offers = Offers {
            offers: Vec::with_capacity(words.len() + continued.len()),
            roots: Vec::with_capacity((words.len() + continued.len()) * open.len()),
            ends: Vec::with_capacity(words.len() + continued.len()),
            uses: Vec::with_capacity(words.len() + continued.len()),
        };
        for (word, ends) in words.iter().zip(&self.library.ends[state]) {
            offers.push(fold, node, open, word, |other| ends[other.index()]);
        }
        for word in continued {
            let end = |other| narrow(self.spec.separated_at(state, other, word).unwrap_or(0));
            offers.push(fold, node, open, word, end);
        }
        offers
    }

    /// The words at `node` that end a test, each continued to separate what is open.
    fn continued(&self, fold: &Fold<'_>, node: NodeId, open: &[StateId]) -> Vec<Word> {
        let state = fold.state(node);
        let go_on = |mut word: Word| {
            let now = self.spec.after(state, &word);
            let undecided =
                open.iter().filter(|&&other| self.spec.separated_at(state, other, &word).is_none());
            let others: Vec<StateId> = undecided.map(|&other| self.spec.after(other, &word)).collect();
            word.extend(singling_word(self.spec, &self.library.splitting, now, &others));
            word
        };
        fold.ends_below(node).into_iter().map(go_on).collect()
    }
}

/// What an offer would do for some roots.
#[derive(Clone, Copy, Default)]
struct Use {
    gain: u32,
    end: u32,
    owed: u32,
}

impl Use {
    fn count(&mut self, root: Separation) {
        self.gain += 1;
        self.end = self.end.max(u32::from(root.end));
        self.owed += u32::from(root.owed);
    }
}

/// What an offer would do for the open roots, by its reach.
#[derive(Clone, Copy, Default)]
struct Uses {
    free: Use,
    all: Use,
}

impl Uses {
    fn count(&mut self, root: Separation) {
        self.all.count(root);
        if root.owed == 0 {
            self.free.count(root);
        }
    }
}

/// Which of the roots a word separates are to count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Those where the word is defined already.
    Free,
    /// All.
    All,
}

impl<'w> Offers<'w> {
    /// Adds `word`, which separates the node from another state after `end` symbols.
    fn push(
        &mut self,
        fold: &Fold<'_>,
        node: NodeId,
        open: &[StateId],
        word: &'w [InputId],
        end: impl Fn(StateId) -> u16,
    ) {
        let (defined, at) = fold.walk(node, word);
        self.offers.push(Offer { word, defined, access: fold.access(at) });
        let mut uses = Uses::default();
        for (place, &other) in (0..).zip(open) {
            let end = end(other);
            if end > 0 {
                let owed = fold.cost(fold.root(other), &word[..usize::from(end)]);
                let owed = u16::try_from(owed).unwrap_or(u16::MAX);
                let root = Separation { open: place, end, owed };
                self.roots.push(root);
                uses.count(root);
            }
        }
        self.ends.push(self.roots.len());
        self.uses.push(uses);
    }

    /// Greedy among the first `n`: the offer of the best value for what is open, until nothing is.
    ///
    /// `overhead` is what each further word is taken to cost besides.
    fn plan(&self, n: usize, n_open: usize, weight: f64, overhead: f64) -> Vec<Choice> {
        let mut left = Left {
            open: vec![true; n_open],
            roots: self.roots[..n.checked_sub(1).map_or(0, |last| self.ends[last])].to_vec(),
            ends: self.ends[..n].to_vec(),
            uses: self.uses[..n].to_vec(),
        };
        let mut plan = Vec::new();
        let mut n_open = n_open;
        while let Some((i, reach)) = self.best(&left.uses, weight, overhead) {
            let (whole, roots) = left.take(i, reach);
            let cost = self.offers[i].cost(whole, weight);
            n_open -= roots.len();
            plan.push(Choice { offer: i, end: whole.end as usize, cost, roots });
            if n_open == 0 {
                break;
            }
            left.keep_open();
        }
        plan
    }

    /// The offer, and how far it reaches, that takes care of most open roots per cost.
    fn best(&self, uses: &[Uses], weight: f64, overhead: f64) -> Option<(usize, Reach)> {
        let mut best: Option<(f64, usize, Reach)> = None;
        for (i, Uses { free, all }) in uses.iter().enumerate() {
            for (used, reach) in [(free, Reach::Free), (all, Reach::All)] {
                let value = f64::from(used.gain) / (self.offers[i].cost(*used, weight) + overhead);
                if used.gain > 0 && best.is_none_or(|(best, _, _)| value > best) {
                    best = Some((value, i, reach));
                }
            }
        }
        best.map(|(_, i, reach)| (i, reach))
    }
}

/// What is left of the offers as roots are taken care of.
struct Left {
    open: Vec<bool>,
    roots: Vec<Separation>,
    ends: Vec<usize>,
    uses: Vec<Uses>,
}

impl Left {
    /// Closes the roots that offer `i` takes care of.
    fn take(&mut self, i: usize, reach: Reach) -> (Use, Vec<Separation>) {
        let start = i.checked_sub(1).map_or(0, |before| self.ends[before]);
        let taken = |root: &&Separation| reach == Reach::All || root.owed == 0;
        let taken: Vec<Separation> = self.roots[start..self.ends[i]].iter().filter(taken).copied().collect();
        for root in &taken {
            self.open[root.open as usize] = false;
        }
        (if reach == Reach::All { self.uses[i].all } else { self.uses[i].free }, taken)
    }

    /// Drops the roots that are no longer open.
    fn keep_open(&mut self) {
        let (mut kept, mut start) = (0, 0);
        for (end, uses) in self.ends.iter_mut().zip(&mut self.uses) {
            *uses = Uses::default();
            for at in start..*end {
                let root = self.roots[at];
                if self.open[root.open as usize] {
                    self.roots[kept] = root;
                    kept += 1;
                    uses.count(root);
                }
            }
            start = std::mem::replace(end, kept);
        }
        self.roots.truncate(kept);
    }
}

impl Offer<'_> {
    /// What a use of the word costs, what roots still lack shared by `weight` nodes.
    fn cost(&self, used: Use, weight: f64) -> f64 {
        let end = used.end as usize;
        let own = if end > self.defined { end - self.defined + self.access } else { 0 };
        own as f64 + f64::from(used.owed) / weight + 0.01
    }
}

/// Where a word separates two states; nowhere if that is too far along it.
fn narrow(end: usize) -> u16 {
    u16::try_from(end).unwrap_or(0)
}

fn add_all(fold: &mut Fold<'_>, node: NodeId, words: &[Word]) {
    for word in words {
        fold.add(node, word);
    }
}
