//! `ioxide learn --time`: a machine with time-outs.

mod clock;

use std::sync::Arc;
use std::time::Duration;

use ioxide_args::{DraftFormat, LearnArgs, UnstableArg};
use ioxide_learn::messages::Messages;
use ioxide_learn::oracle::HypothesisTest;
use ioxide_learn::origin::MachineOrigin;
use ioxide_learn::timed::{TimedError, TimedResult, TimedSession, TimedSessionError, TimedSettings};
use ioxide_model::sts::Model;
use ioxide_run::answers::collect_greeting;
use ioxide_wire::adapter::ClockKind;
use serde_json::{Value as Json, json};

use self::clock::ClockedSystem;
use super::line::LearningLine;
use super::machine::majority_vote;
use super::output::{self, LearnedReport};
use super::page::LearningViewer;
use super::refusal::learning_error;
use super::{DEFAULT_EXTRA_STATES, DEFAULT_TIME_LIMIT, alphabet, parse_suites};
use crate::commands::fsm::live::LiveTestError;
use crate::exit::{self, CliError, ExitStatus};
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, machine, seed};

/// The part of the tolerance that must pass without an output for an answer to be complete. Chosen by feel.
const SILENCE_DIVISOR: u32 = 20;

/// Learns time-outs.
pub fn learn_time_outs(
    args: &LearnArgs,
    sut: &str,
    mut model: Model,
    viewer: &LearningViewer,
) -> Result<ExitStatus, CliError> {
    refuse_arguments(args)?;
    let suites = parse_suites(&args.suite)?;
    let halt = &limit::halt_within(&args.limit, DEFAULT_TIME_LIMIT);
    let inputs = alphabet::choose_inputs(args, &model)?;
    let system = SystemUnderTest::from_name(sut, args.model.spec_source())?;
    machine::declare_outputs(&mut model, &system);
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let settings = timed_settings(args);
    let (extra, walks) = (Some(args.extra.unwrap_or(DEFAULT_EXTRA_STATES)), args.walks);
    let test = HypothesisTest { suites, extra, walks, walk_length: args.walk_length, seed };
    let mut messages = Messages { model, inputs, preamble: Vec::new() };
    let request = SolverRequest::new(&args.solver, halt.clone());
    let opener = SystemOpener::new(&system, Arc::new(messages.model.clone()), request).on(ClockKind::Offered);
    opener.open(0, seed, |adapter| {
        if !adapter.has_virtual_time() {
            messages.preamble =
                collect_greeting(adapter, args.greeting(settings.settle), halt).map_err(learning_error)?;
        }
        let mut system = ClockedSystem::new(adapter, halt, viewer.meter());
        let (messages, mut watcher) = (&messages, LearningLine::new(viewer, halt));
        let vote = (args.unstable == UnstableArg::Majority).then(|| majority_vote(args));
        let (system, watcher) = (&mut system, &mut watcher);
        let session = TimedSession { system, watcher, messages, settings, test, vote };
        let result = session.learn_timeouts().map_err(timed_error)?;
        let origin = MachineOrigin::from_system(sut, seed, result.facts());
        let report = LearnedReport { origin, json: timed_json(args, sut, seed, &result, messages) };
        let text = output::model_text(args, &report.origin, |head| result.write_model(head, messages))?;
        let shown = output::write_model(args, &text, &report, viewer)?;
        let partial = || limit::halted_status(halt, ExitStatus::Inconclusive);
        let is_stopped = result.learned.is_stopped;
        exit::status_after_output(if is_stopped { partial() } else { ExitStatus::Success }, shown)
    })
}

/// Returns the times that `--wait-ms`, `--tolerance-ms` and `--silence-ms` give.
fn timed_settings(args: &LearnArgs) -> TimedSettings {
    let tolerance = Duration::from_millis(args.tolerance_ms);
    let settle = args.quiescence_ms.map_or(tolerance / SILENCE_DIVISOR, Duration::from_millis);
    let wait = Duration::from_millis(args.wait_ms);
    TimedSettings { wait, tolerance, settle, one_answer: args.one_answer }
}

/// Refuses arguments that cannot be combined with `--time`.
fn refuse_arguments(args: &LearnArgs) -> Result<(), CliError> {
    let not = |what: &str| Err(CliError::usage(format!("`--time` cannot be combined with {what} yet")));
    if args.unstable == UnstableArg::Draft {
        not("`--unstable draft`")
    } else if args.jobs > 1 {
        not("`--jobs`")
    } else if !args.closed.is_empty() {
        not("`--closed`")
    } else if args.format == DraftFormat::Dot {
        not("`--format dot`: a machine has no clocks")
    } else {
        Ok(())
    }
}

/// Returns the error of a session that ended without a model.
fn timed_error(error: TimedSessionError<LiveTestError>) -> CliError {
    let message = error.to_string();
    match error {
        TimedSessionError::System(TimedError::System(error)) => learning_error(error),
        TimedSessionError::System(TimedError::Greeting(_)) => CliError::new(ExitStatus::Inconclusive, message),
        TimedSessionError::System(TimedError::Endless) => CliError::new(ExitStatus::Inconclusive, message)
            .help("lower `--silence-ms`: a pause must be longer than that"),
        TimedSessionError::TwoWays(_) => CliError::new(ExitStatus::Inconclusive, message).help(
            "do delays vary by more than `--tolerance-ms`? do answers take longer than a twentieth of it, or than \
             `--silence-ms`? does a reset stop all timers? `--one-answer` waits for late answers, and `--unstable \
             majority` repeats what contradicts itself",
        ),
    }
}

/// Returns the report for programs.
fn timed_json(args: &LearnArgs, sut: &str, seed: u64, result: &TimedResult, messages: &Messages) -> Json {
    json!({
        "version": 1, "sut": sut, "seed": seed, "states": result.learned.machine.n_states(),
        "inputs": messages.inputs.keys().collect::<Vec<_>>(), "timeouts": result.seen.timeout_names(),
        "tolerance_ms": args.tolerance_ms, "unclear": result.n_unclear(),
        "hypotheses": result.learned.hypotheses, "resets": result.effort.resets, "symbols": result.effort.symbols,
        "guarantee": result.guarantee(), "stopped": result.learned.is_stopped,
    })
}
