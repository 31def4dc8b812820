//! Which words tell the state after a test from all others.
//!
//! A node of the fold is *identified* if it is apart from every root but that
//! of its state. Under the fixed rule it gets the harmonised identifier of its
//! state. On the fly it gets the cheapest of several greedy choices of words,
//! given what the tests hold already; a word the roots still lack is charged
//! to all nodes that will use it.

use ioxide_model::index::{Idx, IndexVec};

use super::fold::{Fold, NodeId};
use crate::cover::StateCover;
use crate::distinguish::{SplittingTree, Weights, harmonised_identifiers, identifying_words, singling_word};
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
    pub(super) fn new(spec: &'s Spec, cover: &StateCover, extra: usize) -> Self {
        let splitting = SplittingTree::new(spec);
        let weights = Weights::new(spec, cover, extra);
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
        let end = |state, other, word: &Word| self.spec.separated_at(state, other, word).unwrap_or(0);
        let ends = |state, word| self.spec.states().map(|other| narrow(end(state, other, word))).collect();
        self.ends = self
            .spec
            .states()
            .map(|state| self.words[state].iter().map(|word| ends(state, word)).collect())
            .collect();
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

/// A word for a node and what it would do, whatever else is chosen.
struct Offer<'w> {
    word: &'w [InputId],
    /// How much of it is defined at the node, and what starting the rest costs.
    defined: usize,
    access: usize,
    /// The open roots it separates the node from.
    roots: Vec<Separation>,
}

/// A root that a word separates a node from.
#[derive(Clone, Copy)]
struct Separation {
    /// Its place among the open roots.
    open: usize,
    /// After how many symbols.
    end: usize,
    /// What it costs to define that much of the word at the root.
    owed: usize,
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
        let known = self.library.words[state].iter().zip(&self.library.ends[state]).map(|(word, ends)| {
            let end = |other: StateId| usize::from(ends[other.index()]);
            self.offer(fold, node, &open, word, end)
        });
        let fresh = continued.iter().map(|word| {
            let end = |other| self.spec.separated_at(state, other, word).unwrap_or(0);
            self.offer(fold, node, &open, word, end)
        });
        let offers: Vec<Offer<'_>> = known.chain(fresh).collect();
        let harmonised = &offers[..self.library.n_harmonised[state]];
        let access = self.library.weights.access;
        let uses = self.library.weights.uses[state];
        let total = |plan: &Vec<Choice>| {
            let further = plan.len().saturating_sub(1) as f64 * access;
            plan.iter().map(|choice| choice.cost).sum::<f64>() + further
        };
        let mut best = plan(&offers, open.len(), uses, access);
        if best.len() > 1 {
            let others = [plan(&offers, open.len(), uses, 0.0), plan(harmonised, open.len(), uses, access)];
            best = others
                .into_iter()
                .fold(best, |best, plan| if total(&plan) < total(&best) { plan } else { best });
        }
        let mut added = Vec::new();
        for choice in best {
            let word = &offers[choice.offer].word[..choice.end];
            fold.add(node, word);
            for separation in &choice.roots {
                fold.add(fold.root(open[separation.open]), &word[..separation.end]);
            }
            added.push(word.to_vec());
        }
        added
    }

    fn offer<'w>(
        &self,
        fold: &Fold<'_>,
        node: NodeId,
        open: &[StateId],
        word: &'w [InputId],
        end: impl Fn(StateId) -> usize,
    ) -> Offer<'w> {
        let separation = |(open, &other): (usize, &StateId)| {
            let end = end(other);
            let owed = fold.cost(fold.root(other), &word[..end]);
            (end > 0).then_some(Separation { open, end, owed })
        };
        let (defined, at) = fold.walk(node, word);
        let mut roots = Vec::with_capacity(open.len());
        roots.extend(open.iter().enumerate().filter_map(separation));
        Offer { word, defined, access: fold.access(at), roots }
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

/// Greedy: the offer of the best value for what is open, until nothing is.
///
/// `overhead` is what each further word is taken to cost besides.
fn plan(offers: &[Offer<'_>], n_open: usize, uses: f64, overhead: f64) -> Vec<Choice> {
    let mut open = vec![true; n_open];
    let mut plan = Vec::new();
    loop {
        let mut best: Option<(f64, usize, Reach)> = None;
        for (i, offer) in offers.iter().enumerate() {
            for reach in [Reach::Free, Reach::All] {
                let Some(value) = value(offer, &open, reach, uses, overhead) else { continue };
                if best.is_none_or(|(best, _, _)| value > best) {
                    best = Some((value, i, reach));
                }
            }
        }
        let Some((_, i, reach)) = best else { return plan };
        let roots: Vec<Separation> = offers[i].taken(&open, reach).copied().collect();
        roots.iter().for_each(|root| open[root.open] = false);
        let end = roots.iter().map(|root| root.end).max().unwrap_or(0);
        let owed = roots.iter().map(|root| root.owed).sum();
        plan.push(Choice { offer: i, end, cost: offers[i].cost(end, owed, uses), roots });
    }
}

/// Which of the roots a word separates are to count.
#[derive(Clone, Copy)]
enum Reach {
    /// Those where the word is defined already.
    Free,
    /// All.
    All,
}

impl Offer<'_> {
    fn taken(&self, open: &[bool], reach: Reach) -> impl Iterator<Item = &Separation> {
        self.roots
            .iter()
            .filter(move |root| open[root.open] && (matches!(reach, Reach::All) || root.owed == 0))
    }

    fn cost(&self, end: usize, owed: usize, uses: f64) -> f64 {
        let own = if end > self.defined { end - self.defined + self.access } else { 0 };
        own as f64 + owed as f64 / uses + 0.01
    }
}

/// How many open roots an offer takes care of per cost, if it does of any.
fn value(offer: &Offer<'_>, open: &[bool], reach: Reach, uses: f64, overhead: f64) -> Option<f64> {
    let (mut gain, mut end, mut owed) = (0, 0, 0);
    for root in offer.taken(open, reach) {
        gain += 1;
        end = end.max(root.end);
        owed += root.owed;
    }
    (gain > 0).then(|| f64::from(gain) / (offer.cost(end, owed, uses) + overhead))
}

fn narrow(end: usize) -> u16 {
    u16::try_from(end).unwrap_or(0)
}

fn add_all(fold: &mut Fold<'_>, node: NodeId, words: &[Word]) {
    for word in words {
        fold.add(node, word);
    }
}
