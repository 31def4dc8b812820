//! The H-method: no identifier is fixed in advance; a separating word is added
//! only where the tests do not separate two words yet [DEY05].
//!
//! [DEY05]: R. Dorofeeva, K. El-Fakih, N. Yevtushenko, "An Improved
//! Conformance Testing Method", FORTE 2005.

use super::grow::{Recipe, smallest};
use super::identify::Rule;
use super::visit::{InputOrder, StateOrder, Visit};
use super::{Source, Suite};
use crate::mealy::Spec;

const RECIPE: Recipe = Recipe {
    rules: &Rule::ALL,
    visits: &[Visit::new(StateOrder::Shallowest, InputOrder::Listed)],
    visits_without_extra: 1,
    visits_if_small: 1,
    converge: None,
    search: false,
};

/// The suite of the H-method.
pub fn h_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    Suite(Source::Kept(smallest(spec, extra, &RECIPE)))
}
