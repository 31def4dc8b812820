//! Learning a system whose inputs carry values: the model that is written has variables and guards.
//!
//! Numbers and texts are data, every other field is part of the message. Values are first taken to be equal or not; a
//! system that answers words with equal values in two ways is learned again with order, with all that was seen.

mod disagreement;
mod given_back;
mod halving;
mod made_values;
mod reference;
mod system;
mod text;
mod value_system;
mod values;
mod words;

use std::sync::Arc;

use ioxide_fsm::mealy::MachineNames;
use ioxide_learn::register::guards::guard_machine;
use ioxide_learn::register::oracle::DataExamination;
use ioxide_learn::register::place::Theory;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Model};
use ioxide_model::value::Value;
use ioxide_testgen::tester::suite::AnswerWait;

use self::disagreement::MajorityVote;
use self::halving::GivenValueSystem;
use self::system::{DataGate, DataQuestion, SeenAnswers};
use self::value_system::{StartAssumption, ValueSystem};
use self::values::ValueKind;
use super::again::{self, AnswerDetail};
use super::copies::{PoolGuard, QuestionQueue, WorkerPool, WorkerTask};
use super::page::LearningViewer;
use super::session::{SessionFile, data_runs};
use super::{DEFAULT_TIME_LIMIT, alphabet, learning_error, recorded, suites};
use crate::args::{CompareArg, DraftFormat, LearnArgs, UnstableArg};
use crate::commands::fsm::live::LiveSystem;
use crate::exit::{self, CliError, ExitStatus};
use crate::machine::Messages;
use crate::session::patience;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, seed};

/// The number of walks without `--walks`; suites have few values.
const WALKS: usize = 200;

/// Inputs of a walk that reaches past the suites.
const WALK_LENGTH: usize = 12;

/// The extra states without `--extra`; with values, suites are large.
const DEFAULT_EXTRA_STATES: usize = 1;

/// Learns how the system stores and compares values.
pub fn run(
    args: &LearnArgs,
    sut: &str,
    model: Model,
    viewer: &LearningViewer,
) -> Result<ExitStatus, CliError> {
    refuse(args, &model)?;
    let method = suites(&args.suite)?.method_for(0, 0);
    let halt = &limit::halt_within(&args.limit, DEFAULT_TIME_LIMIT);
    let gates = gates(args, &model)?;
    let constants = constants(args, &kinds(&model, &gates))?;
    let theories = theories(args, &model, &gates)?;
    let system = SystemUnderTest::from_name(sut, args.model.spec_source())?;
    let patience = patience(&system, sut, args.quiescence_ms)?.default_time();
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let examination = DataExamination {
        method,
        extra: args.extra.unwrap_or(DEFAULT_EXTRA_STATES),
        values: usize::from(args.values),
        walks: if args.walks == 0 { WALKS } else { args.walks },
        walk_length: if args.walks == 0 { WALK_LENGTH } else { args.walk_length },
        seed,
    };
    let request = SolverRequest::new(&args.solver, halt.clone());
    let mut messages = Messages { model, inputs: Default::default(), preamble: Vec::new() };
    let votes = (args.unstable == UnstableArg::Majority)
        .then(|| MajorityVote { at_least: args.votes, confidence: f64::from(args.confidence) / 100.0 });
    let made = made_values::parse_fields(&args.made, &messages.model)?;
    let start = StartAssumption { theories, constants, made, words: Vec::new() };
    let start = reference::learn_assumptions(args, &messages, &gates, start, &examination, halt)?;
    viewer.begins(gates.len(), examination.extra);
    let opener = SystemOpener::new(&system, Arc::new(messages.model.clone()), request);
    opener.open(0, seed, |adapter| {
        messages.preamble =
            LiveSystem::greeting(adapter, args.greeting(patience), halt).map_err(learning_error)?;
        let messages = &messages;
        let wait = if args.one_answer { AnswerWait::Output } else { AnswerWait::Quiescence };
        let names = MachineNames::default();
        let task = WorkerTask { opener: &opener, messages, wait, names: &names, patience, halt, seed };
        let queue: QuestionQueue<DataQuestion> = QuestionQueue::default();
        std::thread::scope(|scope| {
            let _home = PoolGuard(&queue);
            let copies = usize::from(args.jobs) - 1;
            let crew = (copies > 0).then(|| WorkerPool::start(scope, &task, &queue, copies));
            let mut live = LiveSystem::new(messages, wait, &names, adapter, patience, halt)?.ending();
            let shown: Vec<String> = gates.iter().map(|gate| gate.name(&messages.model)).collect();
            let (mut file, earlier) =
                SessionFile::open_session(args, messages, &shown.iter().collect::<Vec<_>>())?;
            let mut class = ValueSystem::new(halt, messages, &gates, start, &examination);
            let runs = data_runs(&earlier.text, &messages.model);
            again::check(args, &earlier, runs.clone(), AnswerDetail::Messages, &mut live)?;
            let dated = earlier.date_text(runs.len());
            class.resume_from(runs);
            class.runs.extend(recorded::data_seeds(args, messages)?);
            class.votes = votes;
            class.viewer = viewer.clone();
            file.meter = viewer.meter();
            let mut seen = SeenAnswers::default();
            let mut asked = GivenValueSystem { live: &mut live, file: &mut file, seen: &mut seen };
            let (learned, plan) = class.learn_values(&mut asked, crew.as_ref())?;
            let machine = guard_machine(&learned.machine);
            let told =
                class.show_learned(sut, &learned, &machine, seed, &plan.domain).with_date(dated.as_ref());
            let text = text::LearnedText {
                machine: &machine,
                domain: &plan.domain,
                gates: &gates,
                seen: &seen,
                messages,
            };
            viewer.draw(|| text.drawing(learned.hypotheses));
            let shown = super::write_model(args, &text.write_model(args, &told)?, &told, viewer)?;
            let partial = || limit::status(halt, ExitStatus::Inconclusive);
            exit::status_after_output(if learned.is_stopped { partial() } else { ExitStatus::Success }, shown)
        })
    })
}

/// Refuses models and arguments that cannot be combined with `--data`.
fn refuse(args: &LearnArgs, model: &Model) -> Result<(), CliError> {
    let not =
        |what: &str, why: &str| Err(CliError::usage(format!("`--data` does not go with {what}")).help(why));
    match () {
        () if model.sts.is_timed() => {
            Err(CliError::usage("systems with time cannot be learned with `--data`")
                .help("give a model with the same messages and without clocks"))
        }
        () if args.unstable == UnstableArg::Majority && args.jobs > 1 => not(
            "`--unstable majority` and `--jobs` at once",
            "every question is asked until two answers agree, by one copy: leave one of them out",
        ),
        () if args.unstable == UnstableArg::Draft => not(
            "`--unstable draft`",
            "whether an answer depends on values or on chance cannot be told from a few repetitions. `--unstable majority` \
             believes the usual answer; without `--data`, with fixed values, a model with choices can be drafted",
        ),
        () if !args.made.is_empty() && args.compare == CompareArg::Order => not(
            "`--made` and `--compare order` at once",
            "where a value that nobody has seen yet stands among others cannot be chosen: leave one of them out",
        ),
        () if args.format == DraftFormat::Dot => {
            not("`--format dot`", "a machine in DOT has no values: leave `--format` out")
        }
        () => Ok(()),
    }
}

impl DataGate {
    /// Returns the message with the values of the fields that are no data.
    fn name(&self, model: &Model) -> String {
        let gate = &model.sts.gates[self.gate];
        let field = |(&var, value): (_, &Option<Value>)| {
            let name = &model.pool.var_info(var).name;
            value.as_ref().map(|value| format!("{name}: {}", model.pool.show_value(value)))
        };
        let fixed: Vec<String> = gate.fields.iter().zip(&self.fixed).filter_map(field).collect();
        if fixed.is_empty() { gate.name.to_string() } else { format!("{}({})", gate.name, fixed.join(", ")) }
    }
}

/// Refuses names of `--input` that are no input messages, and lists of inputs with values.
fn refuse_inputs(args: &LearnArgs, model: &Model) -> Result<(), CliError> {
    if args.inputs_file.is_some() {
        return Err(
            CliError::usage("`--data` does not go with `--inputs`").help("name messages with `--input`")
        );
    }
    for name in &args.inputs {
        let is_there =
            model.sts.gates.iter().any(|gate| gate.kind == GateKind::Input && *gate.name == **name);
        if !is_there {
            return Err(CliError::usage(format!(
                "`--input {name}`: with `--data`, the name of an input message"
            )));
        }
    }
    Ok(())
}

/// Returns the inputs: every message of `--input`, or all, once for each choice of values for the fields that are no
/// data.
fn gates(args: &LearnArgs, model: &Model) -> Result<Vec<DataGate>, CliError> {
    refuse_inputs(args, model)?;
    let is_wanted = |gate: GateId| {
        let name = &model.sts.gates[gate].name;
        args.inputs.is_empty() || args.inputs.iter().any(|wanted| **wanted == **name)
    };
    let mut all = alphabet::all_inputs(model, |sort| ValueKind::of_sort(sort).is_some());
    all.left_out.retain(|(gate, _)| is_wanted(*gate));
    all.print_left_out(model, "the others can be given with fixed values, without `--data`");
    let mut gates = Vec::new();
    for label in all.labels {
        let Label::Input(gate, values) = label else { continue };
        if !is_wanted(gate) {
            continue;
        }
        let sorts = model.sts.gates[gate].fields.iter().map(|&field| model.pool.var_info(field).sort);
        let fixed = sorts
            .zip(values)
            .map(|(sort, value)| ValueKind::of_sort(sort).is_none().then_some(value))
            .collect();
        let one = DataGate { gate, fixed };
        if !gates.contains(&one) {
            gates.push(one);
        }
    }
    if gates.is_empty() {
        Err(CliError::new(ExitStatus::Nothing, "the model has no input to learn with"))
    } else {
        Ok(gates)
    }
}

/// The constants: numbers, texts, or both, as there are fields that can hold them.
fn constants(args: &LearnArgs, kinds: &[Vec<ValueKind>]) -> Result<Vec<Value>, CliError> {
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
fn theories(args: &LearnArgs, model: &Model, gates: &[DataGate]) -> Result<Vec<Theory>, CliError> {
    let kinds = kinds(model, gates);
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

fn kinds(model: &Model, gates: &[DataGate]) -> Vec<Vec<ValueKind>> {
    let of_gate = |gate: &DataGate| {
        let fields = &model.sts.gates[gate.gate].fields;
        fields.iter().filter_map(|&field| ValueKind::of_sort(model.pool.var_info(field).sort)).collect()
    };
    gates.iter().map(of_gate).collect()
}
