//! The inputs of `--input` and `--inputs`, or those that are chosen without them.

use std::collections::BTreeMap;

use ioxide_args::LearnArgs;
use ioxide_learn::alphabet::{MessageAlphabet, choose_all_inputs, without_comment};
use ioxide_model::label::{Label, input_name};
use ioxide_model::sts::Model;
use ioxide_record::typed;

use crate::exit::{CliError, ExitStatus};
use crate::load;

/// Returns the inputs to learn with, by name.
pub fn choose_inputs(args: &LearnArgs, model: &Model) -> Result<BTreeMap<String, Label>, CliError> {
    let mut texts = args.inputs.clone();
    if let Some(file) = &args.inputs_file {
        let text = load::read_data(file)?;
        let lines = text.lines().map(|line| without_comment(line).trim());
        texts.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
    }
    let labels = if texts.is_empty() {
        let all = choose_all_inputs(model, |_| false);
        print_left_out(&all, model, "`--input` names others");
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
        Some(_) => Err(CliError::usage(format!("`{text}` is not an input"))),
        None => {
            Err(CliError::usage(format!("`--input {text}` leaves a field out"))
                .help("give every field a value"))
        }
    }
}

/// Tells people which combinations of values are left out, with a `help`.
pub fn print_left_out(all: &MessageAlphabet, model: &Model, help: &str) {
    all.notes(model, help).iter().for_each(|note| eprintln!("note: {note}"));
}
