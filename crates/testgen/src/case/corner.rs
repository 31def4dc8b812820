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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_where_comparisons_change() {
        let mut pool = TermPool::new();
        let (delay, d) = pool.declare_term("d", Sort::Real);
        let (_, before) = pool.declare_term("before", Sort::Real);
        let [one, two] = [1, 2].map(|n| pool.value(Value::Real(n.into())));
        let sum = pool.add2(d, before);
        let (late, twice) = (pool.le(sum, two), pool.mul2(two, d));
        let (double, square) = (pool.lt(one, twice), pool.mul2(d, d));
        let odd = pool.le(square, one);
        let guard = pool.and([late, double, odd]);
        let shown: Vec<String> =
            corners(&mut pool, delay, guard).into_iter().map(|it| pool.show(it).to_string()).collect();
        assert_eq!(shown, ["2.0 - before", "0.5"], "the square is not linear");
    }

    #[test]
    fn corners_of_fields_are_what_they_are_compared_with() {
        let mut pool = TermPool::new();
        let (field, n) = pool.declare_term("n", Sort::Int);
        let (name, text) = pool.declare_term("name", Sort::Str);
        let (_, seen) = pool.declare_term("seen", Sort::Int);
        let (_, said) = pool.declare_term("said", Sort::Str);
        let [three, two] = [3, 2].map(|n| pool.value(Value::Int(n.into())));
        let (sum, twice) = (pool.add2(seen, three), pool.mul2(two, n));
        let (equal, low, same) = (pool.eq(n, sum), pool.le(seen, twice), pool.eq(said, text));
        let guard = pool.and([equal, low, same]);
        let shown = |pool: &TermPool, terms: Vec<Term>| -> Vec<String> {
            terms.into_iter().map(|it| pool.show(it).to_string()).collect()
        };
        let numbers = corners(&mut pool, field, guard);
        assert_eq!(shown(&pool, numbers), ["seen + 3", "-seen / -2"]);
        let texts = corners(&mut pool, name, guard);
        assert_eq!(shown(&pool, texts), ["said"]);
    }
}
