//! `ioxide learn --data`: a machine that stores and compares values.

mod arguments;
mod reference;

use ioxide_args::{LearnArgs, UnstableArg};
use ioxide_learn::data::system::DataGate;
use ioxide_learn::data::{StartAssumption, ValuePlan, ValueResult, field_kinds, theory_name};
use ioxide_learn::messages::Messages;
use ioxide_learn::origin::MachineOrigin;
use ioxide_learn::recheck::AnswerDetail;
use ioxide_learn::register::oracle::DataExamination;
use ioxide_model::sts::Model;
use ioxide_record::typed;
use serde_json::{Value as Json, json};

use super::asking::{AskedSystem, SessionInputs};
use super::machine::majority_vote;
use super::output::{self, LearnedReport};
use super::page::LearningViewer;
use super::refusal::session_error;
use super::{DEFAULT_TIME_LIMIT, parse_suites};
use crate::exit::{self, CliError, ExitStatus};
use crate::system::SystemUnderTest;
use crate::{limit, seed};

/// The number of random walks without `--walks`. Chosen by feel: the suites use few values, and walks look for what
/// others show; more find rarer differences and take longer.
const WALKS: usize = 200;

/// Inputs of a walk that reaches past the suites. Chosen by feel.
const WALK_LENGTH: usize = 12;

/// The number of extra states without `--extra`. Chosen by feel: one less than for machines without values, because
/// with values a suite for each further state is many times as large.
const DEFAULT_EXTRA_STATES: usize = 1;

/// Learns how the system stores and compares values.
pub fn learn_values(
    args: &LearnArgs,
    sut: &str,
    model: Model,
    viewer: &LearningViewer,
) -> Result<ExitStatus, CliError> {
    arguments::refuse_arguments(args, &model)?;
    let halt = &limit::halt_within(&args.limit, DEFAULT_TIME_LIMIT);
    let gates = arguments::choose_gates(args, &model)?;
    let start = StartAssumption {
        constants: arguments::parse_constants(args, &field_kinds(&model, &gates))?,
        theories: arguments::choose_theories(args, &model, &gates)?,
        made: arguments::parse_made_fields(&args.made, &model)?,
        words: Vec::new(),
    };
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let test = examination(args, seed)?;
    let messages = Messages { model, inputs: Default::default(), preamble: Vec::new() };
    let start = reference::learn_assumptions(args, &messages, &gates, start, &test, halt)?;
    let votes = (args.unstable == UnstableArg::Majority).then(|| majority_vote(args));
    let plan = ValuePlan { gates: &gates, start, test: &test, votes };
    let system = &SystemUnderTest::from_name(sut, args.model.spec_source())?;
    let asked = AskedSystem { args, system, halt, seed, viewer };
    let declared = messages.model.clone();
    let read =
        |text: &str| typed::read_message(&declared.pool, &declared.sts, text).ok()?.label(&declared.sts);
    let names = gates.iter().map(|gate| gate.name(&declared)).collect();
    let session_inputs = SessionInputs { names, read: &read, detail: AnswerDetail::Messages };
    asked.open_session(messages, &session_inputs, |session, dated| {
        if session.earlier.recorded.is_empty() && !args.from.is_empty() {
            eprintln!(
                "note: no recorded run of `--from` begins with an input and a certain answer; it gives no \
                 answers to start from"
            );
        }
        let messages = session.messages;
        let result = session.learn_values(plan).map_err(|error| session_error(args, halt, error))?;
        let facts = result.facts(&messages.model);
        let origin = MachineOrigin::from_system(sut, seed, facts);
        let json = values_json(sut, seed, &result, &gates, &messages.model);
        let report = LearnedReport { origin, json }.with_votes(&result.votes).with_date(dated);
        let learned = result.text(messages);
        let text = output::model_text(args, &report.origin, |head| learned.write_model(head))?;
        let shown = output::write_model(args, &text, &report, viewer)?;
        let partial = || limit::halted_status(halt, ExitStatus::Inconclusive);
        let is_stopped = result.learned.is_stopped;
        exit::status_after_output(if is_stopped { partial() } else { ExitStatus::Success }, shown)
    })
}

/// Returns the suites and walks that test hypotheses.
fn examination(args: &LearnArgs, seed: u64) -> Result<DataExamination, CliError> {
    let is_default = args.walks == 0;
    Ok(DataExamination {
        method: parse_suites(&args.suite)?.method_for(0, 0),
        extra: args.extra.unwrap_or(DEFAULT_EXTRA_STATES),
        values: usize::from(args.values),
        walks: if is_default { WALKS } else { args.walks },
        walk_length: if is_default { WALK_LENGTH } else { args.walk_length },
        seed,
    })
}

/// Returns the report for programs.
fn values_json(sut: &str, seed: u64, result: &ValueResult, gates: &[DataGate], model: &Model) -> Json {
    let constants = &result.assumptions.constants;
    json!({
        "version": 1, "sut": sut, "seed": seed, "states": result.machine.locations.len(),
        "inputs": gates.iter().map(|gate| gate.name(model)).collect::<Vec<_>>(),
        "constants": constants.iter().map(|value| model.pool.show_value(value)).collect::<Vec<_>>(),
        "variables": result.machine.n_registers(), "compare": theory_name(&result.plan.domain),
        "made": result.made_fields(model), "doubtful": result.n_doubtful,
        "hypotheses": result.learned.hypotheses, "resets": result.effort.resets, "symbols": result.effort.symbols,
        "guarantee": result.guarantee(), "stopped": result.learned.is_stopped,
    })
}
