//! Passes that make values simpler, and inputs come sooner.

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::{PlannedInput, PlannedMove};

use super::order::message;
use super::simpler::simpler;
use super::{BudgetSpent, CandidateFate, ShrinkSearch};

/// The number of literals that are tried in the place of a reference; the simplest one mostly tells. Chosen by feel.
const LITERALS_FOR_REFERENCE: usize = 2;

/// Makes every value of every input simpler on its own.
pub(super) fn alone(search: &mut ShrinkSearch<'_, '_, '_, '_>) -> Result<(), BudgetSpent> {
    let mut at = 0;
    while at < search.best.plan.len() {
        let mut field = 0;
        while let Some((sort, value)) = value_at(search, at, field) {
            let mut taken = CandidateFate::Refused;
            // The value of a reference is another one in every run: only what holds for any of them is tried.
            let is_bound = is_bound(&search.best.plan[at], field);
            let most = if is_bound { LITERALS_FOR_REFERENCE } else { usize::MAX };
            for value in simpler(search.setup.cx.pool, sort, &value).into_iter().take(most) {
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
            for simpler in simpler(search.setup.cx.pool, value.base_sort(), &value) {
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
    let sts = search.setup.cx.sts;
    let var = *sts.gates[*gate].fields.get(field)?;
    Some((search.setup.cx.pool.var_info(var).sort, values.get(field)?.clone()))
}

/// The values that more than one field of the inputs has, in order.
fn repeated(plan: &[PlannedMove]) -> Vec<Value> {
    let mut seen: BTreeMap<&Value, usize> = BTreeMap::new();
    for input in plan.iter().filter_map(PlannedMove::input) {
        if let Label::Input(_, values) = &input.label {
            let literals = values.iter().enumerate().filter(|(field, _)| !input.is_bound(*field));
            literals.for_each(|(_, value)| *seen.entry(value).or_default() += 1);
        }
    }
    seen.into_iter().filter(|(_, times)| *times > 1).map(|(value, _)| value.clone()).collect()
}

/// The same move with one value for another.
fn replaced(planned: &PlannedMove, from: &Value, to: &Value) -> PlannedMove {
    let mut planned = planned.clone();
    if let Some(PlannedInput { label: Label::Input(_, values), references, .. }) = planned.input_mut() {
        for (field, value) in values.iter_mut().enumerate() {
            let is_bound = references.iter().any(|reference| reference.place[0] == field);
            if *value == *from && !is_bound {
                *value = to.clone();
            }
        }
    }
    planned
}

/// The same move with this value in this field, which is no reference any more.
pub(super) fn with_value(planned: &PlannedMove, field: usize, value: Value) -> PlannedMove {
    let mut planned = planned.clone();
    if let Some(PlannedInput { label: Label::Input(_, values), references, .. }) = planned.input_mut() {
        values[field] = value;
        references.retain(|reference| reference.place[0] != field);
    }
    planned
}

/// Returns whether this field of the input of a move comes from a reply.
pub(super) fn is_bound(planned: &PlannedMove, field: usize) -> bool {
    planned.input().is_some_and(|input| input.is_bound(field))
}
