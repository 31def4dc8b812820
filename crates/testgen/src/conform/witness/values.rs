//! Values that make a condition true, the same ones every time.
//!
//! Field by field: the value that the condition fixes, else a small value of the field's own, so that messages differ,
//! else a constant of the condition or a neighbour, else the value from the solver. Each choice is confirmed before the
//! next.

use std::collections::BTreeSet;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::Ctx;

use super::NoWitness;

/// Values for `fields` that satisfy `condition`, different small ones first.
pub(super) fn choose_values(
    cx: &mut Ctx<'_>,
    condition: Term,
    fields: &[VarId],
) -> Result<Vec<(VarId, Value)>, NoWitness> {
    let constants = constants(cx, condition);
    let mut rest = condition;
    // Once the condition is known to have a solution, every later field has a value unless the solver does not know.
    match decide_conjuncts(cx, rest) {
        SolverDecision::Unsat => return Err(NoWitness::Impossible),
        SolverDecision::Unknown(why) => return Err(why.into()),
        SolverDecision::Sat => (),
    }
    let mut values = Vec::with_capacity(fields.len());
    for (at, &field) in fields.iter().enumerate() {
        let value = value_for(cx, rest, field, at, &constants)?;
        let constant = cx.pool.value(value.clone());
        // The chosen value is put in before the next field is looked at, so that the values fit together.
        rest = cx.pool.substitute(rest, &[(field, constant)].into_iter().collect());
        values.push((field, value));
    }
    Ok(values)
}

/// Decides a condition by its conjuncts, which the layers before the solver know best.
fn decide_conjuncts(cx: &mut Ctx<'_>, condition: Term) -> SolverDecision {
    let facts = cx.pool.conjuncts(condition);
    cx.decide(&facts)
}

fn value_for(
    cx: &mut Ctx<'_>,
    condition: Term,
    field: VarId,
    at: usize,
    constants: &[Value],
) -> Result<Value, NoWitness> {
    let sort = cx.pool.var_info(field).sort;
    if let Some(value) = equated_value(cx, condition, field) {
        return Ok(value);
    }
    // Readable values before those of the solver, which differ from version to version: a witness is the same
    // everywhere.
    for value in wishes(cx, sort, at, constants) {
        let constant = cx.pool.value(value.clone());
        let with = cx.pool.substitute(condition, &[(field, constant)].into_iter().collect());
        if decide_conjuncts(cx, with) == SolverDecision::Sat {
            return Ok(value);
        }
    }
    let facts = cx.pool.conjuncts(condition);
    match cx.check(&facts) {
        SolverAnswer::Sat(valuation) => {
            Ok(valuation.get(field).cloned().unwrap_or_else(|| cx.pool.default_value(sort)))
        }
        SolverAnswer::Unsat => Err(NoWitness::Impossible),
        SolverAnswer::Unknown(why) => Err(why.into()),
    }
}

/// The constant that a conjunct of `condition` equates with `field`.
fn equated_value(cx: &Ctx<'_>, condition: Term, field: VarId) -> Option<Value> {
    cx.pool.conjuncts(condition).into_iter().find_map(|fact| {
        let TermNode::Eq(a, b) = *cx.pool.node(fact) else { return None };
        let other = match (cx.pool.node(a), cx.pool.node(b)) {
            // An equation with a constant leaves no choice, and trying it needs no query.
            (TermNode::Var(var), _) if *var == field => b,
            (_, TermNode::Var(var)) if *var == field => a,
            _ => return None,
        };
        cx.pool.as_value(other).cloned()
    })
}

/// Values to try for field number `at`: one of its own, then small ones, then those of the condition.
fn wishes(cx: &Ctx<'_>, sort: Sort, at: usize, constants: &[Value]) -> Vec<Value> {
    let own = i64::try_from(at).unwrap_or(0) + 1;
    let mut wishes = match sort {
        Sort::Int => [own, 0, 1, 2].map(Value::int).to_vec(),
        Sort::Range { lo, hi } => {
            let within = lo.saturating_add(own.rem_euclid(hi.saturating_sub(lo).saturating_add(1).max(1)));
            [within, lo, lo.saturating_add(1), hi].map(Value::int).to_vec()
        }
        Sort::Str => vec![Value::str(&format!("s{own}")), Value::str("")],
        Sort::Bool => vec![Value::Bool(at.is_multiple_of(2)), Value::Bool(!at.is_multiple_of(2))],
        Sort::Real | Sort::Data(_) | Sort::Collection(_) => {
            cx.pool.finite_domain(sort).unwrap_or_else(|| vec![cx.pool.default_value(sort)])
        }
    };
    wishes.extend(constants.iter().cloned());
    wishes.retain(|value| cx.pool.has_sort(value, sort));
    wishes
}

/// Returns the constants of a condition and the neighbours of whole numbers, at most 48, in order.
fn constants(cx: &Ctx<'_>, condition: Term) -> Vec<Value> {
    let mut found = BTreeSet::new();
    for term in cx.pool.subterms(&[condition], |_| true) {
        match cx.pool.as_value(term) {
            Some(Value::Int(n)) => {
                if let Some(n) = n.to_i64() {
                    found.extend([n, n.saturating_sub(1), n.saturating_add(1)].map(Value::int));
                }
            }
            Some(value @ (Value::Real(_) | Value::Str(_) | Value::Data(_) | Value::Collection(_))) => {
                found.insert(value.clone());
            }
            Some(Value::Bool(_)) | None => (),
        }
    }
    // At most 48, because every value is tried in every field of its sort. No reason for the number is
    // recorded.
    found.into_iter().take(48).collect()
}
