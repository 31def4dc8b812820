//! The order in which a path uses the fields of a message, which does not depend on how the model is written.
//!
//! Patterns of equal fields are enumerated field by field, so the order of fields decides which pattern comes first.
//! The field that the path uses first is the first here: equal values that were used early can hide faults in all that
//! is observed after them, while those used last can hide nothing any more.

use ioxide_model::term::{Term, TermPool, VarId};

use crate::purpose::PurposeStep;

/// Returns the positions of `fields`, those used by an earlier one of the `later` steps first; fields first used in the
/// same step keep their order.
pub(super) fn order_of_use(pool: &TermPool, fields: &[VarId], later: &[PurposeStep]) -> Vec<usize> {
    let used = |facts: &[Term], field| facts.iter().any(|&fact| pool.mentions(fact, field));
    let first_use = |field| later.iter().position(|step| used(&step.facts, field)).unwrap_or(later.len());
    let mut order: Vec<usize> = (0..fields.len()).collect();
    order.sort_by_cached_key(|&at| first_use(fields[at]));
    order
}
