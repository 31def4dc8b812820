//! The file of `test --values`: the values that fields of inputs may have, instead of all that the model allows.
//!
//! The guards of the inputs are restricted, so every tester uses these values, and the model judges as before: what is
//! not sent needs no verdict.

use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::suggest::nearest_name;
use ioxide_model::term::{Term, VarId};
use ioxide_record::value::value_from_json;
use serde_json::{Map, Value as Json};

use crate::exit::CliError;
use crate::load;

/// Restricts the inputs of `model` to the values in the file at `path`: an object with a list of values for every
/// `input.field`.
pub fn restrict_inputs(model: &mut Model, path: &str) -> Result<(), CliError> {
    let wrong = |why: String| {
        CliError::usage(format!("`{path}`: {why}")).help("write `{\"input.field\": [VALUE, ...]}`")
    };
    let text = load::read_data(path)?;
    let fields: Map<String, Json> =
        serde_json::from_str(&text).map_err(|error| wrong(format!("no JSON object: {error}")))?;
    for (name, values) in &fields {
        let (gate, field) = find_field(model, name).map_err(wrong)?;
        let values = values.as_array().filter(|values| !values.is_empty());
        let values =
            values.ok_or_else(|| wrong(format!("`{name}` must be a list with at least one value")))?;
        restrict_field(model, gate, field, values).map_err(|why| wrong(format!("`{name}`: {why}")))?;
    }
    Ok(())
}

/// Returns the field that `name` names, with its input.
fn find_field(model: &Model, name: &str) -> Result<(GateId, VarId), String> {
    let inputs = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input);
    let named: Vec<(String, GateId, VarId)> = inputs
        .flat_map(|(id, gate)| gate.fields.iter().map(move |field| (id, gate, *field)))
        .map(|(id, gate, field)| (format!("{}.{}", gate.name, model.pool.var_info(field).name), id, field))
        .collect();
    if let Some((_, gate, field)) = named.iter().find(|(known, ..)| known == name) {
        return Ok((*gate, *field));
    }
    Err(match nearest_name(name, named.iter().map(|(known, ..)| &**known)) {
        Some(near) => format!("the model has no input field `{name}`; did you mean `{near}`?"),
        None => format!("the model has no input field `{name}`"),
    })
}

/// Adds to the guard of every transition of the input that the field has one of `values`.
fn restrict_field(model: &mut Model, gate: GateId, field: VarId, values: &[Json]) -> Result<(), String> {
    let sort: Sort = model.pool.var_info(field).sort;
    let mut allowed: Vec<Term> = Vec::new();
    for json in values {
        let value = value_from_json(&model.pool, sort, json).map_err(|error| error.to_string())?;
        let (var, value) = (model.pool.var(field), model.pool.value(value));
        allowed.push(model.pool.eq(var, value));
    }
    let allowed = model.pool.or(allowed);
    for switch in model.sts.switches.iter_mut().filter(|switch| switch.gate == gate) {
        switch.guard = model.pool.and2(switch.guard, allowed);
    }
    Ok(())
}
