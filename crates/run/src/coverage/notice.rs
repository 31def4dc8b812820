//! The items that one input covers: classes, equalities, sides of comparisons.

use ioxide_model::concrete::ConcreteState;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, SwitchId};
use ioxide_model::term::TermPool;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use super::class::ValueClass;
use super::comparisons::{Comparisons, sides};
use super::item::{ComparisonSide, CoverageItem, EqualTo};

/// Variables that fields are compared with, at most. Chosen by feel: comparisons of a step grow with their number.
const MAX_STORED: usize = 32;

/// The items of the values alone: their classes, and which fields are equal.
pub(super) fn of_values(cx: &Ctx<'_>, gate: GateId, values: &[Value]) -> Vec<CoverageItem> {
    let mut items = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let classes = ValueClass::all_of(cx.pool, value);
        items.extend(classes.into_iter().map(|class| CoverageItem::Class(gate, at, class)));
        let fields = &cx.sts.gates[gate].fields;
        let equal = (at + 1..values.len()).filter(|&other| {
            values[other] == *value && is_compared(cx.pool, cx.pool.var_info(fields[at]).sort)
        });
        items.extend(equal.map(|other| CoverageItem::Equal(gate, at, EqualTo::Field(other))));
    }
    items
}

/// Returns the items of fields that are equal to a variable in `state`.
pub(super) fn of_stored(
    cx: &Ctx<'_>,
    gate: GateId,
    values: &[Value],
    state: &ConcreteState,
) -> Vec<CoverageItem> {
    let mut items = Vec::new();
    for (var, held) in cx.sts.vars.iter().enumerate().take(MAX_STORED) {
        let Some(stored) = state.values.get(held.var) else { continue };
        if !is_compared(cx.pool, cx.pool.var_info(held.var).sort) {
            continue;
        }
        let equal = (0..values.len()).filter(|&at| values[at] == *stored);
        items.extend(equal.map(|at| CoverageItem::Equal(gate, at, EqualTo::Stored(var))));
    }
    items
}

/// Returns the items of the sides on which the values are, for the comparisons of `id`.
pub(super) fn of_comparisons(
    cx: &mut Ctx<'_>,
    known: &mut Comparisons,
    id: SwitchId,
    values: &[Value],
    state: &ConcreteState,
) -> Vec<CoverageItem> {
    let gate = cx.sts.switches[id].gate;
    let fields: Valuation = cx.sts.gates[gate].fields.iter().copied().zip(values.iter().cloned()).collect();
    let comparisons = known.comparisons_of(cx, id).to_vec();
    let mut items = Vec::new();
    for (at, comparison) in comparisons.into_iter().enumerate() {
        let env = (&fields, &state.values);
        let Ok(Value::Bool(holds)) = cx.pool.eval(comparison, &env) else { continue };
        let order = sides(cx, comparison)
            .and_then(|(a, b)| Some(cx.pool.eval(a, &env).ok()?.cmp(&cx.pool.eval(b, &env).ok()?)));
        let sides = ComparisonSide::sides(holds, order).into_iter().flatten();
        items.extend(sides.map(|side| CoverageItem::Side(id, at, side)));
    }
    items
}

/// Returns whether equality of values of `sort` is an item: not for Booleans and enums without fields, which have only
/// a few values.
pub(super) fn is_compared(pool: &TermPool, sort: Sort) -> bool {
    match sort {
        Sort::Bool => false,
        Sort::Data(id) => pool.data(id).ctors.iter().any(|ctor| !ctor.fields.is_empty()),
        Sort::Int | Sort::Range { .. } | Sort::Real | Sort::Str | Sort::Collection(_) => true,
    }
}
