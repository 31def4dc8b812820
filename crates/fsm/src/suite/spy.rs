//! The SPY-method: harmonised identifiers, each appended to whichever of the
//! words known to converge makes the suite grow least [SPY12].
//!
//! [SPY12]: A. Simão, A. Petrenko, N. Yevtushenko, "On reducing test length
//! for FSMs with extra states", Software Testing, Verification and
//! Reliability 22(6), 2012.

use super::fold::Continue;
use super::grow::{Recipe, smallest};
use super::identify::Rule;
use super::visit::{InputOrder, StateOrder, Visit};
use super::{Source, Suite};
use crate::mealy::Spec;

const RECIPE: Recipe = Recipe {
    rules: &[Rule::Fixed],
    visits: &[
        Visit::new(StateOrder::Shallowest, InputOrder::DeepFirst),
        Visit::new(StateOrder::MostOpen, InputOrder::DeepFirst),
    ],
    visits_without_extra: 1,
    visits_if_small: 1,
    converge: Some(Continue::FromPrefix),
    search: true,
};

/// The suite of the SPY-method.
pub fn spy_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    Suite(Source::Kept(smallest(spec, extra, &RECIPE)))
}
