//! The SPY-method: harmonised identifiers, each appended to whichever of the
//! words known to converge makes the suite grow least \[SPY12].

use super::WordSuite;
use super::convergence::TestContinuation;
use super::grow::{GrowthRecipe, grow_smallest_suite};
use super::identify::IdentifyRule;
use super::visit::{InputOrder, StateOrder, TransitionOrder};
use crate::mealy::SuiteModel;

const RECIPE: GrowthRecipe = GrowthRecipe {
    // SPY uses harmonised identifiers as they are; only where they are appended is chosen. The suite is grown in each
    // of the orders, and the smallest is kept.
    rules: &[IdentifyRule::Fixed],
    visits: &[
        TransitionOrder::new(StateOrder::Shallowest, InputOrder::DeepFirst),
        TransitionOrder::new(StateOrder::MostOpen, InputOrder::DeepFirst),
    ],
    visits_without_extra: 1,
    visits_if_small: 1,
    converge: Some(TestContinuation::FromPrefix),
    search: true,
};

/// The suite of the SPY-method.
pub fn spy_suite(spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
    WordSuite::from_paths(grow_smallest_suite(spec, extra, &RECIPE))
}
