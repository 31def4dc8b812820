//! The way to the system that is learned: its connection, its copies, and the session that keeps its answers.

use std::sync::Arc;
use std::time::Duration;

use ioxide_args::{LearnArgs, UnstableArg};
use ioxide_fsm::mealy::MachineNames;
use ioxide_learn::copies::SystemCopies;
use ioxide_learn::messages::Messages;
use ioxide_learn::recheck::{AnswerDetail, LARGE_SAMPLE, SAMPLE};
use ioxide_learn::session::{EarlierRuns, LearningSession};
use ioxide_learn::system::{CopySource, MessageSystem};
use ioxide_model::label::Label;
use ioxide_run::answers::collect_greeting;
use ioxide_smt::halt::Halt;
use ioxide_testgen::tester::suite::AnswerWait;

use super::line::LearningLine;
use super::page::LearningViewer;
use super::recorded::read_known_runs;
use super::refusal::learning_error;
use super::session::{EarlierLines, SessionFile};
use crate::commands::fsm::live::{LiveSystem, LiveTestError};
use crate::exit::CliError;
use crate::session::patience;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};

/// The system of `--sut`, and the settings under which it is asked.
pub struct AskedSystem<'a> {
    /// The arguments of `learn`.
    pub args: &'a LearnArgs,
    /// The system.
    pub system: &'a SystemUnderTest,
    /// The time limit and the interrupt, which end the session.
    pub halt: &'a Halt,
    /// Seed of systems that take one.
    pub seed: u64,
    /// The page that shows the progress, if there is one.
    pub viewer: &'a LearningViewer,
}

/// The inputs of a session, as its file has them.
pub struct SessionInputs<'a> {
    /// The names of the inputs.
    pub names: Vec<String>,
    /// Reads an input of a run.
    pub read: &'a dyn Fn(&str) -> Option<Label>,
    /// The part of answers that is the same in every run.
    pub detail: AnswerDetail,
}

impl AskedSystem<'_> {
    /// Opens the system and the session file, and lets `learn` have both, with the time of earlier answers in words.
    pub fn open_session<T>(
        &self,
        mut messages: Messages,
        inputs: &SessionInputs<'_>,
        learn: impl FnOnce(LearningSession<'_, LiveTestError>, Option<String>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let Self { args, halt, seed, .. } = *self;
        let patience = patience(self.system, args.quiescence_ms)?.default_time();
        let request = SolverRequest::new(&args.solver, halt.clone());
        let opener = SystemOpener::new(self.system, Arc::new(messages.model.clone()), request);
        opener.open(0, seed, |adapter| {
            messages.preamble =
                collect_greeting(adapter, args.greeting(patience), halt).map_err(learning_error)?;
            let messages = &messages;
            let wait = if args.one_answer { AnswerWait::Output } else { AnswerWait::Quiescence };
            let names = MachineNames::default();
            let source = CopyOpener { opener: &opener, messages, wait, patience, halt, seed };
            let mut live =
                LiveSystem::new(messages, wait, &names, adapter, patience, halt)?.with_end_as_answer();
            let meter = self.viewer.meter();
            let (mut file, lines) = SessionFile::open(args, &messages.model, &inputs.names, meter)?;
            let session = lines.read_runs(&messages.model, inputs.read);
            let dated = lines.date_text(session.len());
            let earlier = EarlierRuns { session, recorded: read_known_runs(args, messages)? };
            let mut watcher = LearningLine::new(self.viewer, halt);
            let count = usize::from(args.jobs) - 1;
            let copies = (count > 0).then_some(SystemCopies { source: &source, count });
            let (system, keeper, watcher) = (&mut live, &mut file, &mut watcher);
            let mut session = LearningSession { system, copies, keeper, watcher, messages, earlier };
            refuse_changed_system(args, &lines, &mut session, inputs.detail)?;
            learn(session, dated)
        })
    }
}

/// Opens copies of the system in the way of the first.
struct CopyOpener<'a> {
    opener: &'a SystemOpener<'a>,
    messages: &'a Messages,
    wait: AnswerWait,
    patience: Duration,
    halt: &'a Halt,
    seed: u64,
}

impl CopySource<LiveTestError> for CopyOpener<'_> {
    fn open_copy(
        &self,
        number: usize,
        work: &mut dyn FnMut(&mut dyn MessageSystem<Error = LiveTestError>),
    ) -> Result<(), LiveTestError> {
        let Self { messages, wait, patience, halt, .. } = *self;
        let opened = self.opener.open(number, self.seed, |adapter| {
            let names = MachineNames::default();
            let mut live =
                LiveSystem::new(messages, wait, &names, adapter, patience, halt)?.with_end_as_answer();
            work(&mut live);
            Ok(())
        });
        opened.map_err(|stop| LiveTestError::Stop(Box::new(stop)))
    }
}

/// Asks some earlier answers again, and refuses the session if the system does not answer as it did.
fn refuse_changed_system(
    args: &LearnArgs,
    lines: &EarlierLines,
    session: &mut LearningSession<'_, LiveTestError>,
    detail: AnswerDetail,
) -> Result<(), CliError> {
    if args.unstable != UnstableArg::Stop && !session.earlier.session.is_empty() {
        eprintln!(
            "note: no earlier answer was checked again: with `--unstable` answers may differ from run to run"
        );
        return Ok(());
    }
    let n = if lines.is_identified { SAMPLE } else { LARGE_SAMPLE };
    let Some(change) = session.find_outdated_answer(n, detail).map_err(learning_error)? else {
        return Ok(());
    };
    let path = args.session.as_deref().unwrap_or_default();
    let then = lines.started.as_ref().map_or_else(String::new, |started| format!(" on {started}"));
    Err(CliError::usage(format!(
        "`{path}` does not fit the system any more: after {} it answered {}{then}, and now {}",
        change.inputs, change.before, change.now
    ))
    .help(
        "the system has changed, or gives different answers at times: name another file and learn it from the \
         start (`--unstable` chooses what happens when answers differ); the session keeps what it has",
    ))
}
