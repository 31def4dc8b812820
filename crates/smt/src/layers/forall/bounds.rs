//! Elimination of one number variable bounded by linear literals.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::value::Value;

/// The number of pairs of a lower and an upper bound beyond which a variable stays: each further elimination squares it
/// again. Chosen by feel.
const MAX_PAIRS: usize = 1024;

/// `factor · x` at least (or at most) `limit`, strictly over the reals if `strict`.
pub(super) struct QuantifierBound {
    /// The coefficient of the variable, above zero.
    pub(super) factor: Rational,
    pub(super) limit: Term,
    strict: bool,
}

#[derive(Default)]
pub(super) struct QuantifierBounds {
    pub(super) lower: Vec<QuantifierBound>,
    pub(super) upper: Vec<QuantifierBound>,
    /// Literals that turn out not to depend on the variable.
    pub(super) free: Vec<Term>,
}

/// Returns `∃ var: all literals`, where each is linear in `var`; `None` if it is not that easy.
pub(super) fn eliminate(pool: &mut TermPool, var: VarId, sort: Sort, literals: &[Term]) -> Option<Term> {
    let whole = sort.base() == Sort::Int;
    // An equation replaces the variable without any pairs, so it goes first.
    if let Some(image) = eliminate_by_equation(pool, var, sort, literals, whole) {
        return Some(image);
    }
    let mut sides = QuantifierBounds::default();
    for &literal in literals {
        sides.add_literal(pool, var, literal, whole)?;
    }
    sides.add_sort_bounds(pool, sort);
    let unit = |side: &QuantifierBound| side.factor == Rational::ONE;
    // Fourier-Motzkin elimination is exact over the reals. Over whole numbers it is if one bound of every pair has the
    // factor 1: the other one, scaled, is then met by a whole number.
    let exact = !whole || sides.lower.iter().all(unit) || sides.upper.iter().all(unit);
    // Bounds on one side only leave room however they are scaled.
    if !exact && !sides.lower.is_empty() && !sides.upper.is_empty() {
        return None;
    }
    if sides.lower.len() * sides.upper.len() > MAX_PAIRS {
        return None;
    }
    let mut facts = sides.free;
    for lower in &sides.lower {
        for upper in &sides.upper {
            facts.push(leaves_room(pool, lower, upper));
        }
    }
    Some(pool.and(facts))
}

/// Returns the fact that `a·x ≥ l` and `b·x ≤ u` leave room for `x`: `b·l ≤ a·u`.
fn leaves_room(pool: &mut TermPool, lower: &QuantifierBound, upper: &QuantifierBound) -> Term {
    let sort = pool.sort(lower.limit).base();
    let (a, b) = (pool.number(lower.factor.clone(), sort), pool.number(upper.factor.clone(), sort));
    let (mut left, mut right) = (pool.mul2(b, lower.limit), pool.mul2(a, upper.limit));
    let of_right = pool.free_vars(right);
    // What both sides have cancels out.
    if pool.free_vars(left).iter().any(|var| of_right.contains(var)) {
        (left, right) = (pool.sub(left, right), pool.number(Rational::ZERO, sort));
    }
    if lower.strict || upper.strict { pool.lt(left, right) } else { pool.le(left, right) }
}

/// Eliminates `var` by an equation `x = t`: the other literals with `t` for `x`.
fn eliminate_by_equation(
    pool: &mut TermPool,
    var: VarId,
    sort: Sort,
    literals: &[Term],
    is_integer: bool,
) -> Option<Term> {
    let (at, solution) = literals.iter().enumerate().find_map(|(at, &literal)| {
        let TermNode::Eq(a, b) = *pool.node(literal) else { return None };
        let (factor, rest) = split_linear(pool, var, a, b)?;
        // `2·x = t` also says that `t` is even.
        if is_integer && !is_unit(&factor) {
            return None;
        }
        Some((at, scale_term(pool, rest, &Rational::from(-1).div(&factor))))
    })?;
    let subst = Substitution::from_iter([(var, solution)]);
    let mut facts = vec![pool.domain_fact(sort, solution)];
    for (other, &literal) in literals.iter().enumerate() {
        if other != at {
            facts.push(pool.substitute(literal, &subst));
        }
    }
    Some(pool.and(facts))
}

fn is_unit(factor: &Rational) -> bool {
    *factor == Rational::ONE || *factor == Rational::from(-1)
}

fn scale_term(pool: &mut TermPool, term: Term, factor: &Rational) -> Term {
    let factor = pool.number(factor.clone(), pool.sort(term).base());
    pool.mul2(factor, term)
}

/// The comparison `a < b` if it is strict, else `a ≤ b`.
#[derive(Clone, Copy)]
struct OrderLiteral {
    a: Term,
    b: Term,
    strict: bool,
}

impl QuantifierBounds {
    /// Adds the bounds of the variable's sort.
    pub(super) fn add_sort_bounds(&mut self, pool: &mut TermPool, sort: Sort) {
        if let Sort::Range { lo, hi } = sort {
            let (lo, hi) = (pool.int(lo), pool.int(hi));
            self.lower.push(QuantifierBound { factor: Rational::ONE, limit: lo, strict: false });
            self.upper.push(QuantifierBound { factor: Rational::ONE, limit: hi, strict: false });
        }
    }

    /// Adds one literal; `None` if it is not a linear bound.
    pub(super) fn add_literal(
        &mut self,
        pool: &mut TermPool,
        var: VarId,
        literal: Term,
        is_integer: bool,
    ) -> Option<()> {
        match *pool.node(literal) {
            TermNode::Lt(a, b) => {
                self.add_comparison(pool, var, OrderLiteral { a, b, strict: true }, is_integer)
            }
            TermNode::Le(a, b) => {
                self.add_comparison(pool, var, OrderLiteral { a, b, strict: false }, is_integer)
            }
            TermNode::Eq(a, b) => {
                self.add_comparison(pool, var, OrderLiteral { a, b, strict: false }, is_integer)?;
                self.add_comparison(pool, var, OrderLiteral { a: b, b: a, strict: false }, is_integer)
            }
            _ => None,
        }
    }

    /// Adds one comparison; `None` if it is not linear in `var`.
    fn add_comparison(
        &mut self,
        pool: &mut TermPool,
        var: VarId,
        literal: OrderLiteral,
        is_integer: bool,
    ) -> Option<()> {
        let OrderLiteral { a, b, strict } = literal;
        let difference = pool.sub(a, b);
        if !pool.mentions(difference, var) {
            let zero = pool.number(Rational::ZERO, pool.sort(difference).base());
            self.free.push(if strict { pool.lt(difference, zero) } else { pool.le(difference, zero) });
            return Some(());
        }
        let (factor, rest) = split_linear(pool, var, a, b)?;
        let sort = pool.sort(rest).base();
        // factor·x + rest < 0; over whole numbers, factor·x + rest + 1 ≤ 0.
        let (rest, strict) = if is_integer && strict {
            let one = pool.number(Rational::ONE, sort);
            (pool.add2(rest, one), false)
        } else {
            (rest, strict)
        };
        if factor.is_negative() {
            // (-factor)·x ≥ rest
            self.lower.push(QuantifierBound { factor: -&factor, limit: rest, strict });
        } else {
            let limit = pool.neg(rest);
            self.upper.push(QuantifierBound { factor, limit, strict });
        }
        Some(())
    }
}

/// `a - b` as `factor · var + rest` with `var` not in `rest` and `factor` not zero.
pub(super) fn split_linear(pool: &mut TermPool, var: VarId, a: Term, b: Term) -> Option<(Rational, Term)> {
    let term = pool.var(var);
    let sort = pool.sort(a).base();
    if !sort.is_numeric() || pool.sort(term).base() != sort {
        return None;
    }
    let difference = pool.sub(a, b);
    let factor = coefficient_of(pool, difference, term)?;
    let product = scale_term(pool, term, &factor);
    let rest = pool.sub(difference, product);
    (!pool.mentions(rest, var)).then_some((factor, rest))
}

/// The coefficient of `atom` in the sum `term`.
fn coefficient_of(pool: &TermPool, term: Term, atom: Term) -> Option<Rational> {
    let parts = if let TermNode::Add(list) = pool.node(term) { list } else { std::slice::from_ref(&term) };
    parts.iter().find_map(|&part| match pool.node(part) {
        TermNode::Mul(list) if list.len() == 2 && list[1] == atom => {
            pool.as_value(list[0]).and_then(Value::to_rational)
        }
        _ => (part == atom).then_some(Rational::ONE),
    })
}
