//! The H-method: no identifier is fixed in advance; a separating word is added
//! only where the tests do not separate two words yet [DEY05].
//!
//! [DEY05]: R. Dorofeeva, K. El-Fakih, N. Yevtushenko, "An Improved
//! Conformance Testing Method", FORTE 2005.

use super::grow::smallest;
use super::identify::Rule;
use super::{Source, Suite};
use crate::mealy::Spec;

/// The suite of the H-method.
pub fn h_suite(spec: &Spec, extra: usize) -> Suite<'_> {
    Suite(Source::Kept(smallest(spec, extra, &Rule::ALL, None)))
}
