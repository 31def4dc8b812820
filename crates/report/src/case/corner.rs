//! The instants at which a guard of a case may change: what a test needs to be fair on a wall clock.
//!
//! A test on a wall clock knows an instant to within the latency only. A guard that is linear in the delay changes where
//! one of its comparisons does, so these corners, the ends of what is believed and one instant between each two of
//! them stand for all instants that may have been the true one.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Node, Substitution, Term, TermPool, VarId};
use ioxide_model::value::Value;

/// The values of `delay` at which a comparison in `guard` changes, as terms over what was seen before.
pub(super) fn corners(pool: &mut TermPool, delay: VarId, guard: Term) -> Vec<Term> {
    let mut found = Vec::new();
    for atom in pool.subterms(&[guard], |_| true) {
        let (Node::Le(a, b) | Node::Lt(a, b) | Node::Eq(a, b)) = *pool.node(atom) else { continue };
        if pool.sort(a) != Sort::Real || !pool.mentions(atom, delay) {
            continue;
        }
        if let Some(corner) = corner(pool, delay, a, b).filter(|corner| !found.contains(corner)) {
            found.push(corner);
        }
    }
    found
}

/// Where `a` and `b` are equal, if that is linear in `delay`.
fn corner(pool: &mut TermPool, delay: VarId, a: Term, b: Term) -> Option<Term> {
    let difference = pool.sub(a, b);
    let mut at = |n: i64| {
        let instant = pool.value(Value::Real(Rational::from(n)));
        let here: Substitution = [(delay, instant)].into_iter().collect();
        pool.substitute(difference, &here)
    };
    let (start, next, second) = (at(0), at(1), at(2));
    let (slope, again) = (pool.sub(next, start), pool.sub(second, next));
    let slope = pool.as_value(slope).and_then(Value::as_real).filter(|_| slope == again)?.clone();
    if slope.is_zero() {
        return None;
    }
    let factor = pool.value(Value::Real(Rational::from(-1).div(&slope)));
    Some(pool.mul2(factor, start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_are_where_comparisons_change() {
        let mut pool = TermPool::new();
        let (delay, d) = pool.fresh("d", Sort::Real);
        let (_, before) = pool.fresh("before", Sort::Real);
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
}
