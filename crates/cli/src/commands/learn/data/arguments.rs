//! The arguments of `learn --data`: inputs, constants, theories, and fields whose values are made up.

use ioxide_args::{CompareArg, DraftFormat, LearnArgs, UnstableArg};
use ioxide_learn::alphabet::choose_all_inputs;
use ioxide_learn::data::field_kinds;
use ioxide_learn::data::made_values::{MadeField, data_fields, field_text};
use ioxide_learn::data::system::DataGate;
use ioxide_learn::data::values::ValueKind;
use ioxide_learn::register::place::Theory;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::value::Value;
use ioxide_record::typed::{self, TypedMessage};

use super::super::alphabet::print_left_out;
use crate::exit::{CliError, ExitStatus};

/// Refuses models and arguments that cannot be combined with `--data`.
pub fn refuse_arguments(args: &LearnArgs, model: &Model) -> Result<(), CliError> {
    let not = |what: &str, why: &str| {
        Err(CliError::usage(format!("`--data` cannot be combined with {what}")).help(why))
    };
    if model.sts.is_timed() {
        Err(CliError::usage("systems with time cannot be learned with `--data`")
            .help("give a model with the same messages and without clocks"))
    } else if args.unstable == UnstableArg::Majority && args.jobs > 1 {
        not(
            "`--unstable majority` and `--jobs` at once",
            "every question is asked until two answers agree, by one copy: leave one of them out",
        )
    } else if args.unstable == UnstableArg::Draft {
        not(
            "`--unstable draft`",
            "a few repetitions cannot show whether a reply depends on values or on chance. `--unstable \
             majority` accepts the usual reply; without `--data`, `--unstable draft` writes a model with choices",
        )
    } else if !args.made.is_empty() && args.compare == CompareArg::Order {
        not(
            "`--made` and `--compare order` at once",
            "a new value that the system makes up cannot be ordered among others: leave one of the two options out",
        )
    } else if args.format == DraftFormat::Dot {
        not("`--format dot`", "a machine in DOT has no values: leave `--format` out")
    } else {
        Ok(())
    }
}

/// Returns the inputs that `--input` names, each with the values that it fixes; refuses lists of inputs with values.
fn parse_inputs(args: &LearnArgs, model: &Model) -> Result<Vec<TypedMessage>, CliError> {
    if args.inputs_file.is_some() {
        return Err(
            CliError::usage("`--data` does not go with `--inputs`").help("name messages with `--input`")
        );
    }
    let read = |text: &String| {
        let wrong = |why: String| {
            CliError::usage(format!("`--input {text}`: {why}")).help(
                "with `--data`, the name of an input message, and the fields whose value is fixed: `pay(amount: 3)`",
            )
        };
        let message =
            typed::read_message(&model.pool, &model.sts, text).map_err(|why| wrong(why.to_string()))?;
        let is_input = model.sts.gates[message.gate].kind == GateKind::Input;
        if is_input { Ok(message) } else { Err(wrong("this is no input message".to_owned())) }
    };
    args.inputs.iter().map(read).collect()
}

/// Returns the inputs: every message of `--input`, or all, once for each choice of values for the fields that are no
/// data and that it leaves open.
pub fn choose_gates(args: &LearnArgs, model: &Model) -> Result<Vec<DataGate>, CliError> {
    let wanted = parse_inputs(args, model)?;
    let is_wanted = |gate: GateId| wanted.is_empty() || wanted.iter().any(|message| message.gate == gate);
    let mut all = choose_all_inputs(model, |sort| ValueKind::of_sort(sort).is_some());
    all.left_out.retain(|(gate, _)| is_wanted(*gate));
    print_left_out(&all, model, "the others can be given with fixed values, without `--data`");
    let mut gates: Vec<DataGate> = Vec::new();
    for label in all.labels {
        let Label::Input(gate, values) = label else { continue };
        let own = wanted.iter().filter(|message| message.gate == gate).map(|message| message.values.clone());
        let mut choices: Vec<Vec<Option<Value>>> = own.collect();
        if wanted.is_empty() {
            choices.push(vec![None; values.len()]);
        }
        for given in choices {
            let one = data_gate(model, gate, given, &values);
            if !gates.contains(&one) {
                gates.push(one);
            }
        }
    }
    refuse_overlaps(model, &gates)?;
    if gates.is_empty() {
        Err(CliError::new(ExitStatus::Nothing, "the model has no input to learn with"))
    } else {
        Ok(gates)
    }
}

/// Returns the input with the values that are `given`, and those of `values` for the other fields that are no data.
fn data_gate(model: &Model, gate: GateId, given: Vec<Option<Value>>, values: &[Value]) -> DataGate {
    let sorts = model.sts.gates[gate].fields.iter().map(|&field| model.pool.var_info(field).sort);
    let fixed = sorts.zip(given).zip(values).map(|((sort, given), value)| {
        given.or_else(|| ValueKind::of_sort(sort).is_none().then(|| value.clone()))
    });
    DataGate { gate, fixed: fixed.collect() }
}

/// Refuses two inputs that some message is one of both: an answer could not be told to belong to one of them.
fn refuse_overlaps(model: &Model, gates: &[DataGate]) -> Result<(), CliError> {
    let pairs =
        gates.iter().enumerate().flat_map(|(at, one)| gates[..at].iter().map(move |other| (other, one)));
    match pairs.into_iter().find(|(one, other)| one.overlaps(other)) {
        None => Ok(()),
        Some((one, other)) => {
            let message =
                format!("`{}` and `{}` have messages in common", one.name(model), other.name(model));
            Err(CliError::usage(message)
                .help("name the message once, or with values that exclude each other"))
        }
    }
}

/// Returns the constants of `--constant`: numbers, texts, or both, as there are fields that can hold them.
pub fn parse_constants(args: &LearnArgs, kinds: &[Vec<ValueKind>]) -> Result<Vec<Value>, CliError> {
    let mut values = Vec::new();
    for text in &args.constants {
        let has = |wanted: fn(&ValueKind) -> bool| kinds.iter().flatten().any(wanted);
        let number = text.parse().ok().filter(|_| has(|kind| matches!(kind, ValueKind::Number(..))));
        let is_text = has(|kind| *kind == ValueKind::Text);
        if number.is_none() && !is_text {
            return Err(CliError::usage(format!("`--constant {text}`: no field can hold that")));
        }
        values.extend(number.map(Value::int));
        values.extend(is_text.then(|| Value::str(text)));
    }
    Ok(values)
}

/// Returns the theories by which values may be compared, in the order in which they are tried.
pub fn choose_theories(args: &LearnArgs, model: &Model, gates: &[DataGate]) -> Result<Vec<Theory>, CliError> {
    let kinds = field_kinds(model, gates);
    let has_texts = kinds.iter().flatten().any(|kind| *kind == ValueKind::Text);
    match args.compare {
        CompareArg::Order if has_texts => Err(CliError::usage("texts have no order")
            .help("leave `--compare` out, or pick messages without texts with `--input`")),
        CompareArg::Order => Ok(vec![Theory::Order]),
        CompareArg::Equality => Ok(vec![Theory::Equality]),
        CompareArg::Auto if has_texts => Ok(vec![Theory::Equality]),
        CompareArg::Auto => Ok(vec![Theory::Equality, Theory::Order]),
    }
}

/// Returns the fields that `--made` names: `MESSAGE.FIELD`.
pub fn parse_made_fields(names: &[String], model: &Model) -> Result<Vec<MadeField>, CliError> {
    names.iter().map(|name| find_made_field(name, model)).collect()
}

fn find_made_field(name: &str, model: &Model) -> Result<MadeField, CliError> {
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
