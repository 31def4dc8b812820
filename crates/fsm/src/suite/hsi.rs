//! The HSI-method: `p · H_s` for every `p ∈ P · Σ^≤(extra+1)` that reaches `s`.
//!
//! With harmonised identifiers `H_s` every two states are separated by a
//! common prefix of their identifiers, so no state needs a whole
//! characterising set \[LPB94].

use super::traverse::{Suffixes, Traversal, Tries};
use super::{SuiteSource, WordSuite};
use crate::cover::state_cover;
use crate::distinguish::{SplittingTree, WordCosts, harmonised_identifiers};
use crate::mealy::{StateId, SuiteModel};

/// The suite of the HSI-method.
pub fn hsi_suite(spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
    let costs = WordCosts::new(spec, &state_cover(spec), extra);
    let identifiers = harmonised_identifiers(spec, &SplittingTree::new(spec), &costs);
    let mut tries = Tries::default();
    let roots: ioxide_model::index::IndexVec<StateId, usize> =
        identifiers.iter().map(|words| tries.insert(words)).collect();
    // The identifier of the state that a word should reach, after inner and last words alike: harmonised identifiers of
    // two states share a prefix that separates them, so a wrong state is seen whichever of the two was expected.
    let suffixes = Suffixes { inner: roots.clone(), last: roots, tries };
    WordSuite(SuiteSource::Walked(Box::new(Traversal::new(spec, extra, suffixes))))
}
