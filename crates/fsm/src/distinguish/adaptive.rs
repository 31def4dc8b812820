//! Adaptive distinguishing trees, and harmonised identifiers made of them.
//!
//! An adaptive tree applies a word to a set of states and goes on with those
//! that gave the same answer. Two states that give the same answer *and* meet
//! in one state cannot be told apart below; where that happens the tree stops,
//! and another tree is grown for the states it left together. A machine has an
//! adaptive distinguishing sequence exactly if one tree can suffice
//! [LeeYannakakis94]; the greedy choice of words here may need more.
//!
//! The path of a state through each tree it takes part in is a word; these
//! words form harmonised identifiers, since two states share the path up to
//! the answer that separates them.
//!
//! [LeeYannakakis94]: see [`super::SplittingTree`].

use ioxide_model::index::{Idx, IndexVec};
use rustc_hash::FxHashMap;

use crate::distinguish::{AnswerKey, SplittingTree, Weights, answer};
use crate::mealy::{InputId, Spec, StateId};
use crate::word::{Word, without_prefixes};

/// A tree of words that separates the states it is grown for as far as it can.
#[derive(Clone, Debug)]
pub struct AdaptiveTree {
    /// The states it is grown for, each with its path: the inputs it is given.
    pub paths: Vec<(StateId, Word)>,
    /// The sets of states it leaves together.
    pub together: Vec<Vec<StateId>>,
}

/// Which word a tree applies next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taste {
    /// The one that lets the fewest states meet.
    KeepApart,
    /// The one that separates most pairs per symbol.
    SplitMost,
    /// The one of the splitting tree.
    Given,
}

/// Trees that together separate all states of `spec`: the first for all
/// states, each further one for a set an earlier tree left together.
#[must_use]
pub fn adaptive_trees(spec: &Spec, splitting: &SplittingTree, taste: Taste) -> Vec<AdaptiveTree> {
    let mut trees = Vec::new();
    let mut open: Vec<Vec<StateId>> = vec![spec.states().collect()];
    while let Some(states) = open.pop() {
        if states.len() < 2 {
            continue;
        }
        let tree = Grower { spec, splitting, taste }.tree(&states);
        open.extend(tree.together.iter().cloned());
        trees.push(tree);
    }
    trees
}

/// For each state the words that identify it, by the cheapest of several
/// families of trees.
#[must_use]
pub fn harmonised_identifiers(
    spec: &Spec,
    splitting: &SplittingTree,
    weights: &Weights,
) -> IndexVec<StateId, Vec<Word>> {
    let mut best = nested_identifiers(spec, splitting);
    let mut cost = weights.cost_of_all(&best);
    for taste in [Taste::KeepApart, Taste::SplitMost, Taste::Given] {
        let family = path_identifiers(spec, splitting, taste);
        let its_cost = weights.cost_of_all(&family);
        if its_cost < cost {
            (best, cost) = (family, its_cost);
        }
    }
    best
}

/// The words of all blocks of the splitting tree a state is in.
fn nested_identifiers(spec: &Spec, splitting: &SplittingTree) -> IndexVec<StateId, Vec<Word>> {
    let words = |state| splitting.words_of(state).into_iter().map(<[InputId]>::to_vec).collect();
    spec.states().map(|state| without_prefixes(words(state))).collect()
}

/// The paths of each state through the trees it takes part in.
fn path_identifiers(spec: &Spec, splitting: &SplittingTree, taste: Taste) -> IndexVec<StateId, Vec<Word>> {
    let mut identifiers: IndexVec<StateId, Vec<Word>> = IndexVec::filled(Vec::new(), spec.n_states());
    for tree in adaptive_trees(spec, splitting, taste) {
        for (state, path) in tree.paths {
            identifiers[state].push(path);
        }
    }
    identifiers.iter().map(|words| without_prefixes(words.clone())).collect()
}

/// States of a tree node: where each started and where it is now.
type Tokens = Vec<(StateId, StateId)>;

struct Grower<'a> {
    spec: &'a Spec,
    splitting: &'a SplittingTree,
    taste: Taste,
}

/// What a word does to a node: its parts, and how many states it lets meet.
struct Split {
    word: Word,
    parts: Vec<Tokens>,
    lost: usize,
}

impl Grower<'_> {
    fn tree(&self, states: &[StateId]) -> AdaptiveTree {
        let mut tree = AdaptiveTree { paths: Vec::new(), together: Vec::new() };
        let start: Tokens = states.iter().map(|&state| (state, state)).collect();
        let mut open = vec![(Word::new(), start)];
        while let Some((path, tokens)) = open.pop() {
            let best = self.best_split(&tokens);
            let Some(split) = best else {
                if tokens.len() > 1 {
                    tree.together.push(tokens.iter().map(|&(start, _)| start).collect());
                }
                tree.paths.extend(tokens.into_iter().map(|(start, _)| (start, path.clone())));
                continue;
            };
            for part in split.parts {
                open.push(([path.as_slice(), &split.word].concat(), part));
            }
        }
        tree
    }

    /// The word to the grower's taste; `None` if all tokens are in one state.
    fn best_split(&self, tokens: &Tokens) -> Option<Split> {
        let mut here: Vec<StateId> = tokens.iter().map(|&(_, now)| now).collect();
        here.sort_unstable();
        here.dedup();
        if here.len() < 2 {
            return None;
        }
        let candidates = match self.taste {
            Taste::Given => vec![self.splitting.word_for(&here).to_vec()],
            Taste::KeepApart | Taste::SplitMost => self.candidates(&here),
        };
        let mut best: Option<(f64, f64, Split)> = None;
        for word in candidates {
            let split = self.apply(tokens, word);
            if split.parts.len() < 2 {
                continue;
            }
            let (first, second) = self.value(&split);
            if best.as_ref().is_none_or(|best| (first, second) > (best.0, best.1)) {
                best = Some((first, second, split));
            }
        }
        best.map(|(_, _, split)| split)
    }

    fn value(&self, split: &Split) -> (f64, f64) {
        let length = split.word.len() as f64;
        let parts = split.parts.len() as f64 / length;
        match self.taste {
            Taste::SplitMost => {
                let together: usize = split.parts.iter().map(|part| part.len() * part.len()).sum();
                (-((together + split.lost) as f64) * length.sqrt(), parts)
            }
            Taste::KeepApart | Taste::Given => (-(split.lost as f64), parts),
        }
    }

    /// The tree's word for the states, and each input alone or followed by the
    /// tree's word for the states it leads to.
    fn candidates(&self, here: &[StateId]) -> Vec<Word> {
        let mut words = vec![self.splitting.word_for(here).to_vec()];
        for x in self.spec.inputs() {
            if here.iter().any(|&state| self.spec.output(state, x) != self.spec.output(here[0], x)) {
                words.push(vec![x]);
            }
            let images: Vec<StateId> = here.iter().map(|&state| self.spec.next(state, x)).collect();
            let tail = self.splitting.word_for(&images);
            if !tail.is_empty() {
                words.push([&[x], tail].concat());
            }
        }
        words
    }

    fn apply(&self, tokens: &Tokens, word: Word) -> Split {
        let mut groups: FxHashMap<AnswerKey, usize> = FxHashMap::default();
        let mut parts: Vec<Tokens> = Vec::new();
        for &(start, now) in tokens {
            let (key, at) = answer(self.spec, now, &word);
            let part = *groups.entry(key).or_insert_with(|| {
                parts.push(Tokens::new());
                parts.len() - 1
            });
            parts[part].push((start, at));
        }
        let lost = distinct(tokens).saturating_sub(parts.iter().map(distinct).sum());
        Split { word, parts, lost }
    }
}

/// How many different states the tokens are in.
fn distinct(tokens: &Tokens) -> usize {
    let mut here: Vec<usize> = tokens.iter().map(|&(_, now)| now.index()).collect();
    here.sort_unstable();
    here.dedup();
    here.len()
}
