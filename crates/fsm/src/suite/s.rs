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
use super::grow::smallest;
use super::identify::Rule;
use super::{Source, Suite};
use crate::mealy::Spec;

/// The suite of the S-method.
pub fn s_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    Suite(Source::Kept(smallest(spec, extra, &Rule::ALL, Some(Continue::FromAnywhere))))
}
