//! Values that the system makes up: the number of a session, a token.
//!
//! A field of an output carries such values if `--made` names it, if the same inputs, with the same values, are
//! answered with different ones ([`super::disagreement`]), or if giving one back makes a difference
//! ([`super::given_back`]). A value there that did not occur before in the run fills a *slot* of the input that is
//! answered; an input has as many slots as the runs so far have shown. Later inputs can give the value back, and a
//! model can store it.

use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::value::Value;

use super::super::session::DataRun;
use super::system::{DataGate, gate_of};
use super::values::ValueKind;
use crate::exit::CliError;

/// A field of an output: the message, and which of its fields.
pub type MadeField = (GateId, usize);

/// The values that the system makes up: the fields that carry them, and the slots they fill.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MadeValues {
    /// The fields that carry it.
    pub fields: Vec<MadeField>,
    /// For each input, the kinds of the values that its answer may make up.
    pub slots: Vec<Vec<ValueKind>>,
}

/// The fields that were named: `MESSAGE.FIELD`.
pub fn parse_fields(names: &[String], model: &Model) -> Result<Vec<MadeField>, CliError> {
    names.iter().map(|name| field_named(name, model)).collect()
}

fn field_named(name: &str, model: &Model) -> Result<MadeField, CliError> {
    let data: Vec<MadeField> = data_fields(model).collect();
    let found = data.iter().find(|field| field_text(model, **field) == name);
    found.copied().ok_or_else(|| {
        let known: Vec<String> =
            data.iter().map(|field| format!("`{}`", field_text(model, *field))).collect();
        let help = if known.is_empty() {
            "no output has a field that is a number or a text".to_owned()
        } else {
            format!("there is {}", known.join(", "))
        };
        CliError::usage(format!("`--made {name}`: no field of an output that holds numbers or texts"))
            .help(help)
    })
}

/// All fields of outputs that are data.
fn data_fields(model: &Model) -> impl Iterator<Item = MadeField> {
    let outputs = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Output);
    outputs
        .flat_map(|(id, gate)| (0..gate.fields.len()).map(move |at| (id, at)))
        .filter(|&field| value_kind(model, field).is_some())
}

/// Returns the kind of values a field holds; `None` if they are no data.
pub fn value_kind(model: &Model, (gate, at): MadeField) -> Option<ValueKind> {
    let field = model.sts.gates[gate].fields.get(at)?;
    ValueKind::of_sort(model.pool.var_info(*field).sort)
}

/// A field as people write it.
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
            each_new(model, constants, run, |input, new| {
                let Some(at) = gate_of(gates, input) else { return };
                let made = new.iter().filter(|(field, _)| fields.contains(field));
                let kinds: Vec<ValueKind> = made.filter_map(|(field, _)| value_kind(model, *field)).collect();
                widen(&mut slots[at], &kinds);
            });
        }
        Self { fields, slots }
    }
}

/// Adds slots until each of `kinds` has one of its own.
fn widen(slots: &mut Vec<ValueKind>, kinds: &[ValueKind]) {
    for is_text in [false, true] {
        let is_it = |kind: &&ValueKind| (**kind == ValueKind::Text) == is_text;
        let have = slots.iter().filter(is_it).count();
        let wanted: Vec<ValueKind> = kinds.iter().filter(is_it).skip(have).copied().collect();
        slots.extend(wanted);
    }
}

/// Calls `tell` for every answer of a run with the values in it that did not occur before, each once, and their fields.
pub fn each_new(
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
