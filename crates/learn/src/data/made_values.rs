//! Values that the system makes up: the number of a session, a token.
//!
//! A field of an output carries such values if `--made` names it, if the same inputs, with the same values, are
//! answered with different ones (`super::disagreement`), or if giving one back makes a difference
//! (`super::given_back`). A value there that did not occur before in the run fills a *slot* of the input that is
//! answered; an input has as many slots as the runs so far have shown. Later inputs can give the value back, and a
//! model can store it.

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::value::Value;

use super::system::{DataGate, position_of_gate};
use super::values::ValueKind;
use crate::messages::DataRun;

/// A field of an output: the message, and which of its fields.
pub type MadeField = (GateId, usize);

/// The values that the system makes up: the fields that carry them, and the slots they fill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeValues {
    /// The fields that carry them.
    pub fields: Vec<MadeField>,
    /// The kind of values of each of these fields.
    kinds: Vec<Option<ValueKind>>,
    /// For each input, the kinds of the values that its answer may make up.
    pub slots: Vec<Vec<ValueKind>>,
}

/// Returns all fields of outputs that are data.
pub fn data_fields(model: &Model) -> impl Iterator<Item = MadeField> {
    let outputs = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Output);
    outputs
        .flat_map(|(id, gate)| (0..gate.fields.len()).map(move |at| (id, at)))
        .filter(|&field| value_kind(model, field).is_some())
}

/// Returns the kind of values a field holds; `None` if they are no data.
#[must_use]
pub fn value_kind(model: &Model, (gate, at): MadeField) -> Option<ValueKind> {
    let field = model.sts.gates[gate].fields.get(at)?;
    ValueKind::of_sort(model.pool.var_info(*field).sort)
}

/// Returns a field as people write it: `MESSAGE.FIELD`.
#[must_use]
pub fn field_text(model: &Model, (gate, at): MadeField) -> String {
    let gate = &model.sts.gates[gate];
    format!("{}.{}", gate.name, model.pool.var_info(gate.fields[at]).name)
}

impl MadeValues {
    /// Returns the slots that `runs` show for `fields`.
    pub fn from_runs(
        fields: Vec<MadeField>,
        model: &Model,
        gates: &[DataGate],
        constants: &[Value],
        runs: &[DataRun],
    ) -> Self {
        let mut slots: Vec<Vec<ValueKind>> = vec![Vec::new(); gates.len()];
        for run in runs.iter().filter(|_| !fields.is_empty()) {
            for_each_new(model, constants, run, |input, new| {
                let Some(at) = position_of_gate(gates, input) else { return };
                let made = new.iter().filter(|(field, _)| fields.contains(field));
                let kinds: Vec<ValueKind> = made.filter_map(|(field, _)| value_kind(model, *field)).collect();
                add_slots(&mut slots[at], &kinds);
            });
        }
        let kinds = fields.iter().map(|&field| value_kind(model, field)).collect();
        Self { fields, kinds, slots }
    }

    /// Returns the kind of values that are made up in this field; `None` if none are.
    #[must_use]
    pub fn kind_in(&self, field: MadeField) -> Option<ValueKind> {
        let at = self.fields.iter().position(|it| *it == field)?;
        self.kinds[at]
    }
}

/// Adds slots until each of `kinds` has one of its own.
fn add_slots(slots: &mut Vec<ValueKind>, kinds: &[ValueKind]) {
    for is_text in [false, true] {
        let is_it = |kind: &&ValueKind| (**kind == ValueKind::Text) == is_text;
        let have = slots.iter().filter(is_it).count();
        let wanted: Vec<ValueKind> = kinds.iter().filter(is_it).skip(have).copied().collect();
        slots.extend(wanted);
    }
}

/// Calls `tell` for every answer of a run with the values in it that did not occur before, each once, and their fields.
pub fn for_each_new(
    model: &Model,
    constants: &[Value],
    run: &DataRun,
    mut tell: impl FnMut(&Label, &[(MadeField, Value)]),
) {
    let mut known: Vec<Value> = constants.to_vec();
    for (input, said) in run {
        if let Label::Input(_, values) = input {
            known.extend(values.iter().cloned());
        }
        let mut new = Vec::new();
        for label in said {
            let Label::Output(gate, values) = label else { continue };
            for (at, value) in values.iter().enumerate() {
                if value_kind(model, (*gate, at)).is_some() && !known.contains(value) {
                    known.push(value.clone());
                    new.push(((*gate, at), value.clone()));
                }
            }
        }
        tell(input, &new);
    }
}
