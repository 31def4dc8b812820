//! The SPYH-method: as SPY spreads words over convergent tests, and as H
//! chooses separating words only where none is there yet \[SB18].

use super::WordSuite;
use super::convergence::TestContinuation;
use super::grow::{GrowthRecipe, grow_smallest_suite};
use super::identify::IdentifyRule;
use super::visit::{InputOrder, StateOrder, TransitionOrder};
use crate::mealy::SuiteModel;

const RECIPE: GrowthRecipe = GrowthRecipe {
    rules: &IdentifyRule::CHOOSING,
    visits: &[
        // The order that suits machines of many states comes first; without extra states larger machines get only
        // that one.
        TransitionOrder::new(StateOrder::MostOpen, InputOrder::Listed),
        TransitionOrder::new(StateOrder::Shallowest, InputOrder::DeepFirst),
    ],
    visits_without_extra: 1,
    visits_if_small: 2,
    converge: Some(TestContinuation::FromPrefix),
    search: false,
};

/// The suite of the SPYH-method.
pub fn spyh_suite(spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
    WordSuite::from_paths(grow_smallest_suite(spec, extra, &RECIPE))
}
