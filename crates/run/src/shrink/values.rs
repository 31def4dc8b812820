//! Edits that make values simpler, and inputs come sooner.

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::Sts;
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_testgen::tester::replay::{PlannedInput, PlannedMove};

use super::edit::{EditClass, PlanEdit, QueuedEdit};
use super::order::{message_of_move, without_waits};
use super::simpler::simpler;

/// The number of literals that are tried in the place of a reference; the simplest one mostly tells. Chosen by feel.
const LITERALS_FOR_REFERENCE: usize = 2;
/// The number of fields of an input that have places of their own in a sweep. Chosen by feel: messages have fewer;
/// further fields share the last place.
const MAX_FIELDS: usize = 64;

/// Returns the edits that make a value of `plan` simpler, or an input come sooner that waits for more than `least_wait`
/// seconds.
pub(super) fn edits(
    pool: &TermPool,
    sts: &Sts,
    plan: &[PlannedMove],
    least_wait: &Rational,
) -> Vec<QueuedEdit> {
    let mut edits = Vec::new();
    for (at, planned) in plan.iter().enumerate() {
        edits.extend(simpler_values(pool, sts, at, planned));
        if let PlannedMove::SendAfter(wait, input) = planned
            && wait > least_wait
        {
            let planned = PlannedMove::Send(input.clone());
            let edit = PlanEdit::SetAndCut { at, planned, gap: at..at };
            edits.push(QueuedEdit { class: EditClass::Sooner, place: at, edit });
        }
    }
    // Waiting is most of the price of a run on a real clock: once no input waits, everything else is cheap to try.
    if plan.iter().any(|planned| matches!(planned, PlannedMove::SendAfter(wait, _) if wait > least_wait)) {
        let edit = PlanEdit::Replace(without_waits(plan));
        edits.push(QueuedEdit { class: EditClass::AllSooner, place: 0, edit });
    }
    // A fault may need values to be equal.
    for (place, from) in repeated(plan).into_iter().enumerate() {
        edits.extend(simpler(pool, from.base_sort(), &from).into_iter().map(|to| {
            let edit = PlanEdit::ValueEverywhere { from: from.clone(), to };
            QueuedEdit { class: EditClass::ValueEverywhere, place, edit }
        }));
    }
    edits
}

/// Returns the simpler values of the input at `at`, the simplest ones of each field first.
fn simpler_values(pool: &TermPool, sts: &Sts, at: usize, planned: &PlannedMove) -> Vec<QueuedEdit> {
    let Some(Label::Input(gate, values)) = message_of_move(planned) else { return Vec::new() };
    let fields = sts.gates[*gate].fields.iter().zip(values).enumerate();
    let edits =
        fields.flat_map(|(field, (var, value))| {
            // The value of a reference is another one in every run: only what holds for any of them is tried.
            let most = if is_bound(planned, field) { LITERALS_FOR_REFERENCE } else { usize::MAX };
            let place = at * MAX_FIELDS + field.min(MAX_FIELDS - 1);
            simpler(pool, pool.var_info(*var).sort, value).into_iter().take(most).map(move |value| {
                QueuedEdit { class: EditClass::Value, place, edit: PlanEdit::Value { at, field, value } }
            })
        });
    edits.collect()
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
pub(super) fn replaced(planned: &PlannedMove, from: &Value, to: &Value) -> PlannedMove {
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
