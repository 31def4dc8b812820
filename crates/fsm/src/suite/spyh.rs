//! The SPYH-method: as SPY spreads words over convergent tests, and as H
//! chooses separating words only where none is there yet [SB18].
//!
//! [SB18]: M. Soucha, K. Bogdanov, "SPYH-Method: An Improvement in Testing of
//! Finite-State Machines", ICST Workshops 2018.

use super::fold::Continue;
use super::grow::{Recipe, smallest};
use super::identify::Rule;
use super::visit::{InputOrder, StateOrder, Visit};
use super::{Source, Suite};
use crate::mealy::Spec;

const RECIPE: Recipe = Recipe {
    rules: &Rule::CHOOSING,
    visits: &[
        Visit::new(StateOrder::MostOpen, InputOrder::Listed),
        Visit::new(StateOrder::Shallowest, InputOrder::DeepFirst),
    ],
    visits_without_extra: 1,
    visits_if_small: 2,
    converge: Some(Continue::FromPrefix),
    search: false,
};

/// The suite of the SPYH-method.
pub fn spyh_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    Suite(Source::Kept(smallest(spec, extra, &RECIPE)))
}
