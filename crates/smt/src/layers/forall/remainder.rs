//! Elimination of one whole number in bounds and remainders by constants (the congruences of Cooper's procedure, where
//! the number itself has coefficient 1 in its bounds).
//!
//! With `L` a common multiple of the divisors, the number is `r` modulo `L` for one `r` below `L`; then every remainder
//! is known, and the least number from `l` on that is `r` modulo `L` is `l + (r - l) % L`.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

use super::bounds::{QuantifierBound, QuantifierBounds, split_linear};

/// The greatest common multiple of the divisors that is written out. Each class of remainders is an arm of its own;
/// chosen by feel.
const MAX_PERIOD: i64 = 24;

/// Returns `∃ var: all literals`, where `var` is a whole number in bounds and in remainders by constants; `None` if it
/// is not that easy.
pub fn eliminate(pool: &mut TermPool, var: VarId, sort: Sort, literals: &[Term]) -> Option<Term> {
    if sort.base() != Sort::Int {
        return None;
    }
    let remainders = collect_remainders(pool, var, literals)?;
    let period =
        remainders.iter().try_fold(1, |all, it| Some(lcm(all, it.divisor)).filter(|&it| it <= MAX_PERIOD))?;
    // One arm for each class modulo the period: in a class all remainders are constants, and only bounds are left.
    let arms: Option<Vec<Term>> = (0..period)
        .map(|class| eliminate_in_class(pool, (var, sort), literals, &remainders, (class, period)))
        .collect();
    Some(pool.or(arms?))
}

/// `(factor · var + rest) % divisor`.
struct Remainder {
    whole: Term,
    factor: Rational,
    rest: Term,
    divisor: i64,
}

/// Returns the remainders that mention `var`; `None` if there are none, or one is not linear in it or not by a
/// constant.
fn collect_remainders(pool: &mut TermPool, var: VarId, literals: &[Term]) -> Option<Vec<Remainder>> {
    let mut found = Vec::new();
    for term in pool.subterms(literals, |_| true) {
        let TermNode::Rem(dividend, divisor) = *pool.node(term) else { continue };
        if !pool.mentions(term, var) {
            continue;
        }
        let divisor =
            pool.as_value(divisor).and_then(Value::as_int).and_then(ioxide_model::number::Int::to_i64)?;
        let zero = pool.int(0);
        let (factor, rest) = split_linear(pool, var, dividend, zero)?;
        // The sign of a divisor does not change the remainder, which is never negative.
        let size = divisor.checked_abs().filter(|&size| size != 0 && factor.is_integer())?;
        found.push(Remainder { whole: term, factor, rest, divisor: size });
    }
    (!found.is_empty()).then_some(found)
}

/// `∃ var: all literals` among the numbers that are `class` modulo `period`.
fn eliminate_in_class(
    pool: &mut TermPool,
    (var, sort): (VarId, Sort),
    literals: &[Term],
    remainders: &[Remainder],
    (class, period): (i64, i64),
) -> Option<Term> {
    let known: Vec<(Term, Term)> =
        remainders.iter().map(|it| (it.whole, remainder_in_class(pool, it, class))).collect();
    let mut sides = QuantifierBounds::default();
    for &literal in literals {
        let literal =
            known.iter().fold(literal, |literal, &(old, new)| replace_term(pool, literal, old, new));
        if pool.mentions(literal, var) {
            sides.add_literal(pool, var, literal, true)?;
        } else {
            sides.free.push(literal);
        }
    }
    sides.add_sort_bounds(pool, sort);
    let mut facts = std::mem::take(&mut sides.free);
    for lower in &sides.lower {
        for upper in &sides.upper {
            facts.push(room_in_class(pool, lower, upper, (class, period))?);
        }
    }
    Some(pool.and(facts))
}

/// The remainder of a number that is `class` modulo a multiple of the divisor.
fn remainder_in_class(pool: &mut TermPool, of: &Remainder, class: i64) -> Term {
    let (class, divisor) = (pool.int(class), pool.int(of.divisor));
    let factor = pool.number(of.factor.clone(), Sort::Int);
    let product = pool.mul2(factor, class);
    let dividend = pool.add2(product, of.rest);
    pool.rem(dividend, divisor)
}

/// Returns `term` with `new` for every occurrence of `old`.
fn replace_term(pool: &mut TermPool, term: Term, old: Term, new: Term) -> Term {
    if term == old {
        return new;
    }
    let order = pool.subterms(&[term], |_| true);
    let mut images = rustc_hash::FxHashMap::default();
    for sub in order {
        let image = if sub == old {
            new
        } else {
            pool.with_children(sub, |child| images.get(&child).copied().unwrap_or(child))
        };
        images.insert(sub, image);
    }
    images.get(&term).copied().unwrap_or(term)
}

/// Returns the fact that a number from `l` to `u` is `class` modulo `period`: `l + (class - l) % period ≤ u`.
fn room_in_class(
    pool: &mut TermPool,
    lower: &QuantifierBound,
    upper: &QuantifierBound,
    (class, period): (i64, i64),
) -> Option<Term> {
    // With another coefficient the least number is no longer `l + (r - l) % L`; then the quantifier stays.
    if lower.factor != Rational::ONE || upper.factor != Rational::ONE {
        return None;
    }
    let (class, period) = (pool.int(class), pool.int(period));
    let gap = pool.sub(class, lower.limit);
    let gap = pool.rem(gap, period);
    let least = pool.add2(lower.limit, gap);
    Some(pool.le(least, upper.limit))
}

/// The least common multiple.
fn lcm(a: i64, b: i64) -> i64 {
    let gcd = |mut a: i64, mut b: i64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    (a / gcd(a, b)).saturating_mul(b)
}
