//! `ioxide learn`: a model from a running system, or from recorded runs.
//!
//! The model that is given says which messages there are; everything else is asked. What was answered is kept in a
//! session file as it comes, so that an interrupted session goes on where it was.

mod alphabet;
mod draft;
mod recorded;
mod session;
mod told;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use ioxide_fsm::mealy::{Names, OutputId};
use ioxide_fsm::reduce::Live;
use ioxide_fsm::suite::Method;
use ioxide_fsm::word::IoWord;
use ioxide_learn::observer::{Disagreement, Effort, LearnError, Observer};
use ioxide_learn::oracle::{Examination, Learned, Stage, learn};
use ioxide_model::sts::Model;
use ioxide_smt::halt::{Halt, Halted};
use ioxide_testgen::tester::suite::Wait;

use self::draft::Draft;
use self::session::{Kept, SessionFile};
use self::told::Told;
use super::fsm::live::{LiveSystem, Trouble};
use crate::args::{Learn, Unstable};
use crate::exit::{self, ExitStatus, Stop};
use crate::machine::Messages;
use crate::progress::Progress;
use crate::session::patience;
use crate::solver::Wanted;
use crate::system::{Opener, System};
use crate::{limit, load, machine, seed, write};

/// How long learning may take where nobody says: systems are slow.
const LEARNING: Duration = Duration::from_secs(3600);

/// Votes after which a system is given up.
const MAX_VOTES: u32 = 1000;

/// Learns from the system, or from what was recorded.
pub fn run(args: &Learn) -> Result<ExitStatus, Stop> {
    let (_, model) = load::model(&args.model.file, &args.model.settings())?;
    match &args.sut {
        None => recorded::run(args, model),
        Some(sut) => from_system(args, sut, model),
    }
}

fn from_system(args: &Learn, sut: &str, mut model: Model) -> Result<ExitStatus, Stop> {
    let method = method(&args.suite)?;
    if model.sts.is_timed() {
        return Err(Stop::usage("systems with time cannot be learned")
            .help("give a model with the same messages and without clocks"));
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
        extra: Some(args.extra),
        walks: args.walks,
        walk_length: args.walk_length,
        seed,
    };
    let mut messages = Messages { model, inputs, preamble: Vec::new() };
    let opener =
        Opener::new(&system, Arc::new(messages.model.clone()), Wanted::new(&args.solver, halt.clone()));
    opener.open(0, seed, |adapter| {
        let wait = if args.one_answer { Wait::Output } else { Wait::Quiescence };
        messages.preamble = LiveSystem::greeting(adapter, patience, halt).map_err(stopped)?;
        let mut live = LiveSystem::new(&messages, wait, &names, adapter, patience, halt)?.ending();
        let closed = args.closed.iter().map(|answer| live.named(answer)).collect();
        let (file, earlier) = SessionFile::open(args, &messages, &mut live)?;
        let lessons = Lessons { args, halt, examination: &examination, closed, n_inputs: names.inputs.len() };
        let (learned, observer) = lessons.take(Kept { live, file }, &earlier)?;
        let effort = earlier.effort(observer.effort);
        let live = &observer.live.live;
        let draft = Draft::new(&learned.machine, live.names(), live.answers(), &messages, None);
        let told = finish(args, &draft, &Told::of(sut, args, &learned, effort, seed, &messages))?;
        let partial = || limit::status(halt, ExitStatus::Inconclusive);
        exit::shown(if learned.is_stopped { partial() } else { ExitStatus::Success }, told)
    })
}

/// Writes the model and says how it was made; whether that could be shown.
fn finish(args: &Learn, draft: &Draft<'_>, told: &Told) -> Result<io::Result<()>, Stop> {
    let text = draft.text(args, told)?;
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

/// How a system is learned.
struct Lessons<'a> {
    args: &'a Learn,
    halt: &'a Halt,
    examination: &'a Examination,
    closed: Vec<OutputId>,
    n_inputs: usize,
}

type Heard<'a> = Observer<Kept<'a>>;

impl Lessons<'_> {
    /// Learns until nothing is found any more, a contradiction ends it, or somebody stops it.
    fn take<'a>(&self, live: Kept<'a>, earlier: &session::Earlier) -> Result<(Learned, Heard<'a>), Stop> {
        let mut observer = Observer::new(live, self.n_inputs, self.closed.clone());
        let mut memory = earlier.tree(self.n_inputs);
        let mut votes = 0;
        loop {
            observer.restart(memory);
            let mut progress = Progress::new();
            let mut watch = |stage: Stage, _: &_, observer: &Heard<'_>| {
                progress.tick(|| told::stage(stage, observer.effort));
                if self.halt.halted().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            match learn(&mut observer, self.examination, &mut watch) {
                Ok(learned) => return Ok((learned, observer)),
                Err(LearnError::System(Trouble::Halted(halted))) => return Err(self.without(halted)),
                Err(LearnError::System(trouble)) => return Err(stopped(trouble)),
                Err(LearnError::Disagrees(found)) if self.args.unstable == Unstable::Majority => {
                    votes += 1;
                    if votes > MAX_VOTES {
                        return Err(self.contradiction(&observer, &found));
                    }
                    let usual = self.vote(&mut observer, &found)?;
                    let word: Vec<_> = usual.iter().map(|&(input, _)| input).collect();
                    memory = observer.known().without(&word);
                    // The answer is new where it was taken out.
                    let _ = memory.note(&usual);
                }
                Err(LearnError::Disagrees(found)) => return Err(self.contradiction(&observer, &found)),
            }
        }
    }

    /// There was no machine, or something spoke against the last one, when the time was over.
    fn without(&self, halted: Halted) -> Stop {
        let stop = Stop::new(
            limit::status(self.halt, ExitStatus::Inconclusive),
            format!("no machine: {halted} before there was one that agrees with everything that was seen"),
        );
        stop.help(match self.args.session {
            Some(_) => "raise `--time-limit`: the same command goes on from the session",
            None => "raise `--time-limit`, use fewer inputs, or keep what is answered with `--session FILE`",
        })
    }

    /// Repeats a run that was answered in two ways; the most frequent answer.
    fn vote(&self, observer: &mut Heard<'_>, found: &Disagreement) -> Result<IoWord, Stop> {
        let mut counts: BTreeMap<IoWord, u32> = BTreeMap::new();
        for _ in 0..self.args.votes.max(1) {
            observer.live.reset().map_err(stopped)?;
            let mut seen = IoWord::new();
            for &(input, _) in &found.now {
                seen.push((input, observer.live.step(input).map_err(stopped)?));
            }
            observer.effort = observer.effort.plus(Effort { resets: 1, symbols: seen.len() as u64 });
            *counts.entry(seen).or_default() += 1;
        }
        let names = observer.live.live.names();
        let usual = counts.into_iter().max_by_key(|(_, count)| *count);
        let (usual, count) = usual.unwrap_or_else(|| (found.now.clone(), 0));
        let answer = usual.last().map_or("", |&(_, output)| &names.outputs[output]);
        eprintln!(
            "note: after {} inputs the system answers in several ways; {count} of {} times it was {answer}, \
             which is believed",
            found.now.len(),
            self.args.votes.max(1),
        );
        Ok(usual)
    }

    fn contradiction(&self, observer: &Heard<'_>, found: &Disagreement) -> Stop {
        let names = observer.live.live.names();
        let show = |run: &IoWord| {
            let step =
                |&(input, output): &(_, _)| format!("{}/{}", names.inputs[input], names.outputs[output]);
            run.iter().map(step).collect::<Vec<_>>().join(" ")
        };
        let Effort { resets, symbols } = observer.effort;
        Stop::new(
            ExitStatus::Inconclusive,
            format!(
                "the system answers the same inputs in two ways, after {resets} resets and {symbols} inputs\n  \
                 earlier: {}\n  now:     {}",
                show(&found.before),
                show(&found.now)
            ),
        )
        .help(
            "does a reset bring it to its first state? are answers later than the quiescence time? \
             `--unstable majority` believes the usual answer",
        )
    }
}
