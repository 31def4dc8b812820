//! `ioxide learn`: a model from a running system, or from recorded runs.
//!
//! The model that is given says which messages there are; everything else is asked. What was answered is kept in a
//! session file as it comes, so that an interrupted session goes on where it was.

mod alphabet;
mod crew;
mod data;
mod draft;
mod lessons;
pub mod parts;
mod recorded;
mod session;
mod timed;
mod told;

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, Mealy, Names};
use ioxide_fsm::suite::Method;
use ioxide_fsm::word::Word;
use ioxide_learn::oracle::Examination;
use ioxide_model::sts::Model;
use ioxide_testgen::tester::suite::Wait;

use self::crew::{Crew, Home, Queue, Task};
use self::draft::Draft;
use self::lessons::{Lesson, Lessons, Reference, Taken};
use self::session::{Earlier, Kept, SessionFile};
use self::told::Told;
use super::fsm::live::{LiveSystem, Trouble};
use crate::args::Learn;
use crate::exit::{self, ExitStatus, Stop};
use crate::machine::{Machine, Messages};
use crate::session::patience;
use crate::solver::Wanted;
use crate::system::{Opener, System};
use crate::{limit, load, machine, planned, seed, write};

/// Extra states where nobody says how many.
const EXTRA: usize = 2;

/// How long learning may take where nobody says: systems are slow.
const LEARNING: Duration = Duration::from_secs(3600);

/// Learns from the system, or from what was recorded.
pub fn run(args: &Learn) -> Result<ExitStatus, Stop> {
    if args.part.is_planned() {
        return parts::run(args);
    }
    planned::whole(&args.part)?;
    session(args)
}

/// Does the whole session.
fn session(args: &Learn) -> Result<ExitStatus, Stop> {
    let (_, model) = load::model(&args.model.file, &args.model.settings())?;
    match &args.sut {
        None => recorded::run(args, model),
        Some(sut) if args.time => timed::run(args, sut, model),
        Some(sut) if args.data => data::run(args, sut, model),
        Some(sut) => from_system(args, sut, model),
    }
}

fn from_system(args: &Learn, sut: &str, mut model: Model) -> Result<ExitStatus, Stop> {
    let method = method(&args.suite)?;
    if model.sts.is_timed() {
        return Err(Stop::usage("this model has clocks: `--time` learns time-outs").help(
            "to learn what does not depend on time, give a model with the same messages and without clocks",
        ));
    }
    let halt = &limit::halt_within(&args.limit, LEARNING);
    let inputs = alphabet::chosen(args, &model)?;
    let system = System::named(sut)?;
    machine::know_outputs(&mut model, &system);
    let patience = patience(&system, sut, args.quiescence_ms)?.default_time();
    let names = Names { inputs: inputs.keys().cloned().collect(), ..Names::default() };
    let seed = args.seed.unwrap_or_else(seed::fresh);
    let examination = Examination {
        method,
        extra: Some(args.extra.unwrap_or(EXTRA)),
        walks: args.walks,
        walk_length: args.walk_length,
        seed,
    };
    let wanted = Wanted::new(&args.solver, halt.clone());
    let reference = reference(args, &names, &wanted)?;
    let mut messages = Messages { model, inputs, preamble: Vec::new() };
    let opener = Opener::new(&system, Arc::new(messages.model.clone()), wanted);
    opener.open(0, seed, |adapter| {
        let wait = if args.one_answer { Wait::Output } else { Wait::Quiescence };
        messages.preamble = LiveSystem::greeting(adapter, patience, halt).map_err(stopped)?;
        let messages = &messages;
        let task = Task { opener: &opener, messages, wait, names: &names, patience, halt, seed };
        let queue: Queue<Word> = Queue::default();
        std::thread::scope(|scope| {
            let _home = Home(&queue);
            let copies = usize::from(args.jobs) - 1;
            let crew = (copies > 0).then(|| Crew::start(scope, &task, &queue, copies));
            let mut live = LiveSystem::new(messages, wait, &names, adapter, patience, halt)?.ending();
            let closed = args.closed.iter().map(|answer| live.named(answer)).collect();
            let (file, mut earlier) = SessionFile::open(args, messages, &mut live)?;
            earlier.add_recorded(recorded::seeds(args, messages, &mut live)?);
            let n_inputs = names.inputs.len();
            let lessons = Lessons { args, halt, examination: &examination, closed, n_inputs, reference };
            let taken = lessons.take(Kept { live, file, crew }, &earlier)?;
            let shown = show(args, sut, &taken, &earlier, seed, messages)?;
            let is_stopped = match &taken.lesson {
                Lesson::Machine(learned) => learned.is_stopped,
                Lesson::Several(draft) => draft.is_stopped,
            };
            let partial = || limit::status(halt, ExitStatus::Inconclusive);
            exit::shown(if is_stopped { partial() } else { ExitStatus::Success }, shown)
        })
    })
}

/// Writes what was learned, and says how.
fn show(
    args: &Learn,
    sut: &str,
    taken: &Taken<'_>,
    earlier: &Earlier,
    seed: u64,
    messages: &Messages,
) -> Result<io::Result<()>, Stop> {
    let effort = earlier.effort(taken.observer.effort);
    let live = &taken.observer.live.live;
    let (names, answers) = (live.names(), live.answers());
    match &taken.lesson {
        Lesson::Machine(learned) => {
            let draft = Draft::new(&learned.machine, names, answers, messages, None);
            finish(args, &draft, &Told::of(sut, args, learned, effort, seed, messages).voted(&taken.votes))
        }
        Lesson::Several(several) => {
            let draft = Draft::several(several, names, answers, messages);
            finish(args, &draft, &Told::of_several(sut, args, several, effort, seed, messages))
        }
    }
}

/// The earlier version that was named, and which input each of its inputs is.
fn reference(args: &Learn, names: &Names, wanted: &Wanted<'_>) -> Result<Option<Reference>, Stop> {
    let Some(path) = &args.reference else { return Ok(None) };
    let machine = Machine::load(path, &[], wanted)?;
    let refused = |why: String| {
        Stop::new(ExitStatus::Model, format!("`{path}`: {why}"))
            .help("a reference is a deterministic machine; a draft from records will do")
    };
    let mealy = Mealy::from_listing(&machine.listing).map_err(|refusal| refused(refusal.to_string()))?;
    let spec = lessons::reference(&mealy, machine.ignoring())
        .ok_or_else(|| refused("it is no machine to compare with".into()))?;
    let inputs: Vec<Option<InputId>> = spec.names().inputs.iter().map(|name| names.input(name)).collect();
    if inputs.iter().all(Option::is_none) {
        return Err(refused("it has none of the inputs that are learned with".into()));
    }
    Ok(Some(Reference { spec, inputs }))
}

/// Writes the model and says how it was made; whether that could be shown.
fn finish(args: &Learn, draft: &Draft<'_>, told: &Told) -> Result<io::Result<()>, Stop> {
    put(args, &draft.text(args, told)?, told)
}

/// Puts the model where it was asked for; whether what there is to say could be shown.
fn put(args: &Learn, text: &str, told: &Told) -> Result<io::Result<()>, Stop> {
    if args.part.part.is_some() {
        return parts::keep(args, text, told).map(Ok);
    }
    let Some(path) = &args.out else {
        told.lines().iter().for_each(|line| eprintln!("{line}"));
        return Ok(io::stdout().lock().write_all(text.as_bytes()));
    };
    write::named(path, |out| out.write_all(text.as_bytes()))?;
    let mut out = io::stdout().lock();
    if args.json {
        return Ok(writeln!(out, "{}", told.json(path)));
    }
    Ok(told.lines().iter().try_for_each(|line| writeln!(out, "{line}")))
}

fn method(name: &str) -> Result<Method, Stop> {
    name.parse().map_err(|_| {
        let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
        Stop::usage(format!("there is no suite method `{name}`"))
            .help(format!("there is {}", names.join(", ")))
    })
}

/// Trouble with the system, for the one who started this.
fn stopped(trouble: Trouble) -> Stop {
    trouble.into_stop(|said| {
        let message =
            format!("the system does not always greet alike: now it says {said} before the first input");
        Stop::new(ExitStatus::Inconclusive, message)
    })
}
