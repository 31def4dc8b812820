//! An earlier version of a system that is learned with values.
//!
//! It is a model, so it can be played at will: it is learned first, without a question to the system. Its theory, its
//! constants and its made-up values are then assumed until a run contradicts them; and the counterexamples that its
//! hypotheses had are the words that hypotheses about the system are tested with first. If little has changed, most of
//! the tests that find something are known.

use std::sync::Arc;

use ioxide_args::LearnArgs;
use ioxide_fsm::mealy::MachineNames;
use ioxide_learn::data::system::DataGate;
use ioxide_learn::data::{StartAssumption, ValuePlan};
use ioxide_learn::messages::Messages;
use ioxide_learn::register::oracle::DataExamination;
use ioxide_learn::session::{EarlierRuns, LearningSession};
use ioxide_learn::system::NoStore;
use ioxide_run::answers::collect_greeting;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::AnswerWait;

use super::super::line::LearningLine;
use super::super::page::LearningViewer;
use super::super::refusal::{learning_error, session_error};
use crate::commands::fsm::live::LiveSystem;
use crate::exit::{CliError, ExitStatus};
use crate::session::patience;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};

/// Returns the assumptions to begin with: those of `start`, or those that learning the `--reference` has found.
pub fn learn_assumptions(
    args: &LearnArgs,
    messages: &Messages,
    gates: &[DataGate],
    start: StartAssumption,
    test: &DataExamination,
    halt: &Halt,
) -> Result<StartAssumption, CliError> {
    let Some(path) = &args.reference else { return Ok(start) };
    let sut = format!("model:{path}");
    let system = SystemUnderTest::from_name(&sut, args.model.spec_source())?;
    let patience = patience(&system, args.quiescence_ms)?.default_time();
    let request = SolverRequest::new(&args.solver, halt.clone());
    let opener = SystemOpener::new(&system, Arc::new(messages.model.clone()), request);
    let taken = opener.open(0, test.seed, |adapter| {
        let preamble = collect_greeting(adapter, patience, halt).map_err(learning_error)?;
        let messages = Messages { model: messages.model.clone(), inputs: Default::default(), preamble };
        let names = MachineNames::default();
        let wait = AnswerWait::Quiescence;
        let mut live =
            LiveSystem::new(&messages, wait, &names, adapter, patience, halt)?.with_end_as_answer();
        let viewer = LearningViewer::default();
        let mut watcher = LearningLine::new(&viewer, halt).without_notes();
        let session = LearningSession {
            system: &mut live,
            copies: None,
            keeper: &mut NoStore,
            watcher: &mut watcher,
            messages: &messages,
            earlier: EarlierRuns::default(),
        };
        let plan = ValuePlan { gates, start: start.clone(), test, votes: None };
        let result = session.learn_values(plan).map_err(|error| session_error(args, halt, error))?;
        Ok(result.assumptions)
    });
    match taken {
        Err(stop) if stop.status() == ExitStatus::Inconclusive => {
            eprintln!(
                "note: the reference `{path}` does not help to learn values, so every query is sent: {}\n  \
                 (a simulated model chooses any value where the model leaves it open)",
                stop.message()
            );
            Ok(start)
        }
        taken => taken,
    }
}
