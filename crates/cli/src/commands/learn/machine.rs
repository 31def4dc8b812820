//! `ioxide learn` without `--data` and `--time`: a machine whose inputs have fixed values.

use ioxide_args::{LearnArgs, UnstableArg};
use ioxide_fsm::mealy::{MachineNames, Mealy};
use ioxide_learn::messages::Messages;
use ioxide_learn::oracle::{HypothesisTest, LearnedGuarantee};
use ioxide_learn::origin::MachineOrigin;
use ioxide_learn::recheck::AnswerDetail;
use ioxide_learn::session::{
    EarlierVersion, LearnedModel, MachinePlan, MachineResult, MajorityVote, UnstablePolicy,
};
use ioxide_learn::several::Drafting;
use ioxide_model::sts::Model;
use serde_json::{Value as Json, json};

use super::asking::{AskedSystem, SessionInputs};
use super::output::{self, LearnedReport};
use super::page::LearningViewer;
use super::refusal::session_error;
use super::{DEFAULT_EXTRA_STATES, DEFAULT_TIME_LIMIT, alphabet, parse_suites};
use crate::exit::{self, CliError, ExitStatus};
use crate::machine::NamedMachine;
use crate::solver::SolverRequest;
use crate::system::SystemUnderTest;
use crate::{limit, machine, seed};

/// The number of walks that test a draft with choices, without `--walks`. Chosen by feel.
const DRAFT_WALKS: usize = 300;

/// Learns a machine.
pub fn learn_machine(
    args: &LearnArgs,
    sut: &str,
    mut model: Model,
    viewer: &LearningViewer,
) -> Result<ExitStatus, CliError> {
    let suites = parse_suites(&args.suite)?;
    if model.sts.is_timed() {
        return Err(CliError::usage("this model has clocks: `--time` learns time-outs").help(
            "to learn the behaviour that does not depend on time, give a model with the same messages and \
             without clocks",
        ));
    }
    let halt = &limit::halt_within(&args.limit, DEFAULT_TIME_LIMIT);
    let inputs = alphabet::choose_inputs(args, &model)?;
    let system = &SystemUnderTest::from_name(sut, args.model.spec_source())?;
    machine::declare_outputs(&mut model, system);
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let (extra, walks) = (Some(args.extra.unwrap_or(DEFAULT_EXTRA_STATES)), args.walks);
    let test = HypothesisTest { suites, extra, walks, walk_length: args.walk_length, seed };
    let reference = read_reference(args, inputs.keys(), &SolverRequest::new(&args.solver, halt.clone()))?;
    let plan =
        MachinePlan { test, closed: args.closed.clone(), unstable: unstable_policy(args, seed), reference };
    let asked = AskedSystem { args, system, halt, seed, viewer };
    let session_inputs = SessionInputs {
        names: inputs.keys().cloned().collect(),
        read: &|name| inputs.get(name).cloned(),
        detail: AnswerDetail::Values,
    };
    let messages = Messages { model, inputs: inputs.clone(), preamble: Vec::new() };
    asked.open_session(messages, &session_inputs, |session, dated| {
        let messages = session.messages;
        let result = session.learn_machine(&plan).map_err(|error| session_error(args, halt, error))?;
        let origin = MachineOrigin::from_system(sut, seed, result.facts());
        let report = LearnedReport { origin, json: machine_json(args, sut, seed, &result) };
        let report = report.with_votes(&result.votes).with_date(dated);
        let text = output::draft_text(args, &result.draft(messages), &report.origin)?;
        let shown = output::write_model(args, &text, &report, viewer)?;
        let partial = || limit::halted_status(halt, ExitStatus::Inconclusive);
        exit::status_after_output(if result.is_stopped() { partial() } else { ExitStatus::Success }, shown)
    })
}

/// Returns the reaction to a system that answers in several ways.
fn unstable_policy(args: &LearnArgs, seed: u64) -> UnstablePolicy {
    match args.unstable {
        UnstableArg::Stop => UnstablePolicy::Stop,
        UnstableArg::Majority => UnstablePolicy::Majority(majority_vote(args)),
        UnstableArg::Draft => {
            let walks = if args.walks == 0 { DRAFT_WALKS } else { args.walks };
            let (repetitions, walk_length) = (args.votes, args.walk_length);
            UnstablePolicy::Draft(Drafting { repetitions, walks, walk_length, seed })
        }
    }
}

/// Returns the rules of votes that `--votes` and `--confidence` give.
pub fn majority_vote(args: &LearnArgs) -> MajorityVote {
    MajorityVote { at_least: args.votes, confidence: f64::from(args.confidence) / 100.0 }
}

/// Reads the earlier version of `--reference`, if there is one.
fn read_reference<'n>(
    args: &LearnArgs,
    inputs: impl Iterator<Item = &'n String>,
    request: &SolverRequest<'_>,
) -> Result<Option<EarlierVersion>, CliError> {
    let Some(path) = &args.reference else { return Ok(None) };
    let machine = NamedMachine::load(path, &[], request)?;
    let refused = |why: String| {
        CliError::new(ExitStatus::Model, format!("`{path}`: {why}"))
            .help("a reference is a deterministic machine; a draft from records will do")
    };
    let mealy = Mealy::from_listing(&machine.listing).map_err(|refusal| refused(refusal.to_string()))?;
    let names = MachineNames { inputs: inputs.cloned().collect(), ..MachineNames::default() };
    let reference = EarlierVersion::new(&mealy, machine.ignoring(), &names)
        .ok_or_else(|| refused("it is not a machine to compare with".into()))?;
    if !reference.has_common_inputs() {
        return Err(refused("it has none of the inputs that are learned with".into()));
    }
    Ok(Some(reference))
}

/// Returns the report for programs.
fn machine_json(args: &LearnArgs, sut: &str, seed: u64, result: &MachineResult) -> Json {
    let mut json = json!({
        "version": 1, "sut": sut, "seed": seed, "inputs": result.answers.names().inputs.as_slice(),
        "resets": result.effort.resets, "symbols": result.effort.symbols,
        "exact_up_to": Json::Null, "guarantee": result.guarantee(), "stopped": result.is_stopped(),
    });
    match &result.learned {
        LearnedModel::Machine(learned) => {
            json["states"] = json!(learned.machine.n_states());
            json["hypotheses"] = json!(learned.hypotheses);
            json["suite"] = json!(args.suite);
            if let LearnedGuarantee::Complete { states, extra } = learned.guarantee {
                json["exact_up_to"] = json!(states + extra);
            }
        }
        LearnedModel::Several(draft, _) => {
            json["states"] = json!(draft.n_states);
            json["choices"] = json!(draft.n_choices());
        }
    }
    json
}
