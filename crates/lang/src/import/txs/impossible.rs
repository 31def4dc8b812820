//! Conditions that are seen to be false without a solver.

use std::collections::BTreeMap;

use ioxide_model::term::{Term, TermNode, TermPool};
use ioxide_model::value::Value;

/// Returns whether `condition` is seen to be false: it equates one term with two values, or says that it was made by
/// two constructors, or by one and not by it.
pub(super) fn is_impossible(pool: &TermPool, condition: Term) -> bool {
    let parts = pool.conjuncts(condition);
    let (mut constants, mut makers) = (BTreeMap::new(), BTreeMap::new());
    let is_clash = |&part: &Term| {
        let equated = equated_constant(pool, part);
        let made = made_by(pool, part);
        equated.is_some_and(|(term, value)| *constants.entry(term).or_insert(value) != value)
            || made.is_some_and(|(term, ctor)| *makers.entry(term).or_insert(ctor) != ctor)
    };
    if pool.is_false(condition) || parts.iter().any(is_clash) {
        return true;
    }
    parts.iter().any(|&part| {
        let TermNode::Not(denied) = *pool.node(part) else { return false };
        matches!(*pool.node(denied), TermNode::Is(ctor, term) if makers.get(&term) == Some(&ctor))
    })
}

/// Returns the term and the constant of an equation between a term and a constant.
fn equated_constant(pool: &TermPool, equation: Term) -> Option<(Term, Term)> {
    let TermNode::Eq(a, b) = *pool.node(equation) else { return None };
    match (pool.as_value(a).is_some(), pool.as_value(b).is_some()) {
        (true, false) => Some((b, a)),
        (false, true) => Some((a, b)),
        _ => None,
    }
}

/// Returns a term and the constructor that made it, if `condition` says so.
fn made_by(pool: &TermPool, condition: Term) -> Option<(Term, u32)> {
    match *pool.node(condition) {
        TermNode::Is(ctor, term) => Some((term, ctor)),
        TermNode::Eq(a, b) => match (outer_constructor(pool, a), outer_constructor(pool, b)) {
            (Some(ctor), None) => Some((b, ctor)),
            (None, Some(ctor)) => Some((a, ctor)),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the constructor of a term that is written with one.
fn outer_constructor(pool: &TermPool, term: Term) -> Option<u32> {
    match pool.node(term) {
        TermNode::Construct(_, ctor, _) => Some(*ctor),
        TermNode::Value(Value::Data(data)) => Some(data.ctor),
        _ => None,
    }
}
