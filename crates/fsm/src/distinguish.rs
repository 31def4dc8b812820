//! Distinguishing states: separating words, splitting trees, characterising
//! sets, harmonised identifiers, adaptive distinguishing trees.
//!
//! A word *separates* two states if they answer it differently. A
//! *characterising set* separates every two states by one of its words
//! \[Chow78]. *Harmonised identifiers* are sets `H_s` such that every two states
//! `s`, `t` are separated by a word that is a prefix of words in both `H_s` and
//! `H_t` \[LPB94].

#[doc(hidden)]
pub mod adaptive;
mod characterise;
#[doc(hidden)]
pub mod harmonise;
#[doc(hidden)]
pub mod improve;
mod pairs;
mod passage;
#[doc(hidden)]
pub mod refine;
mod splitting;

pub use adaptive::{AdaptiveTree, WordPreference, adaptive_trees, harmonised_identifiers};
pub use characterise::{
    characterising_set, greedy_separating_word, identifying_words, separating_subset, state_identifiers,
};
pub use pairs::SeparatingWords;
pub(crate) use passage::WordPassage;
pub use splitting::SplittingTree;

use ioxide_model::index::{Idx, IndexVec};

use crate::cover::StateCover;
use crate::mealy::{StateId, SuiteModel};
use crate::word::Word;

// The effort of a search for cheaper words, in steps. All five were picked by feel: larger ones make suites a little
// shorter and take more time; any values give complete suites.

/// The number of steps for each word of the suite, so that the search takes a part of the time that the suite takes.
const STEPS_PER_WORD: f64 = 2.0;
/// The number of steps for each pair of states, for a short suite: enough to look at every pair a few times.
const STEPS_PER_PAIR: f64 = 5.0;
/// The greatest number of steps for each word, where the pairs would ask for more.
const MAX_STEPS_PER_WORD: f64 = 9.0;
/// The least number of steps of a search. Chosen by feel.
const MIN_EFFORT: f64 = 1_200.0;
/// The greatest number of steps of a search. Chosen by feel: it bounds the time for large machines.
const MAX_EFFORT: f64 = 1_000_000.0;

/// The cost of words in a suite, by which this module chooses between them.
#[derive(Clone, Debug)]
pub struct WordCosts {
    /// The cost of a further word in addition to its symbols, in symbols: a reset and a mean access word.
    pub access: f64,
    /// For each state the number of words of `P · Σ^(extra+1)` that lead to it, at least 1.
    pub uses: IndexVec<StateId, f64>,
    /// For each state the number of words of `P · Σ^≤extra` that lead to it; any input may follow them.
    pub inner: IndexVec<StateId, f64>,
    /// The number of steps a search for cheaper words may take; 0 for no search.
    pub effort: usize,
}

impl WordCosts {
    /// The weights of a suite over `P · Σ^(extra+1)`.
    #[must_use]
    pub fn new(spec: &SuiteModel, cover: &StateCover, extra: usize) -> Self {
        let mut counts = vec![1.0; spec.n_states()];
        let mut inner: IndexVec<StateId, f64> = IndexVec::from_elem(0.0, spec.n_states());
        for _ in 0..=extra {
            inner.iter_mut().zip(&counts).for_each(|(inner, count)| *inner += count);
            let mut next = vec![0.0; spec.n_states()];
            for state in spec.states() {
                for input in spec.inputs() {
                    next[spec.next(state, input).index()] += counts[state.index()];
                }
            }
            counts = next;
        }
        let effort = search_budget(spec.n_states() as f64, counts.iter().sum());
        let uses = counts.into_iter().map(|count: f64| count.max(1.0)).collect();
        Self { access: (cover.mean_depth() + extra + 2) as f64, uses, inner, effort }
    }

    /// Returns the same costs without a search: words are taken as they are found first.
    #[must_use]
    pub fn without_search(self) -> Self {
        Self { effort: 0, ..self }
    }

    /// Returns the cost of applying each of `words` once.
    #[must_use]
    pub fn words_cost(&self, words: &[Word]) -> f64 {
        words.iter().map(|word| word.len() as f64 + self.access).sum()
    }

    /// Returns the cost of all identifiers, each weighted by the uses of its state.
    #[must_use]
    pub fn cost_of_all(&self, identifiers: &IndexVec<StateId, Vec<Word>>) -> f64 {
        identifiers.iter_enumerated().map(|(state, words)| self.uses[state] * self.words_cost(words)).sum()
    }
}

/// Returns the number of steps that a search for the identifiers of `states` states may take in a suite of `words`
/// words.
fn search_budget(states: f64, words: f64) -> usize {
    let few_times = (STEPS_PER_PAIR * states * states).min(MAX_STEPS_PER_WORD * words);
    few_times.max(STEPS_PER_WORD * words).clamp(MIN_EFFORT, MAX_EFFORT) as usize
}
