//! A plain value for every field of a message: enough to see that an input is taken.

use serde_json::{Map, Value as Json, json};

use ioxide_model::label::Label;
use ioxide_model::sort::{DataKind, Sort};
use ioxide_model::sts::{Gate, GateKind, Model};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;
use ioxide_record::value::{WireMessage, label_from_json, value_to_json};

use crate::protocol::LabelInfo;

/// Records inside records deeper than this get no value. Chosen by feel: values of recursive types have to end.
const MAX_DEPTH: usize = 8;

/// Returns arguments for the message by the sorts that the adapter declares.
pub(super) fn declared_args(info: &LabelInfo) -> Option<Map<String, Json>> {
    info.fields.iter().map(|field| Some((field.name.clone(), by_name(&field.sort)?))).collect()
}

/// Returns an input of every kind with plain values, as far as they are known for the sorts; no guard is asked.
#[must_use]
pub fn plain_inputs(model: &Model) -> Vec<Label> {
    let inputs = model.sts.gates.iter().filter(|gate| gate.kind == GateKind::Input);
    let plain = |gate: &Gate| {
        let field = |&field| {
            let var = model.pool.var_info(field);
            Some((var.name.to_string(), by_sort(&model.pool, var.sort, 0)?))
        };
        let args = gate.fields.iter().map(field).collect::<Option<_>>()?;
        let message = WireMessage { label: gate.name.to_string(), args };
        label_from_json(model, &message, |kind| kind == GateKind::Input).ok()
    };
    inputs.filter_map(plain).collect()
}

fn by_sort(pool: &TermPool, sort: Sort, depth: usize) -> Option<Json> {
    let data = match sort {
        Sort::Bool => return Some(json!(false)),
        Sort::Int | Sort::Real => return Some(json!(1)),
        Sort::Range { lo, .. } => return Some(json!(lo)),
        Sort::Str => return Some(json!("a")),
        Sort::Data(_) if depth > MAX_DEPTH => return None,
        Sort::Collection(id) => {
            return Some(value_to_json(pool, &Value::Collection(pool.empty_collection(id))));
        }
        Sort::Data(data) => pool.data(data),
    };
    let Sort::Data(id) = sort else { return None };
    let ctor = data.ctors.get(pool.finite_ctor(id)?)?;
    let field = |field: &ioxide_model::sort::DataField| {
        Some((field.name.to_string(), by_sort(pool, field.sort, depth + 1)?))
    };
    let fields: Map<String, Json> = ctor.fields.iter().map(field).collect::<Option<_>>()?;
    Some(match data.kind {
        DataKind::Option => Json::Null,
        DataKind::Record => Json::Object(fields),
        DataKind::Enum if fields.is_empty() => json!(ctor.name.to_string()),
        DataKind::Enum => json!({ ctor.name.to_string(): fields }),
    })
}

/// Returns a value of the sort with this notation; `None` if only a model knows the sort.
fn by_name(sort: &str) -> Option<Json> {
    match sort {
        "bool" => Some(json!(false)),
        "int" | "real" => Some(json!(1)),
        "string" => Some(json!("a")),
        option if option.ends_with('?') => Some(Json::Null),
        range => range.split_once("..")?.0.trim().parse::<i64>().ok().map(|lo| json!(lo)),
    }
}
