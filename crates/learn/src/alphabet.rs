//! The inputs a system is learned with if none are given: all messages with a few values for every field.
//!
//! Where the fields of a message have more combinations of values than are taken, those are taken in which every value
//! of every field occurs, as far as their number allows, and pairs of values as often as possible; people are told how
//! many are left out.

#[doc(hidden)]
pub mod rows;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::value::{DataValue, Value};

/// The number of inputs of one message. Chosen by feel: every input is asked in every state.
const MAX_PER_MESSAGE: usize = 8;

/// The number of values of one field. Chosen by feel.
const MAX_VALUES: i64 = 3;

/// The inputs of a model, as far as they are taken.
#[derive(Clone, Debug)]
pub struct MessageAlphabet {
    /// The inputs.
    pub labels: Vec<Label>,
    /// The messages of which combinations of values are left out, with those that are taken in words.
    pub left_out: Vec<(GateId, String)>,
}

impl MessageAlphabet {
    /// Returns a note for each message of which combinations are left out, with a `help`.
    #[must_use]
    pub fn notes(&self, model: &Model, help: &str) -> Vec<String> {
        let note = |(gate, taken): &(GateId, String)| {
            format!("`{}` is learned with {taken}; {help}", model.sts.gates[*gate].name)
        };
        self.left_out.iter().map(note).collect()
    }
}

/// Returns every input message with representatives of its fields; those whose sort `is_open` are not looked at, and
/// have one value.
pub fn choose_all_inputs(model: &Model, is_open: impl Fn(Sort) -> bool) -> MessageAlphabet {
    let mut all = MessageAlphabet { labels: Vec::new(), left_out: Vec::new() };
    for (id, gate) in model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input) {
        let values: Vec<Vec<Value>> = gate
            .fields
            .iter()
            .map(|&field| {
                let sort = model.pool.var_info(field).sort;
                let mut values = representatives(model, sort);
                values.truncate(if is_open(sort) { 1 } else { usize::MAX });
                values
            })
            .collect();
        let sizes: Vec<usize> = values.iter().map(Vec::len).collect();
        let rows = rows::choose_rows(&sizes, MAX_PER_MESSAGE);
        all.left_out
            .extend(rows::describe_left_out(&sizes, rows.len(), MAX_PER_MESSAGE).map(|taken| (id, taken)));
        let label = |row: Vec<usize>| {
            Label::Input(id, row.iter().zip(&values).map(|(&at, values)| values[at].clone()).collect())
        };
        all.labels.extend(rows.into_iter().map(label));
    }
    all
}

/// Returns a few values of `sort`: all of a small one, else its ends or the first ones.
fn representatives(model: &Model, sort: Sort) -> Vec<Value> {
    match sort {
        Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Sort::Range { lo, hi } if hi.saturating_sub(lo) < MAX_VALUES => (lo..=hi).map(Value::int).collect(),
        Sort::Range { lo, hi } => vec![Value::int(lo), Value::int(hi)],
        Sort::Int => vec![Value::int(1), Value::int(2)],
        Sort::Str => vec![Value::str("a")],
        Sort::Data(data) => {
            let ctors = model.pool.data(data).ctors.iter().enumerate();
            let plain = ctors.filter(|(_, ctor)| ctor.fields.is_empty());
            let value = |(i, _)| {
                let ctor = u32::try_from(i).unwrap_or(0);
                Value::Data(DataValue { data, ctor, args: [].into() })
            };
            let values: Vec<Value> = plain.map(value).collect();
            if values.is_empty() { vec![model.pool.default_value(sort)] } else { values }
        }
        Sort::Real | Sort::Collection(_) => vec![model.pool.default_value(sort)],
    }
}

/// Returns a line up to the `#` that begins a comment: one that is not in a string.
pub fn without_comment(line: &str) -> &str {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, sign) in line.char_indices() {
        match sign {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            '#' if !is_quoted => return &line[..at],
            _ => (),
        }
    }
    line
}
