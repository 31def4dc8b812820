//! The W-method: `P · Σ^≤(extra+1) · W`.
//!
//! For a minimal machine with state cover `P`, inputs `Σ` and characterising
//! set `W` this is complete for `extra` more states [Chow78], [Vasilevskii73].
//!
//! *Differs* from the papers in walking the set lazily and dropping prefixes.
//!
//! [Chow78]: T. S. Chow, "Testing Software Design Modeled by Finite-State
//! Machines", IEEE Transactions on Software Engineering 4(3), 1978.
//! [Vasilevskii73]: M. P. Vasilevskii, "Failure diagnosis of automata",
//! Cybernetics 9(4), 1973.

use ioxide_model::index::IndexVec;

use super::traverse::{Suffixes, Traversal, Tries};
use super::{Source, Suite};
use crate::cover::state_cover;
use crate::distinguish::{SplittingTree, Weights, characterising_set};
use crate::mealy::Spec;

/// The suite of the W-method.
pub fn w_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    let weights = Weights::new(spec, &state_cover(spec), extra);
    let words = characterising_set(spec, &SplittingTree::new(spec), &weights);
    let mut tries = Tries::default();
    let root = tries.insert(&words);
    let all = IndexVec::filled(root, spec.n_states());
    let suffixes = Suffixes { inner: all.clone(), last: all, tries };
    Suite(Source::Walked(Box::new(Traversal::new(spec, extra, suffixes))))
}
