//! The W-method: `P · Σ^≤(extra+1) · W`.
//!
//! For a minimal machine with state cover `P`, inputs `Σ` and characterising
//! set `W` this is complete for `extra` more states \[Chow78], \[Vasilevskii73].
//!
//! *Differs* from the papers in walking the set lazily and dropping prefixes.

use ioxide_model::index::IndexVec;

use super::traverse::{Suffixes, Traversal, Tries};
use super::{SuiteSource, WordSuite};
use crate::cover::state_cover;
use crate::distinguish::{SplittingTree, WordCosts, characterising_set};
use crate::mealy::SuiteModel;

/// The suite of the W-method.
pub fn w_suite(spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
    let costs = WordCosts::new(spec, &state_cover(spec), extra);
    let words = characterising_set(spec, &SplittingTree::new(spec), &costs);
    let mut tries = Tries::default();
    let root = tries.insert(&words);
    // The same set `W` after every word, whichever state it should reach and however long it is.
    let all = IndexVec::from_elem(root, spec.n_states());
    let suffixes = Suffixes { inner: all.clone(), last: all, tries };
    WordSuite(SuiteSource::Walked(Box::new(Traversal::new(spec, extra, suffixes))))
}
