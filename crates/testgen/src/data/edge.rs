//! The edges of comparisons: the values at which `a < b`, `a <= b` or `a == b` changes its truth.
//!
//! One field is moved, the others keep their values. If both sides are linear in that field, three evaluations find the
//! value at which they are equal; the field gets that value or one next to it. No solver is asked.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

/// Returns `drawn` with one of the fields `open` moved so that `atom` is at its edge, or nearly; `None` if that is
/// impossible.
pub(super) fn move_to_edge(
    pool: &TermPool,
    rng: &mut ChaCha8Rng,
    atom: Term,
    open: &[VarId],
    drawn: &Valuation,
    state: &Valuation,
) -> Option<Valuation> {
    let (TermNode::Le(a, b) | TermNode::Lt(a, b) | TermNode::Eq(a, b)) = *pool.node(atom) else {
        return None;
    };
    let mentioned: Vec<VarId> = pool.free_vars(atom).into_iter().filter(|var| open.contains(var)).collect();
    let field = *mentioned.choose(rng)?;
    let sort = pool.var_info(field).sort;
    let value = if sort.is_numeric() {
        let root = solve_for_field(pool, (a, b), field, drawn, state)?;
        number_near(sort, &root, rng.random_range(-1..=1))
    } else {
        other_side(pool, (a, b), field, drawn, state)?
    };
    if !pool.has_sort(&value, sort) {
        return None;
    }
    let mut moved = drawn.clone();
    moved.set(field, value);
    Some(moved)
}

/// Returns the value of `field` for which both sides are equal, if they are linear in it.
fn solve_for_field(
    pool: &TermPool,
    (a, b): (Term, Term),
    field: VarId,
    drawn: &Valuation,
    state: &Valuation,
) -> Option<Rational> {
    let is_real = pool.var_info(field).sort == Sort::Real;
    let difference = |at: i64| {
        let mut here = drawn.clone();
        here.set(field, if is_real { Value::Real(Rational::from(at)) } else { Value::int(at) });
        let side = |term| pool.eval(term, &(&here, state)).ok()?.to_rational();
        Some(side(a)? - &side(b)?)
    };
    let start = difference(0)?;
    let slope = difference(1)? - &start;
    if slope.is_zero() || difference(2)? - &start != &slope + &slope {
        return None;
    }
    Some((-&start).div(&slope))
}

/// Returns a number near `root` as a value of `sort`: `by` halves more for reals, `by` more than its floor for
/// integers.
fn number_near(sort: Sort, root: &Rational, by: i64) -> Value {
    match sort {
        Sort::Real => Value::Real(root + Rational::from(by).div(&Rational::from(2))),
        _ => Value::Int(root.floor() + &by.into()),
    }
}

/// Returns the value of the other side, if one side is `field` alone.
fn other_side(
    pool: &TermPool,
    (a, b): (Term, Term),
    field: VarId,
    drawn: &Valuation,
    state: &Valuation,
) -> Option<Value> {
    [(a, b), (b, a)].into_iter().find_map(|(side, other)| match *pool.node(side) {
        TermNode::Var(var) if var == field && !pool.free_vars(other).contains(&field) => {
            pool.eval(other, &(drawn, state)).ok()
        }
        _ => None,
    })
}
