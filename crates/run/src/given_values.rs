//! The values that fields of inputs may have, given by a user instead of all that the model allows.
//!
//! The guards of the inputs are restricted, so every tester uses these values, and the model judges as before: what is
//! not sent needs no verdict.

use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::suggest::nearest_name;
use ioxide_model::term::{Term, VarId};
use ioxide_record::value::{CodecError, value_from_json};
use serde_json::{Map, Value as Json};
use thiserror::Error;

/// The reason why given values cannot be used.
#[derive(Debug, Error)]
pub enum BadValues {
    /// The text is not an object in JSON.
    #[error("no JSON object: {0}")]
    NotJson(#[from] serde_json::Error),
    /// No input of the model has the field.
    #[error("the model has no input field `{name}`{}", ask_for(near.as_deref()))]
    NoField {
        /// The name that was given.
        name: String,
        /// The nearest name of a field.
        near: Option<String>,
    },
    /// The values of the field are no list, or an empty one.
    #[error("`{0}` must be a list with at least one value")]
    NoList(String),
    /// A value is none of the sort of the field.
    #[error("`{name}`: {reason}")]
    Value {
        /// The name of the field.
        name: String,
        /// The reason.
        reason: CodecError,
    },
}

/// Returns the question whether the nearest name was meant.
fn ask_for(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

/// Restricts the inputs of `model` to the values in `text`: an object with a list of values for every `input.field`.
///
/// # Errors
/// If the text is something else, or names what the model does not have.
pub fn restrict_inputs(model: &mut Model, text: &str) -> Result<(), BadValues> {
    let fields: Map<String, Json> = serde_json::from_str(text)?;
    for (name, values) in &fields {
        let (gate, field) = find_field(model, name)?;
        let values = values.as_array().filter(|values| !values.is_empty());
        let values = values.ok_or_else(|| BadValues::NoList(name.clone()))?;
        restrict_field(model, gate, field, values)
            .map_err(|reason| BadValues::Value { name: name.clone(), reason })?;
    }
    Ok(())
}

/// Returns the field that `name` names, with its input.
fn find_field(model: &Model, name: &str) -> Result<(GateId, VarId), BadValues> {
    let inputs = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input);
    let named: Vec<(String, GateId, VarId)> = inputs
        .flat_map(|(id, gate)| gate.fields.iter().map(move |field| (id, gate, *field)))
        .map(|(id, gate, field)| (format!("{}.{}", gate.name, model.pool.var_info(field).name), id, field))
        .collect();
    if let Some((_, gate, field)) = named.iter().find(|(known, ..)| known == name) {
        return Ok((*gate, *field));
    }
    let near = nearest_name(name, named.iter().map(|(known, ..)| &**known)).map(str::to_owned);
    Err(BadValues::NoField { name: name.to_owned(), near })
}

/// Adds to the guard of every transition of the input that the field has one of `values`.
fn restrict_field(model: &mut Model, gate: GateId, field: VarId, values: &[Json]) -> Result<(), CodecError> {
    let sort: Sort = model.pool.var_info(field).sort;
    let mut allowed: Vec<Term> = Vec::new();
    for json in values {
        let value = value_from_json(&model.pool, sort, json)?;
        let (var, value) = (model.pool.var(field), model.pool.value(value));
        allowed.push(model.pool.eq(var, value));
    }
    let allowed = model.pool.or(allowed);
    for switch in model.sts.switches.iter_mut().filter(|switch| switch.gate == gate) {
        switch.guard = model.pool.and2(switch.guard, allowed);
    }
    Ok(())
}
