//! Which words tell the state after a test from all others.
//!
//! A node of the fold is *identified* if it is apart from every root but that
//! of its state. Under the fixed rule it gets the harmonised identifier of its
//! state. On the fly it gets the cheapest of several greedy choices of words,
//! given what the tests hold already; a word the roots still lack is charged
//! to all nodes that will use it.

use ioxide_model::index::IndexVec;

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

/// The words to choose from.
pub(super) struct Library<'s> {
    spec: &'s Spec,
    splitting: SplittingTree,
    weights: Weights,
    /// Words for each state, those of its harmonised identifier first.
    words: IndexVec<StateId, Vec<Word>>,
    n_harmonised: IndexVec<StateId, usize>,
}

impl<'s> Library<'s> {
    pub(super) fn new(spec: &'s Spec, cover: &StateCover, extra: usize) -> Self {
        let splitting = SplittingTree::new(spec);
        let weights = Weights::new(spec, cover, extra);
        let words = harmonised_identifiers(spec, &splitting, &weights);
        let n_harmonised = words.iter().map(Vec::len).collect();
        Self { spec, splitting, weights, words, n_harmonised }
    }

    /// The same with words for each state that need not be harmonised.
    pub(super) fn with_more_words(mut self) -> Self {
        for state in self.spec.states() {
            let more = identifying_words(self.spec, &self.splitting, state);
            self.words[state].extend(more);
        }
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

/// A word for a node, cut after its last use, and the roots it takes care of.
#[derive(Clone)]
struct Choice {
    word: Word,
    roots: Vec<(StateId, usize)>,
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
        let is_open = |&other: &StateId| other != state && !fold.apart(node, fold.root(other));
        let open: Vec<StateId> = self.spec.states().filter(is_open).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let harmonised = self.library.harmonised(state);
        let mut all = self.library.words[state].clone();
        all.extend(self.continued(fold, node, &open));
        let plans = [
            self.plan(fold, node, open.clone(), &all, 0.0),
            self.plan(fold, node, open.clone(), &all, self.library.weights.access),
            self.plan(fold, node, open, harmonised, self.library.weights.access),
        ];
        let total = |plan: &Vec<Choice>| {
            let further = plan.len().saturating_sub(1) as f64 * self.library.weights.access;
            plan.iter().map(|choice| choice.cost).sum::<f64>() + further
        };
        let best = plans.into_iter().min_by(|a, b| total(a).total_cmp(&total(b))).unwrap_or_default();
        for choice in &best {
            fold.add(node, &choice.word);
            for &(other, end) in &choice.roots {
                fold.add(fold.root(other), &choice.word[..end]);
            }
        }
        best.into_iter().map(|choice| choice.word).collect()
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

    /// Greedy: the word of the best value for what is open, until nothing is.
    fn plan(
        &self,
        fold: &Fold<'_>,
        node: NodeId,
        mut open: Vec<StateId>,
        words: &[Word],
        overhead: f64,
    ) -> Vec<Choice> {
        let mut plan = Vec::new();
        while !open.is_empty() {
            let Some(choice) = self.choose(fold, node, &open, words, overhead) else { break };
            open.retain(|other| !choice.roots.iter().any(|(done, _)| done == other));
            plan.push(choice);
        }
        plan
    }

    fn choose(
        &self,
        fold: &Fold<'_>,
        node: NodeId,
        open: &[StateId],
        words: &[Word],
        overhead: f64,
    ) -> Option<Choice> {
        let state = fold.state(node);
        let direct = self.library.splitting.word(state, open[0]);
        let mut best: Option<(f64, Choice)> = None;
        for word in words.iter().map(Vec::as_slice).chain([direct]) {
            let end = |&other: &StateId| Some((other, self.spec.separated_at(state, other, word)?));
            let ends: Vec<(StateId, usize)> = open.iter().filter_map(end).collect();
            let defined =
                |&(other, end): &(StateId, usize)| fold.walk(fold.root(other), &word[..end]).0 == end;
            let free: Vec<(StateId, usize)> = ends.iter().copied().filter(defined).collect();
            for roots in [free, ends] {
                let Some(choice) = self.weigh(fold, node, word, roots) else { continue };
                let value = choice.roots.len() as f64 / (choice.cost + overhead);
                if best.as_ref().is_none_or(|(best, _)| value > *best) {
                    best = Some((value, choice));
                }
            }
        }
        best.map(|(_, choice)| choice)
    }

    fn weigh(
        &self,
        fold: &Fold<'_>,
        node: NodeId,
        word: &[InputId],
        roots: Vec<(StateId, usize)>,
    ) -> Option<Choice> {
        let end = roots.iter().map(|&(_, end)| end).max()?;
        let owed: usize = roots.iter().map(|&(other, end)| fold.cost(fold.root(other), &word[..end])).sum();
        let share = owed as f64 / self.library.weights.uses[fold.state(node)];
        let cost = fold.cost(node, &word[..end]) as f64 + share + 0.01;
        Some(Choice { word: word[..end].to_vec(), cost, roots })
    }
}

fn add_all(fold: &mut Fold<'_>, node: NodeId, words: &[Word]) {
    for word in words {
        fold.add(node, word);
    }
}
