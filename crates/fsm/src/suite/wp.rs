//! The partial W-method: `P · Σ^≤extra · W ∪ {p · (W_s)}`.
//!
//! A characterising set `W` checks the states; the transitions into a state
//! `s` at the end of `P · Σ^(extra+1)` are followed by an identifier `W_s`
//! only, made of prefixes of `W` \[FBKAG91].

use std::collections::BTreeSet;

use ioxide_model::index::{Idx, IndexVec};

use super::traverse::{Suffixes, Traversal, Tries};
use super::{SuiteSource, WordSuite};
use crate::cover::state_cover;
use crate::distinguish::{
    SeparatingWords, SplittingTree, WordCosts, characterising_set, harmonised_identifiers, separating_subset,
    state_identifiers,
};
use crate::mealy::{StateId, SuiteModel};
use crate::word::{Word, without_prefixes};

/// The greatest number of states for which identifiers are also chosen from other words, and all sets are tried.
/// Chosen by feel, as are the other two: they bound the time of choosing, and every choice is complete.
const MAX_STATES_TO_MIX: usize = 40;

/// The greatest number of words of `P · Σ^(extra+1)` for which trial suites are made to see which sets are cheapest.
/// Chosen by feel: it bounds the time.
const MAX_TRIAL_WORDS: f64 = 4_000.0;

/// The factor by which the estimated cost of sets may exceed the least one for them to be tried. Chosen by feel: it
/// bounds the time.
const MAX_ESTIMATE_RATIO: f64 = 1.15;

/// The suite of the partial W-method.
pub fn wp_suite(spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
    // The estimates of cost ignore prefixes that suites share, so sets that are close are compared by making the
    // suites, for fewer extra states if need be.
    let mut sets = candidate_sets(spec, extra);
    let trial = (0..=extra).rev().find(|&extra| count_transition_words(spec, extra) <= MAX_TRIAL_WORDS);
    let best = match trial {
        Some(trial) if sets.len() > 1 => cheapest_sets(spec, trial, &sets),
        _ => 0,
    };
    sets.swap_remove(best).traverse_suite(spec, extra)
}

/// The first of the sets that lead to the cheapest suite.
fn cheapest_sets(spec: &SuiteModel, extra: usize, sets: &[WpSets]) -> usize {
    let (mut best, mut limit) = (0, usize::MAX);
    for (i, sets) in sets.iter().enumerate() {
        if let Some(cost) = sets.traverse_suite(spec, extra).cost_below(limit) {
            (best, limit) = (i, cost);
        }
    }
    best
}

/// Returns the number of words in `P · Σ^(extra+1)`.
fn count_transition_words(spec: &SuiteModel, extra: usize) -> f64 {
    spec.n_states() as f64 * (spec.n_inputs() as f64).powi(i32::try_from(extra + 1).unwrap_or(i32::MAX))
}

/// `W` and the `W_s`.
struct WpSets {
    words: Vec<Word>,
    identifiers: IndexVec<StateId, Vec<Word>>,
}

impl WpSets {
    /// Identifiers with their union, which separates every two states.
    fn from_identifiers(identifiers: IndexVec<StateId, Vec<Word>>) -> Self {
        let words = without_prefixes(identifiers.iter().flatten().cloned().collect());
        Self { words, identifiers }
    }

    /// Returns the cost of `W` after one word of `P · Σ^≤extra`. A word of one symbol costs nothing there: with it the
    /// test is a word of `P · Σ^(extra+1)` or a prefix of one, and those are tests anyway.
    fn inner_cost(&self, costs: &WordCosts) -> f64 {
        let long = self.words.iter().filter(|word| word.len() > 1);
        long.map(|word| costs.words_cost(std::slice::from_ref(word))).sum()
    }

    fn traverse_suite<'s>(&self, spec: &'s SuiteModel, extra: usize) -> WordSuite<'s> {
        let mut tries = Tries::default();
        // Phase 1 of [FBKAG91]: after `P · Σ^≤extra`, all of `W` is applied, which checks that all states are there.
        // Phase 2: after the last transition the identifier of the expected state is enough.
        let inner = IndexVec::from_elem(tries.insert(&self.words), spec.n_states());
        let last = self.identifiers.iter().map(|words| tries.insert(words)).collect();
        let suffixes = Suffixes { inner, last, tries };
        WordSuite(SuiteSource::Walked(Box::new(Traversal::new(spec, extra, suffixes))))
    }
}

/// Identifiers from a characterising set, harmonised ones, some chosen from the words of both, and some of the shortest
/// words: those that seem cheapest, best first.
fn candidate_sets(spec: &SuiteModel, extra: usize) -> Vec<WpSets> {
    let costs = WordCosts::new(spec, &state_cover(spec), extra).without_search();
    let splitting = SplittingTree::new(spec);
    let words = characterising_set(spec, &splitting, &costs);
    let mut sets = vec![
        WpSets::from_identifiers(state_identifiers(spec, &words, &costs)),
        WpSets::from_identifiers(harmonised_identifiers(spec, &splitting, &costs)),
    ];
    if spec.n_states() <= MAX_STATES_TO_MIX {
        let of_both = without_prefixes([words, sets[1].words.clone()].concat());
        let shortest = shortest_words(spec);
        let few = separating_subset(spec, &shortest);
        // Symbols that are not needed for `W` may still single out a state that many transitions lead to.
        let with_symbols = without_prefixes(spec.inputs().map(|input| vec![input]).chain(shortest).collect());
        let pools = [of_both, few, with_symbols];
        sets.extend(pools.map(|pool| WpSets::from_identifiers(state_identifiers(spec, &pool, &costs))));
    }
    let inner = count_transition_words(spec, extra) / spec.n_inputs().max(1) as f64;
    let cost = |sets: &WpSets| inner * sets.inner_cost(&costs) + costs.cost_of_all(&sets.identifiers);
    let mut costed: Vec<(f64, WpSets)> = sets.into_iter().map(|sets| (cost(&sets), sets)).collect();
    costed.sort_by(|a, b| a.0.total_cmp(&b.0));
    if spec.n_states() > MAX_STATES_TO_MIX {
        // An estimate that is a little higher may still be the cheaper suite, because shared prefixes are not counted.
        let limit = costed.first().map_or(0.0, |best| MAX_ESTIMATE_RATIO * best.0);
        costed.retain(|&(cost, _)| cost <= limit);
    }
    costed.into_iter().map(|(_, sets)| sets).collect()
}

/// A shortest separating word of each two states.
///
/// The other sets join words to save access words, which does not pay where a word of one symbol costs nothing.
fn shortest_words(spec: &SuiteModel) -> Vec<Word> {
    let separating = SeparatingWords::new(spec);
    let pairs = spec.states().flat_map(|a| spec.states().take(a.index()).map(move |b| (a, b)));
    let words: BTreeSet<Word> = pairs.map(|(a, b)| separating.separating_word(spec, a, b)).collect();
    words.into_iter().collect()
}
