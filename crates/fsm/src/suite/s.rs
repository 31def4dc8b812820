//! The S-method: the smallest suites, by continuing tests over proved
//! transitions instead of starting new ones.
//!
//! As soon as a transition is proved to converge, a test that ends in a known
//! state can go on from there: either in place, or after a transfer over
//! proved transitions that is shorter than a reset and an access word. The
//! idea of state identification on convergent prefixes is that of [SB20]; the
//! proof obligations are those of the SPY-method, and the fold that keeps them
//! is our own.
//!
//! [SB20]: M. Soucha, K. Bogdanov, "Observation Tree Approach: Active Learning
//! Relying on Testing", The Computer Journal 63(9), 2020.

use super::fold::Continue;
use super::grow::{Recipe, smallest};
use super::identify::Rule;
use super::visit::{InputOrder, StateOrder, Visit};
use super::{Source, Suite};
use crate::mealy::Spec;

const RECIPE: Recipe = Recipe {
    rules: &Rule::CHOOSING,
    visits: &[
        Visit::new(StateOrder::Shallowest, InputOrder::Listed),
        Visit::new(StateOrder::Shallowest, InputOrder::DeepFirst),
        Visit::new(StateOrder::MostOpen, InputOrder::Listed),
        Visit::new(StateOrder::Deepest, InputOrder::Listed),
        Visit::new(StateOrder::FewestOpen, InputOrder::DeepFirst),
        Visit::new(StateOrder::Shallowest, InputOrder::ShallowFirst),
        Visit::new(StateOrder::MostOpen, InputOrder::DeepFirst),
    ],
    visits_without_extra: 4,
    visits_if_small: 4,
    converge: Some(Continue::FromAnywhere),
    search: true,
};

/// The suite of the S-method.
pub fn s_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    Suite(Source::Kept(smallest(spec, extra, &RECIPE)))
}
