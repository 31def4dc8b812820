//! The inputs a system is learned with: those given, or all messages with a few values for every field.

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::{DataValue, Value};
use ioxide_runner::codec::typed;
use ioxide_testgen::abstraction::input_name;

use crate::args::LearnArgs;
use crate::exit::{EarlyStop, ExitStatus};
use crate::load;

/// The number of inputs of one message without `--input`.
const MAX_PER_MESSAGE: usize = 8;

/// The number of values of one field.
const MAX_VALUES: i64 = 3;

/// The inputs to learn with, by name.
pub fn chosen(args: &LearnArgs, model: &Model) -> Result<BTreeMap<String, Label>, EarlyStop> {
    let mut texts = args.inputs.clone();
    if let Some(file) = &args.inputs_file {
        let text = load::read_data(file)?;
        let lines = text.lines().map(|line| line.split('#').next().unwrap_or(line).trim());
        texts.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let labels = if texts.is_empty() {
        every(model)
    } else {
        texts.iter().map(|text| given(model, text)).collect::<Result<_, _>>()?
    };
    if labels.is_empty() {
        return Err(EarlyStop::new(ExitStatus::Nothing, "the model has no input to learn with"));
    }
    Ok(labels.into_iter().map(|label| (input_name(&model.pool, &model.sts, &label), label)).collect())
}

fn given(model: &Model, text: &str) -> Result<Label, EarlyStop> {
    let typed = typed::read(&model.pool, &model.sts, text)
        .map_err(|problem| EarlyStop::usage(format!("`--input {text}`: {problem}")))?;
    match typed.label(&model.sts) {
        Some(label @ Label::Input(..)) => Ok(label),
        Some(_) => Err(EarlyStop::usage(format!("`{text}` is no input"))),
        None => {
            Err(EarlyStop::usage(format!("`--input {text}` leaves a field out"))
                .help("give every field a value"))
        }
    }
}

/// Every input message, with representatives of its fields.
pub fn every(model: &Model) -> Vec<Label> {
    let mut labels = Vec::new();
    for (id, gate) in model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind == GateKind::Input) {
        let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
        for &field in &gate.fields {
            let values = representatives(model, model.pool.var_info(field).sort);
            rows = rows
                .into_iter()
                .flat_map(|row| values.iter().map(move |value| longer(&row, value)))
                .collect();
            rows.truncate(MAX_PER_MESSAGE);
        }
        labels.extend(rows.into_iter().map(|row| Label::Input(id, row)));
    }
    labels
}

fn longer(row: &[Value], value: &Value) -> Vec<Value> {
    row.iter().chain([value]).cloned().collect()
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
