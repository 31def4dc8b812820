//! The S-method: the smallest suites, by continuing tests over proved
//! transitions instead of starting new ones.
//!
//! As soon as a transition is proved to converge, a test that ends in a known
//! state can go on from there: either in place, or after a transfer over
//! proved transitions that is shorter than a reset and an access word. The
//! idea of state identification on convergent prefixes is that of \[SB20]; the
//! proof obligations are those of the SPY-method, and the graph that keeps them
//! is our own.

use super::WordSuite;
use super::convergence::TestContinuation;
use super::grow::{GrowthRecipe, grow_smallest_suite};
use super::identify::IdentifyRule;
use super::visit::{InputOrder, StateOrder, TransitionOrder};
use crate::mealy::SuiteModel;

const RECIPE: GrowthRecipe = GrowthRecipe {
    rules: &IdentifyRule::CHOOSING,
    visits: &[
        TransitionOrder::new(StateOrder::Shallowest, InputOrder::Listed),
        TransitionOrder::new(StateOrder::Shallowest, InputOrder::DeepFirst),
        TransitionOrder::new(StateOrder::MostOpen, InputOrder::Listed),
        TransitionOrder::new(StateOrder::Deepest, InputOrder::Listed),
        TransitionOrder::new(StateOrder::FewestOpen, InputOrder::DeepFirst),
        TransitionOrder::new(StateOrder::Shallowest, InputOrder::ShallowFirst),
        TransitionOrder::new(StateOrder::MostOpen, InputOrder::DeepFirst),
    ],
    // Four of the seven orders where suites are small. With the search for identifiers they saved 2 % of tests and
    // symbols (docs/measurements/fsm.md).
    visits_without_extra: 4,
    visits_if_small: 4,
    converge: Some(TestContinuation::FromAnywhere),
    search: true,
};

/// The suite of the S-method.
pub fn s_suite(spec: &SuiteModel, extra: usize) -> WordSuite<'_> {
    WordSuite::from_paths(grow_smallest_suite(spec, extra, &RECIPE))
}
