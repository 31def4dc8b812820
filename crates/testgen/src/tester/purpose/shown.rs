//! The order in which a path shows the fields of a message, which does not depend on how the model is written.
//!
//! Patterns of equal fields are walked through field by field, so their order decides which pattern comes
//! first. The field that the path uses first is the first here: values that are equal and were shown early can
//! spoil all that is shown after them, while those shown last can spoil nothing any more.

use ioxide_model::term::{Term, TermPool, VarId};

use crate::purpose::PurposeStep;

/// The positions of `fields`, those used by an earlier one of the `later` steps first; fields used together stay as they are.
pub(super) fn order_of_use(pool: &TermPool, fields: &[VarId], later: &[PurposeStep]) -> Vec<usize> {
    let used = |facts: &[Term], field| facts.iter().any(|&fact| pool.mentions(fact, field));
    let first_use = |field| later.iter().position(|step| used(&step.facts, field)).unwrap_or(later.len());
    let mut order: Vec<usize> = (0..fields.len()).collect();
    order.sort_by_cached_key(|&at| first_use(fields[at]));
    order
}
