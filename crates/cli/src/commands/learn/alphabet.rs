//! The inputs a system is learned with: those given, or all messages with a few values for every field.
//!
//! Where the fields of a message have more combinations of values than are taken, those are taken in which every value
//! of every field occurs, as far as their number allows, and pairs of values as often as possible; people are told how
//! many are left out.

mod rows;

use std::collections::BTreeMap;

use ioxide_model::label::Label;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::value::{DataValue, Value};
use ioxide_runner::codec::typed;
use ioxide_testgen::abstraction::input_name;

use crate::args::LearnArgs;
use crate::exit::{CliError, ExitStatus};
use crate::load;

/// The number of inputs of one message without `--input`.
const MAX_PER_MESSAGE: usize = 8;

/// The number of values of one field.
const MAX_VALUES: i64 = 3;

/// The inputs to learn with, by name.
pub fn choose_inputs(args: &LearnArgs, model: &Model) -> Result<BTreeMap<String, Label>, CliError> {
    let mut texts = args.inputs.clone();
    if let Some(file) = &args.inputs_file {
        let text = load::read_data(file)?;
        let lines = text.lines().map(|line| without_comment(line).trim());
        texts.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let labels = if texts.is_empty() {
        let all = all_inputs(model, |_| false);
        all.print_left_out(model, "`--input` names others");
        all.labels
    } else {
        texts.iter().map(|text| parse_input(model, text)).collect::<Result<_, _>>()?
    };
    if labels.is_empty() {
        return Err(CliError::new(ExitStatus::Nothing, "the model has no input to learn with"));
    }
    Ok(labels.into_iter().map(|label| (input_name(&model.pool, &model.sts, &label), label)).collect())
}

fn parse_input(model: &Model, text: &str) -> Result<Label, CliError> {
    let typed = typed::read_message(&model.pool, &model.sts, text)
        .map_err(|problem| CliError::usage(format!("`--input {text}`: {problem}")))?;
    match typed.label(&model.sts) {
        Some(label @ Label::Input(..)) => Ok(label),
        Some(_) => Err(CliError::usage(format!("`{text}` is no input"))),
        None => {
            Err(CliError::usage(format!("`--input {text}` leaves a field out"))
                .help("give every field a value"))
        }
    }
}

/// Returns a line up to the `#` that begins a comment: one that is not in a string.
fn without_comment(line: &str) -> &str {
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

/// The inputs of a model, as far as they are taken.
pub struct MessageAlphabet {
    /// The inputs.
    pub labels: Vec<Label>,
    /// The messages of which combinations of values are left out, with those that are taken in words.
    pub left_out: Vec<(GateId, String)>,
}

impl MessageAlphabet {
    /// Returns a note for each message of which combinations are left out, with a `help`.
    fn notes(&self, model: &Model, help: &str) -> Vec<String> {
        let note = |(gate, taken): &(GateId, String)| {
            format!("`{}` is learned with {taken}; {help}", model.sts.gates[*gate].name)
        };
        self.left_out.iter().map(note).collect()
    }

    /// Tells people what is left out, with a `help`.
    pub fn print_left_out(&self, model: &Model, help: &str) {
        self.notes(model, help).iter().for_each(|note| eprintln!("note: {note}"));
    }
}

/// Returns every input message with representatives of its fields; those whose sort `is_open` are not looked at, and
/// have one value.
pub fn all_inputs(model: &Model, is_open: impl Fn(Sort) -> bool) -> MessageAlphabet {
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
        all.left_out.extend(rows::left_out(&sizes, rows.len(), MAX_PER_MESSAGE).map(|taken| (id, taken)));
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

#[cfg(test)]
mod tests;
