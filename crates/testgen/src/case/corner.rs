//! The values of a delay or a field at which a guard of a case may change: tests need them to be fair on a wall clock,
//! and to choose their inputs by their observations.
//!
//! A test on a wall clock knows an instant to within the latency only. A guard that is linear in the delay changes
//! where one of its comparisons does, so these corners, the ends of the interval of the possible instants and one
//! instant between each two of them stand for all instants that may have been the true one. Likewise a number to send
//! that fits the guard is, where there is one, found at a corner or beside it, unless remainders or products hide it.

use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

/// The values of `var` at which a comparison in `guard` changes, as terms over the other variables.
#[must_use]
pub fn corners(pool: &mut TermPool, var: VarId, guard: Term) -> Vec<Term> {
    let sort = pool.var_info(var).sort.base();
    let mut found = Vec::new();
    for atom in pool
        .subterms(&[guard], |term| !matches!(pool.node(term), TermNode::Exists(..) | TermNode::Lambda(..)))
    {
        let (TermNode::Le(a, b) | TermNode::Lt(a, b) | TermNode::Eq(a, b)) = *pool.node(atom) else {
            continue;
        };
        if pool.sort(a).base() != sort || !pool.mentions(atom, var) {
            continue;
        }
        let corner = match sort {
            Sort::Int | Sort::Real => crossing(pool, var, a, b),
            _ => other_side(pool, var, a, b),
        };
        if let Some(corner) = corner.filter(|corner| !found.contains(corner)) {
            found.push(corner);
        }
    }
    found
}

/// Returns the other side of the comparison if one side is `var` alone and the other does not mention it.
fn other_side(pool: &mut TermPool, var: VarId, a: Term, b: Term) -> Option<Term> {
    let here = pool.var(var);
    let other = if a == here {
        b
    } else if b == here {
        a
    } else {
        return None;
    };
    (!pool.mentions(other, var)).then_some(other)
}

/// Returns the value of `var` at which `a` and `b` are equal, if their difference is linear in `var` with a constant
/// slope. For integers it is rounded by the Euclidean quotient: down for a positive slope of `a - b`, up for a negative
/// one.
fn crossing(pool: &mut TermPool, var: VarId, a: Term, b: Term) -> Option<Term> {
    let difference = pool.sub(a, b);
    let is_real = pool.var_info(var).sort == Sort::Real;
    let number = |n: i64| if is_real { Value::Real(Rational::from(n)) } else { Value::Int(Int::from(n)) };
    let mut at = |n: i64| {
        let value = pool.value(number(n));
        let here: Substitution = [(var, value)].into_iter().collect();
        pool.substitute(difference, &here)
    };
    let (start, next, second) = (at(0), at(1), at(2));
    let (slope, again) = (pool.sub(next, start), pool.sub(second, next));
    let slope = pool.as_value(slope).filter(|_| slope == again)?.clone();
    match slope {
        Value::Real(slope) if !slope.is_zero() => {
            let factor = pool.value(Value::Real(Rational::from(-1).div(&slope)));
            Some(pool.mul2(factor, start))
        }
        Value::Int(slope) if !slope.is_zero() => {
            let (minus, slope) = (pool.value(number(-1)), pool.value(Value::Int(slope)));
            let opposite = pool.mul2(minus, start);
            Some(pool.div(opposite, slope))
        }
        _ => None,
    }
}
