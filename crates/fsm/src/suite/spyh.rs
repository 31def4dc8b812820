//! The SPYH-method: as SPY spreads words over convergent tests, and as H
//! chooses separating words only where none is there yet [SB18].
//!
//! [SB18]: M. Soucha, K. Bogdanov, "SPYH-Method: An Improvement in Testing of
//! Finite-State Machines", ICST Workshops 2018.

use super::fold::Continue;
use super::grow::smallest;
use super::identify::Rule;
use super::{Source, Suite};
use crate::mealy::Spec;

/// The suite of the SPYH-method.
pub fn spyh_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    Suite(Source::Kept(smallest(spec, extra, &Rule::ALL, Some(Continue::FromPrefix))))
}
