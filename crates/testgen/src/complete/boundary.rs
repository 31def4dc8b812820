//! Boundaries: where a comparison of a guard could be off by a little.
//!
//! A system whose guard says `<` for `<=`, or has a constant that is a little off, treats the values next to the
//! boundary differently. With the comparisons moved by up to `width` in both directions as conditions of their own,
//! such a guard is a union of input classes.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_symex::Ctx;

/// The comparisons of numbers in `formula` that mention `fields`, moved by up to `width`; none if that is 0.
pub(super) fn move_comparisons(cx: &mut Ctx<'_>, formula: Term, fields: &[VarId], width: u32) -> Vec<Term> {
    if width == 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    for term in cx.pool.subterms(&[formula], |term| !cx.pool.is_ground(term)) {
        let is_about = cx.pool.free_vars(term).iter().any(|var| fields.contains(var));
        if !is_about || cx.pool.is_open(term) {
            continue;
        }
        let width = i64::from(width);
        let (a, b, by) = match *cx.pool.node(term) {
            TermNode::Le(a, b) => (a, b, -width..=width),
            TermNode::Lt(a, b) => (a, b, -width - 1..=width - 1),
            TermNode::Eq(a, b) => (a, b, -width - 1..=width),
            _ => continue,
        };
        match cx.pool.sort(a).base() {
            Sort::Int => {
                for by in by {
                    let by = cx.pool.int(by);
                    let limit = cx.pool.add([b, by]);
                    found.push(cx.pool.le(a, limit));
                }
            }
            Sort::Real => found.extend([cx.pool.lt(a, b), cx.pool.le(a, b)]),
            _ => (),
        }
    }
    found.retain(|&term| !cx.pool.is_true(term) && !cx.pool.is_false(term));
    found.dedup();
    found
}
