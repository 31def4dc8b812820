//! Labels as `{"label": name, "args": {field: value}}`.

use ioxide_model::label::Label;
use ioxide_model::sts::{Gate, GateId, GateKind, Model, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{CodecError, JsonProblem, named_values, value_to_json};

/// A message in wire form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireMessage {
    /// The name of its gate.
    pub label: String,
    /// The value of every field, by name.
    #[serde(default)]
    pub args: Map<String, Json>,
}

/// The message of `label`; `None` for silence and delays.
#[must_use]
pub fn label_to_json(pool: &TermPool, sts: &Sts, label: &Label) -> Option<WireMessage> {
    match label {
        Label::Input(gate, values) | Label::Output(gate, values) => Some(WireMessage {
            label: sts.gates[*gate].name.to_string(),
            args: args_to_json(pool, &sts.gates[*gate], values),
        }),
        Label::Quiescence | Label::Delay(_) => None,
    }
}

/// The fields of `gate` with `values`, by name.
#[must_use]
pub fn args_to_json(pool: &TermPool, gate: &Gate, values: &[Value]) -> Map<String, Json> {
    let named = |(field, value)| (pool.var_info(field).name.to_string(), value_to_json(pool, value));
    gate.fields.iter().copied().zip(values).map(named).collect()
}

/// The label that `message` writes; `is_wanted` says which direction it must have.
///
/// # Errors
/// If there is no such gate in this direction, or a field is missing, unknown or of another shape.
pub fn label_from_json(
    model: &Model,
    message: &WireMessage,
    is_wanted: fn(GateKind) -> bool,
) -> Result<Label, CodecError> {
    let (gate, wanted) = gate_of(&model.sts, &message.label, is_wanted)?;
    let sorts = wanted.fields.iter().map(|&field| {
        let info = model.pool.var_info(field);
        (&*info.name, info.sort)
    });
    let values =
        named_values(&model.pool, sorts, &message.args).map_err(|error| error.with_place(&message.label))?;
    Label::message(&model.sts, gate, values)
        .ok_or_else(|| unknown_message(&model.sts, &message.label, is_wanted))
}

fn gate_of<'s>(
    sts: &'s Sts,
    name: &str,
    is_wanted: fn(GateKind) -> bool,
) -> Result<(GateId, &'s Gate), CodecError> {
    let is_it = |gate: &Gate| &*gate.name == name && is_wanted(gate.kind);
    sts.gates
        .iter_enumerated()
        .find(|(_, gate)| is_it(gate))
        .ok_or_else(|| unknown_message(sts, name, is_wanted))
}

fn unknown_message(sts: &Sts, name: &str, is_wanted: fn(GateKind) -> bool) -> CodecError {
    let wanted = |gate: &&Gate| gate.kind != GateKind::Internal && is_wanted(gate.kind);
    let names = sts.gates.iter().filter(wanted).map(|gate| gate.name.to_string()).collect();
    let direction = if is_wanted(GateKind::Output) { "output" } else { "input" };
    CodecError::new(JsonProblem::UnknownLabel { direction, found: name.to_owned(), names })
}
