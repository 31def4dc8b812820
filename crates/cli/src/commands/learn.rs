//! `ioxide learn`: a model from a running system, or from recorded runs.
//!
//! The model that is given says which messages there are; everything else is asked. What was answered is kept in a
//! session file as it comes, so that an interrupted session goes on where it was.

mod again;
mod alphabet;
mod copies;
mod data;
mod draft;
mod drawing;
mod line;
mod origin;
mod page;
pub mod parts;
mod recorded;
mod session;
mod setup;
mod timed;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, MachineNames, Mealy};
use ioxide_fsm::suite::SuiteMethod;
use ioxide_fsm::word::Word;
use ioxide_learn::oracle::{HypothesisTest, OracleSuites};
use ioxide_model::sts::Model;
use ioxide_testgen::tester::suite::AnswerWait;

use self::copies::{PoolGuard, QuestionQueue, WorkerPool, WorkerTask};
use self::draft::LearnedDraft;
use self::origin::MachineOrigin;
use self::page::{LearningPage, LearningViewer};
use self::session::{EarlierSessions, KeptAnswers, SessionFile};
use self::setup::{LearnedLesson, LearnedModel, LearningSetup, Reference};
use super::fsm::live::{LiveSystem, LiveTestError};
use crate::args::LearnArgs;
use crate::exit::{self, CliError, ExitStatus};
use crate::machine::{Messages, NamedMachine};
use crate::session::patience;
use crate::solver::SolverRequest;
use crate::system::{SystemOpener, SystemUnderTest};
use crate::{limit, load, machine, redaction, seed, unit_command, write};

/// The extra states without `--extra`.
const DEFAULT_EXTRA_STATES: usize = 2;

/// The name of suites by more than one method.
const MIXED: &str = "mixed";

/// The default time limit of learning; systems are slow to answer.
const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(3600);

/// Learns from a system, or from recorded runs.
pub fn run(args: &LearnArgs) -> Result<ExitStatus, CliError> {
    if args.part.is_planned() {
        return parts::run(args);
    }
    unit_command::whole(&args.part)?;
    session(args)
}

/// Learns from the recorded runs or from the system, and writes the model.
fn session(args: &LearnArgs) -> Result<ExitStatus, CliError> {
    let (_, model) = load::load_model(&args.model.file, &args.model.settings())?;
    let Some(sut) = &args.sut else { return recorded::run(args, model) };
    let page = LearningPage::serve(args, sut)?;
    let viewer = page.viewer();
    let outcome = match () {
        () if args.time => timed::run(args, sut, model, viewer),
        () if args.data => data::run(args, sut, model, viewer),
        () => from_system(args, sut, model, viewer),
    };
    page.serve_until_interrupted(outcome)
}

fn from_system(
    args: &LearnArgs,
    sut: &str,
    mut model: Model,
    viewer: &LearningViewer,
) -> Result<ExitStatus, CliError> {
    let suites = suites(&args.suite)?;
    if model.sts.is_timed() {
        return Err(CliError::usage("this model has clocks: `--time` learns time-outs").help(
            "to learn what does not depend on time, give a model with the same messages and without clocks",
        ));
    }
    let halt = &limit::halt_within(&args.limit, DEFAULT_TIME_LIMIT);
    let inputs = alphabet::choose_inputs(args, &model)?;
    let system = SystemUnderTest::from_name(sut, args.model.spec_source())?;
    machine::know_outputs(&mut model, &system);
    let patience = patience(&system, sut, args.quiescence_ms)?.default_time();
    let names = MachineNames { inputs: inputs.keys().cloned().collect(), ..MachineNames::default() };
    let seed = args.seed.unwrap_or_else(seed::fresh_seed);
    let examination = HypothesisTest {
        suites,
        extra: Some(args.extra.unwrap_or(DEFAULT_EXTRA_STATES)),
        walks: args.walks,
        walk_length: args.walk_length,
        seed,
    };
    let request = SolverRequest::new(&args.solver, halt.clone());
    let reference = reference(args, &names, &request)?;
    viewer.begins(names.inputs.len(), examination.extra.unwrap_or(0));
    let mut messages = Messages { model, inputs, preamble: Vec::new() };
    let opener = SystemOpener::new(&system, Arc::new(messages.model.clone()), request);
    opener.open(0, seed, |adapter| {
        let wait = if args.one_answer { AnswerWait::Output } else { AnswerWait::Quiescence };
        messages.preamble =
            LiveSystem::greeting(adapter, args.greeting(patience), halt).map_err(learning_error)?;
        let messages = &messages;
        let task = WorkerTask { opener: &opener, messages, wait, names: &names, patience, halt, seed };
        let queue: QuestionQueue<Word> = QuestionQueue::default();
        std::thread::scope(|scope| {
            let _home = PoolGuard(&queue);
            let copies = usize::from(args.jobs) - 1;
            let crew = (copies > 0).then(|| WorkerPool::start(scope, &task, &queue, copies));
            let mut live = LiveSystem::new(messages, wait, &names, adapter, patience, halt)?.ending();
            let closed = args.closed.iter().map(|answer| live.output_id(answer)).collect();
            let (mut file, mut earlier) = SessionFile::open(args, messages, &mut live)?;
            file.meter = viewer.meter();
            earlier.add_recorded(recorded::seeds(args, messages, &mut live)?);
            let n_inputs = names.inputs.len();
            let lessons =
                LearningSetup { args, halt, examination: &examination, closed, n_inputs, reference, viewer };
            let taken = lessons.learn_machine(KeptAnswers { live, file, crew }, &earlier)?;
            let shown = lessons.show(sut, &taken, &earlier, messages)?;
            let is_stopped = match &taken.lesson {
                LearnedModel::Machine(learned) => learned.is_stopped,
                LearnedModel::Several(draft) => draft.is_stopped,
            };
            let partial = || limit::status(halt, ExitStatus::Inconclusive);
            exit::status_after_output(if is_stopped { partial() } else { ExitStatus::Success }, shown)
        })
    })
}

impl LearningSetup<'_> {
    /// Writes the model, and reports how it was learned.
    fn show(
        &self,
        sut: &str,
        taken: &LearnedLesson<'_>,
        earlier: &EarlierSessions,
        messages: &Messages,
    ) -> Result<io::Result<()>, CliError> {
        let (args, seed) = (self.args, self.examination.seed);
        let effort = earlier.effort(taken.observer.effort);
        let live = &taken.observer.live.live;
        let (names, answers) = (live.names(), live.answers());
        let (draft, told) = match &taken.lesson {
            LearnedModel::Machine(learned) => {
                self.viewer.draw(|| drawing::of_machine(learned.hypotheses, &learned.machine, names));
                self.viewer.guarantee(|| learned.guarantee.description());
                let draft = LearnedDraft::new(&learned.machine, names, answers, messages, None);
                let origin = MachineOrigin::from_machine(sut, args, learned, effort, seed, messages)
                    .with_votes(&taken.votes);
                (draft, origin.with_date(earlier.dated.as_ref()))
            }
            LearnedModel::Several(several) => {
                self.viewer.draw(|| drawing::of_several(taken.hypotheses, several, names));
                let draft = LearnedDraft::from_several(several, names, answers, messages);
                let origin = MachineOrigin::of_several(sut, args, several, effort, seed, messages);
                (draft, origin.with_date(earlier.dated.as_ref()))
            }
        };
        write_model(args, &draft.write_text(args, &told)?, &told, self.viewer)
    }
}

/// The earlier version that was named, and which input each of its inputs is.
fn reference(
    args: &LearnArgs,
    names: &MachineNames,
    request: &SolverRequest<'_>,
) -> Result<Option<Reference>, CliError> {
    let Some(path) = &args.reference else { return Ok(None) };
    let machine = NamedMachine::load(path, &[], request)?;
    let refused = |why: String| {
        CliError::new(ExitStatus::Model, format!("`{path}`: {why}"))
            .help("a reference is a deterministic machine; a draft from records will do")
    };
    let mealy = Mealy::from_listing(&machine.listing).map_err(|refusal| refused(refusal.to_string()))?;
    let spec = setup::reference(&mealy, machine.ignoring())
        .ok_or_else(|| refused("it is no machine to compare with".into()))?;
    let inputs: Vec<Option<InputId>> = spec.names().inputs.iter().map(|name| names.input(name)).collect();
    if inputs.iter().all(Option::is_none) {
        return Err(refused("it has none of the inputs that are learned with".into()));
    }
    Ok(Some(Reference { spec, inputs }))
}

/// Writes the model and reports how it was made; the inner result says whether the report could be written.
fn finish(
    args: &LearnArgs,
    draft: &LearnedDraft<'_>,
    origin: &MachineOrigin,
) -> Result<io::Result<()>, CliError> {
    write_model(args, &draft.write_text(args, origin)?, origin, &LearningViewer::default())
}

/// Writes the model to its part, its file or stdout; the inner result says whether the report could be written.
fn write_model(
    args: &LearnArgs,
    text: &str,
    origin: &MachineOrigin,
    viewer: &LearningViewer,
) -> Result<io::Result<()>, CliError> {
    if args.part.part.is_some() {
        return parts::keep_result(args, text, origin).map(Ok);
    }
    let Some(path) = &args.out else {
        origin.lines().iter().for_each(|line| eprintln!("{line}"));
        let mut out = redaction::stdout();
        let shown = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        viewer.show_written(origin, None);
        return Ok(shown);
    };
    write::write_named(path, |out| out.write_all(text.as_bytes()))?;
    viewer.show_written(origin, Some(path));
    let mut out = redaction::stdout();
    if args.json {
        return Ok(writeln!(out, "{}", origin.to_json(path)));
    }
    Ok(origin.lines().iter().try_for_each(|line| writeln!(out, "{line}")))
}

/// The suites that `--suite` names.
fn suites(name: &str) -> Result<OracleSuites, CliError> {
    if name == MIXED {
        return Ok(OracleSuites::Mixed);
    }
    name.parse::<SuiteMethod>().map(OracleSuites::Of).map_err(|_| {
        let names: Vec<&str> = SuiteMethod::ALL.iter().map(|method| method.name()).collect();
        CliError::usage(format!("there is no suite method `{name}`"))
            .help(format!("there is {MIXED}, {}", names.join(", ")))
    })
}

/// Returns the error of a system that failed while it was learned.
fn learning_error(trouble: LiveTestError) -> CliError {
    trouble.into_stop(|said| {
        let message =
            format!("the system does not always greet alike: now it says {said} before the first input");
        CliError::new(ExitStatus::Inconclusive, message)
    })
}
