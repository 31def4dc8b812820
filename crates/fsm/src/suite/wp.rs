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

/// The suite of the partial W-method.
pub fn wp_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    let (words, identifiers) = sets(spec, extra);
    let mut tries = Tries::default();
    let inner = IndexVec::filled(tries.insert(&words), spec.n_states());
    let last = identifiers.iter().map(|words| tries.insert(words)).collect();
    let suffixes = Suffixes { inner, last, tries };
    Suite(Source::Walked(Box::new(Traversal::new(spec, extra, suffixes))))
}

/// `W` and the `W_s`: a characterising set with identifiers from it, or
/// harmonised identifiers with their union, whichever costs less.
fn sets(spec: &Spec, extra: usize) -> (Vec<Word>, IndexVec<StateId, Vec<Word>>) {
    let weights = Weights::new(spec, &state_cover(spec), extra);
    let splitting = SplittingTree::new(spec);
    let words = characterising_set(spec, &splitting, &weights);
    let identifiers = state_identifiers(spec, &words, &weights);
    let mut own = harmonised_identifiers(spec, &splitting, &weights);
    let union = without_prefixes(own.iter().flatten().cloned().collect());
    if spec.n_states() <= FEW_STATES {
        own = state_identifiers(spec, &union, &weights);
    }
    let inner =
        spec.n_states() as f64 * (spec.n_inputs() as f64).powi(i32::try_from(extra).unwrap_or(i32::MAX));
    let total = |words: &[Word], each| inner * weights.cost(words) + weights.cost_of_all(each);
    if total(&union, &own) < total(&words, &identifiers) { (union, own) } else { (words, identifiers) }
}
