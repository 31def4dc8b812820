//! The H-method: no identifier is fixed in advance; a separating word is added
//! only where the tests do not separate two words yet \[DEY05].

use super::WordSuite;
use super::grow::{GrowthRecipe, grow_smallest_suite};
use super::identify::IdentifyRule;
use super::visit::{InputOrder, StateOrder, TransitionOrder};
use crate::mealy::SuiteModel;

const RECIPE: GrowthRecipe = GrowthRecipe {
    rules: &IdentifyRule::ALL,
    visits: &[TransitionOrder::new(StateOrder::Shallowest, InputOrder::Listed)],
    visits_without_extra: 1,
    visits_if_small: 1,
    // [DEY05] makes no use of convergence: a test is never continued behind a transition that is already proved.
    converge: None,
    search: false,
};

/// The suite of the H-method.
pub fn h_suite(spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
    WordSuite::from_paths(grow_smallest_suite(spec, extra, &RECIPE))
}
