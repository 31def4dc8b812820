//! The partial W-method: `P · Σ^≤extra · W ∪ {p · (W_s)}`.
//!
//! A characterising set `W` checks the states; the transitions into a state
//! `s` at the end of `P · Σ^(extra+1)` are followed by an identifier `W_s`
//! only, made of prefixes of `W` [FBKAG91].
//!
//! [FBKAG91]: S. Fujiwara et al., "Test Selection Based on Finite State
//! Models", IEEE Transactions on Software Engineering 17(6), 1991.

use ioxide_model::index::IndexVec;

use super::traverse::{Suffixes, Traversal, Tries};
use super::{Source, Suite};
use crate::cover::state_cover;
use crate::distinguish::{
    SplittingTree, Weights, characterising_set, harmonised_identifiers, state_identifiers,
};
use crate::mealy::{Spec, StateId};
use crate::word::{Word, without_prefixes};

/// Up to this many states identifiers are chosen from the words of all: with
/// more that is a large set to choose from.
const FEW_STATES: usize = 40;

/// Suites of this many words are made to see which is smallest.
const CHEAP: f64 = 4_000.0;

/// How much dearer sets may seem and yet be tried.
const IN_DOUBT: f64 = 1.15;

/// The suite of the partial W-method.
pub fn wp_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    let mut sets = candidates(spec, extra);
    let trial = (0..=extra).rev().find(|&extra| words_of_transitions(spec, extra) <= CHEAP);
    let best = match trial {
        Some(trial) if sets.len() > 1 => cheapest(spec, trial, &sets),
        _ => 0,
    };
    sets.swap_remove(best).suite(spec, extra)
}

/// The first of the sets that lead to the cheapest suite.
fn cheapest(spec: &Spec, extra: usize, sets: &[Sets]) -> usize {
    let (mut best, mut limit) = (0, usize::MAX);
    for (i, sets) in sets.iter().enumerate() {
        if let Some(cost) = sets.suite(spec, extra).cost_below(limit) {
            (best, limit) = (i, cost);
        }
    }
    best
}

/// How many words `P · Σ^(extra+1)` has.
fn words_of_transitions(spec: &Spec, extra: usize) -> f64 {
    spec.n_states() as f64 * (spec.n_inputs() as f64).powi(i32::try_from(extra + 1).unwrap_or(i32::MAX))
}

/// `W` and the `W_s`.
struct Sets {
    words: Vec<Word>,
    identifiers: IndexVec<StateId, Vec<Word>>,
}

impl Sets {
    /// Identifiers with their union, which separates every two states.
    fn of(identifiers: IndexVec<StateId, Vec<Word>>) -> Self {
        let words = without_prefixes(identifiers.iter().flatten().cloned().collect());
        Self { words, identifiers }
    }

    fn suite<'s>(&self, spec: &'s Spec, extra: usize) -> Suite<'s> {
        let mut tries = Tries::default();
        let inner = IndexVec::filled(tries.insert(&self.words), spec.n_states());
        let last = self.identifiers.iter().map(|words| tries.insert(words)).collect();
        let suffixes = Suffixes { inner, last, tries };
        Suite(Source::Walked(Box::new(Traversal::new(spec, extra, suffixes))))
    }
}

/// Identifiers from a characterising set, harmonised ones, and some chosen from the words of both:
/// those that seem cheapest, best first.
fn candidates(spec: &Spec, extra: usize) -> Vec<Sets> {
    let weights = Weights::new(spec, &state_cover(spec), extra).without_search();
    let splitting = SplittingTree::new(spec);
    let words = characterising_set(spec, &splitting, &weights);
    let mut sets = vec![
        Sets::of(state_identifiers(spec, &words, &weights)),
        Sets::of(harmonised_identifiers(spec, &splitting, &weights)),
    ];
    if spec.n_states() <= FEW_STATES {
        let pool = without_prefixes([words, sets[1].words.clone()].concat());
        sets.push(Sets::of(state_identifiers(spec, &pool, &weights)));
    }
    let inner = words_of_transitions(spec, extra) / spec.n_inputs().max(1) as f64;
    let cost = |sets: &Sets| inner * weights.cost(&sets.words) + weights.cost_of_all(&sets.identifiers);
    let mut costed: Vec<(f64, Sets)> = sets.into_iter().map(|sets| (cost(&sets), sets)).collect();
    costed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let limit = costed.first().map_or(0.0, |best| IN_DOUBT * best.0);
    costed.retain(|&(cost, _)| cost <= limit);
    costed.into_iter().map(|(_, sets)| sets).collect()
}
