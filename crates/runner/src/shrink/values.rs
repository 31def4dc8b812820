//! Passes that make values simpler, and inputs come sooner.

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::PlannedMove;

use super::order::message;
use super::simpler::simpler;
use super::{BudgetSpent, CandidateFate, ShrinkSearch};

/// Makes every value of every input simpler on its own.
pub(super) fn alone(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut at = 0;
    while at < search.best.plan.len() {
        let mut field = 0;
        while let Some((sort, value)) = value_at(search, at, field) {
            let mut taken = CandidateFate::Refused;
            for value in simpler(search.bench.cx.pool, sort, &value) {
                let mut plan = search.best.plan.clone();
                plan[at] = with_value(&plan[at], field, value);
                taken = search.offer(plan)?;
                if taken == CandidateFate::Taken {
                    break;
                }
            }
            if taken == CandidateFate::Refused {
                field += 1;
            }
        }
        at += 1;
    }
    Ok(())
}

/// Makes values that occur more than once simpler in all places at a time: a fault may need them equal.
pub(super) fn together(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut changes = search.changes + 1;
    while changes != search.changes {
        changes = search.changes;
        for value in repeated(&search.best.plan) {
            for simpler in simpler(search.bench.cx.pool, value.base_sort(), &value) {
                let plan =
                    search.best.plan.iter().map(|planned| replaced(planned, &value, &simpler)).collect();
                if search.offer(plan)? == CandidateFate::Taken {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Makes every input come at once rather than after a while.
pub(super) fn sooner(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut at = 0;
    while at < search.best.plan.len() {
        if let PlannedMove::SendAfter(_, label) = &search.best.plan[at] {
            let mut plan = search.best.plan.clone();
            plan[at] = PlannedMove::Send(label.clone());
            search.offer(plan)?;
        }
        at += 1;
    }
    Ok(())
}

/// A value of a move of the best plan, and the sort its field has.
fn value_at(search: &ShrinkSearch<'_, '_, '_, '_>, at: usize, field: usize) -> Option<(Sort, Value)> {
    let Label::Input(gate, values) = message(search.best.plan.get(at)?)? else { return None };
    let sts = search.bench.cx.sts;
    let var = *sts.gates[*gate].fields.get(field)?;
    Some((search.bench.cx.pool.var_info(var).sort, values.get(field)?.clone()))
}

/// The values that more than one field of the inputs has, in order.
fn repeated(plan: &[PlannedMove]) -> Vec<Value> {
    let mut seen: BTreeMap<&Value, usize> = BTreeMap::new();
    for label in plan.iter().filter_map(message) {
        if let Label::Input(_, values) = label {
            values.iter().for_each(|value| *seen.entry(value).or_default() += 1);
        }
    }
    seen.into_iter().filter(|(_, times)| *times > 1).map(|(value, _)| value.clone()).collect()
}

/// The same move with one value for another.
fn replaced(planned: &PlannedMove, from: &Value, to: &Value) -> PlannedMove {
    changed(planned, |values| {
        for value in values.iter_mut().filter(|value| **value == *from) {
            *value = to.clone();
        }
    })
}

/// The same move with this value in this field.
pub(super) fn with_value(planned: &PlannedMove, field: usize, value: Value) -> PlannedMove {
    changed(planned, |values| values[field] = value)
}

/// The same move with other values.
fn changed(planned: &PlannedMove, change: impl FnOnce(&mut Vec<Value>)) -> PlannedMove {
    let mut planned = planned.clone();
    if let PlannedMove::Send(Label::Input(_, values)) | PlannedMove::SendAfter(_, Label::Input(_, values)) =
        &mut planned
    {
        change(values);
    }
    planned
}
