//! Messages of TorXakis models: a channel with numbers and truth values.

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;

/// A channel with values, `EXIT` with values, or nothing that is seen.
pub type Action = (String, Vec<i64>);

/// The message that `action` is in `model`.
#[track_caller]
pub fn label(model: &Model, (chan, values): &Action) -> Label {
    let gate = model.sts.gate_named(chan).unwrap_or_else(|| panic!("{chan} is declared"));
    let fields = model.sts.gates[gate].fields.iter().zip(values);
    let value = |field, v: i64| match model.field_sort(field) {
        Sort::Bool => Value::Bool(v == 1),
        _ => Value::int(v),
    };
    Label::message(&model.sts, gate, fields.map(|(&field, &v)| value(field, v)).collect()).expect("visible")
}
