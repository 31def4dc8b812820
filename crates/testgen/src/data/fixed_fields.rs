//! Conclusions about the fields of a message by evaluation alone.

use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use super::ValueRequest;

/// Returns the fields that an equation of the guard fixes, with their values; `None` if one gets a value outside its
/// sort.
///
/// An equation is a conjunct of the guard, so no other value can satisfy it.
pub(super) fn fixed_fields(
    pool: &TermPool,
    fields: &[VarId],
    request: &ValueRequest<'_>,
) -> Option<Valuation> {
    let mut fixed = Valuation::new();
    let mut conjuncts = pool.conjuncts(request.guard);
    // Up to a fixed point: the value of one field may make the equation of another computable. A second
    // equation of a field stays in the list, and `is_refuted` evaluates it.
    loop {
        let before = fixed.len();
        conjuncts.retain(|&conjunct| match equation(pool, fields, conjunct, &fixed, request.state) {
            Some((field, value)) => {
                fixed.set(field, value);
                false
            }
            None => true,
        });
        if fixed.len() == before {
            break;
        }
    }
    let fits = |(field, value)| pool.has_sort(value, pool.var_info(field).sort);
    let well_sorted = fixed.iter().all(fits);
    well_sorted.then_some(fixed)
}

/// Returns the field and the value that `conjunct` equates, if it is such an equation.
fn equation(
    pool: &TermPool,
    fields: &[VarId],
    conjunct: Term,
    fixed: &Valuation,
    state: &Valuation,
) -> Option<(VarId, Value)> {
    let is_open = |var: &VarId| fields.contains(var) && fixed.get(*var).is_none();
    match *pool.node(conjunct) {
        TermNode::Var(var) if is_open(&var) => Some((var, Value::Bool(true))),
        TermNode::Not(inner) => match *pool.node(inner) {
            TermNode::Var(var) if is_open(&var) => Some((var, Value::Bool(false))),
            _ => None,
        },
        TermNode::Eq(a, b) => [(a, b), (b, a)].into_iter().find_map(|(side, other)| match *pool.node(side) {
            TermNode::Var(var) if is_open(&var) => Some((var, pool.eval(other, &(fixed, state)).ok()?)),
            _ => None,
        }),
        _ => None,
    }
}

/// Returns whether a conjunct without open fields is false.
pub(super) fn is_refuted(
    pool: &TermPool,
    open: &[VarId],
    fixed: &Valuation,
    request: &ValueRequest<'_>,
) -> bool {
    let decided = |term: Term| pool.free_vars(term).iter().all(|var| !open.contains(var));
    let holds = |term| pool.holds(term, &(fixed, request.state));
    pool.conjuncts(request.guard)
        .into_iter()
        .any(|conjunct| decided(conjunct) && holds(conjunct) == Ok(false))
}

/// Returns every combination of values of `open` that satisfies the guard; `None` if there are more than `max` to try,
/// or one cannot be evaluated.
pub(super) fn all_combinations(
    pool: &TermPool,
    open: &[VarId],
    fixed: &Valuation,
    request: &ValueRequest<'_>,
    max: usize,
) -> Option<Vec<Valuation>> {
    let mut combinations = vec![fixed.clone()];
    for &field in open {
        let domain = pool.finite_domain(pool.var_info(field).sort)?;
        // Asked before the combinations are made.
        if combinations.len().saturating_mul(domain.len()) > max {
            return None;
        }
        combinations =
            combinations.iter().flat_map(|base| domain.iter().map(|v| with_value(base, field, v))).collect();
    }
    let mut allowed = Vec::new();
    for combination in combinations {
        if pool.holds(request.guard, &(&combination, request.state)).ok()? {
            allowed.push(combination);
        }
    }
    Some(allowed)
}

fn with_value(base: &Valuation, var: VarId, value: &Value) -> Valuation {
    let mut more = base.clone();
    more.set(var, value.clone());
    more
}

/// Returns whether the fields have values of their sorts that satisfy the guard; `None` if the guard cannot be
/// evaluated.
pub(super) fn fits(
    pool: &TermPool,
    fields: &[VarId],
    values: &Valuation,
    request: &ValueRequest<'_>,
) -> Option<bool> {
    let in_sort = |&field: &VarId| {
        values.get(field).is_some_and(|value| pool.has_sort(value, pool.var_info(field).sort))
    };
    if !fields.iter().all(in_sort) {
        return Some(false);
    }
    pool.holds(request.guard, &(values, request.state)).ok()
}
