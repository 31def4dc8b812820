//! Learning a system to the end: until nothing is found any more, a contradiction is dealt with, or somebody stops it.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, Mealy, OutputId, Spec};
use ioxide_fsm::reduce::Live;
use ioxide_fsm::word::IoWord;
use ioxide_learn::observer::{Disagreement, Effort, LearnError, Observer};
use ioxide_learn::oracle::{Examination, Learned, Stage, learn, revisit};
use ioxide_learn::several::{Drafting, SeveralDraft, draft};
use ioxide_learn::votes::confidence;
use ioxide_smt::halt::{Halt, Halted};

use super::session::{Earlier, Kept};
use super::stopped;
use super::told::Watching;
use crate::args::{Learn, Unstable};
use crate::commands::fsm::live::Trouble;
use crate::exit::{ExitStatus, Stop};
use crate::limit;

/// Contradictions that are put to the vote before a system is given up.
const MAX_VOTES: u32 = 1000;

/// How much longer than wished a run is repeated while the vote is not sure.
const RUNOFF: u32 = 10;

/// Walks that look for what a draft with choices does not have, where nobody says how many.
const DRAFT_WALKS: usize = 300;

/// How a system is learned.
pub struct Lessons<'a> {
    /// What was asked for.
    pub args: &'a Learn,
    /// Says when to ask no more.
    pub halt: &'a Halt,
    /// How hypotheses are tested.
    pub examination: &'a Examination,
    /// Answers after which everything is over.
    pub closed: Vec<OutputId>,
    /// How many inputs there are.
    pub n_inputs: usize,
    /// An earlier version.
    pub reference: Option<Reference>,
}

/// An earlier version of a system.
pub struct Reference {
    /// What it did.
    pub spec: Spec,
    /// Which input of the system each of its inputs is.
    pub inputs: Vec<Option<InputId>>,
}

/// A system, and what was heard of it.
pub type Heard<'a> = Observer<Kept<'a>>;

/// What was learned.
pub enum Lesson {
    /// A machine.
    Machine(Learned),
    /// A machine that answers in several ways.
    Several(SeveralDraft),
}

/// What was learned, and how sure that is.
pub struct Taken<'a> {
    /// What was learned.
    pub lesson: Lesson,
    /// The system and what it has cost.
    pub observer: Heard<'a>,
    /// How sure each vote was.
    pub votes: Vec<f64>,
}

impl Lessons<'_> {
    /// Learns until nothing is found any more, a contradiction ends it, or somebody stops it.
    pub fn take<'a>(&self, live: Kept<'a>, earlier: &Earlier) -> Result<Taken<'a>, Stop> {
        let mut observer = Observer::new(live, self.n_inputs, self.closed.clone());
        let mut memory = earlier.tree(self.n_inputs);
        let mut votes = Vec::new();
        loop {
            observer.restart(memory);
            let found = match self.learn(&mut observer) {
                Ok(learned) => return Ok(Taken { lesson: Lesson::Machine(learned), observer, votes }),
                Err(LearnError::System(Trouble::Halted(halted))) => return Err(self.without(halted)),
                Err(LearnError::System(trouble)) => return Err(stopped(trouble)),
                Err(LearnError::Disagrees(found)) => found,
            };
            match self.args.unstable {
                Unstable::Majority if votes.len() < MAX_VOTES as usize => {
                    let (usual, sure) = self.vote(&mut observer, &found)?;
                    votes.push(sure);
                    let word: Vec<_> = usual.iter().map(|&(input, _)| input).collect();
                    memory = observer.known().without(&word);
                    // The answer is new where it was taken out.
                    let _ = memory.note(&usual);
                }
                Unstable::Draft => {
                    self.tell(&observer, &found);
                    let lesson = Lesson::Several(self.several(&mut observer, &found)?);
                    return Ok(Taken { lesson, observer, votes });
                }
                Unstable::Stop | Unstable::Majority => return Err(self.contradiction(&observer, &found)),
            }
        }
    }

    fn learn(&self, observer: &mut Heard<'_>) -> Result<Learned, LearnError<Trouble>> {
        if let Some(Reference { spec, inputs }) = &self.reference {
            revisit(observer, spec, inputs)?;
        }
        let mut watching = Watching::new();
        let mut watch = |stage: Stage, _: &_, observer: &Heard<'_>| {
            watching.stage(stage, observer.effort);
            if self.halt.halted().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        learn(observer, self.examination, &mut watch)
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

    /// Repeats a run that was answered in two ways; the most frequent answer, and how sure it is the usual one.
    fn vote(&self, observer: &mut Heard<'_>, found: &Disagreement) -> Result<(IoWord, f64), Stop> {
        let mut counts: BTreeMap<IoWord, u32> = BTreeMap::new();
        let wanted = f64::from(self.args.confidence) / 100.0;
        let mut n = 0;
        let mut most = || -> Result<(IoWord, u32), Stop> {
            *counts.entry(repeated(observer, found)?).or_default() += 1;
            let usual = counts.iter().max_by_key(|(_, count)| **count);
            Ok(usual.map_or_else(|| (found.now.clone(), 0), |(run, count)| (run.clone(), *count)))
        };
        let (usual, count) = loop {
            n += 1;
            let (usual, count) = most()?;
            let is_sure = n >= self.args.votes && confidence(count, n) >= wanted;
            if is_sure || n >= self.args.votes.saturating_mul(RUNOFF) {
                break (usual, count);
            }
        };
        let sure = confidence(count, n);
        let names = observer.live.live.names();
        let answer = usual.last().map_or("", |&(_, output)| &names.outputs[output]);
        eprintln!(
            "note: after {} inputs the system answers in several ways; {count} of {n} times it was {answer}, \
             which is believed (confidence {:.1}% that it is the usual one)",
            found.now.len(),
            sure * 100.0,
        );
        Ok((usual, sure))
    }

    /// Drafts a machine that may answer in several ways, with all that was seen so far.
    fn several(&self, observer: &mut Heard<'_>, found: &Disagreement) -> Result<SeveralDraft, Stop> {
        let mut earlier = observer.known().runs();
        earlier.push(found.now.clone());
        let walks = if self.args.walks == 0 { DRAFT_WALKS } else { self.args.walks };
        let drafting = Drafting {
            repetitions: self.args.votes,
            walks,
            walk_length: self.args.walk_length,
            seed: self.examination.seed,
        };
        let mut watching = Watching::new();
        let mut watch = |states: usize, effort: Effort| {
            watching.several(states, effort);
            if self.halt.halted().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let made = draft(&mut observer.live, self.n_inputs, &earlier, &drafting, &mut watch);
        let (draft, effort) = made.map_err(|trouble| match trouble {
            Trouble::Halted(halted) => self.without(halted),
            trouble => stopped(trouble),
        })?;
        observer.effort = observer.effort.plus(effort);
        Ok(draft)
    }

    fn tell(&self, observer: &Heard<'_>, found: &Disagreement) {
        eprintln!("note: {}; it is drafted with choices", two_ways(observer, found));
    }

    fn contradiction(&self, observer: &Heard<'_>, found: &Disagreement) -> Stop {
        Stop::new(ExitStatus::Inconclusive, two_ways(observer, found)).help(
            "does a reset bring it to its first state? are answers later than the quiescence time? \
             `--unstable majority` believes the usual answer, `--unstable draft` writes a model with choices",
        )
    }
}

/// The run of a contradiction once more.
fn repeated(observer: &mut Heard<'_>, found: &Disagreement) -> Result<IoWord, Stop> {
    observer.live.reset().map_err(stopped)?;
    let mut seen = IoWord::new();
    for &(input, _) in &found.now {
        seen.push((input, observer.live.step(input).map_err(stopped)?));
    }
    observer.effort = observer.effort.plus(Effort { resets: 1, symbols: seen.len() as u64 });
    Ok(seen)
}

/// The two runs that disagree, side by side.
fn two_ways(observer: &Heard<'_>, found: &Disagreement) -> String {
    let names = observer.live.live.names();
    let show = |run: &IoWord| {
        let step = |&(input, output): &(_, _)| format!("{}/{}", names.inputs[input], names.outputs[output]);
        run.iter().map(step).collect::<Vec<_>>().join(" ")
    };
    let Effort { resets, symbols } = observer.effort;
    format!(
        "the system answers the same inputs in two ways, after {resets} resets and {symbols} inputs\n  \
         earlier: {}\n  now:     {}",
        show(&found.before),
        show(&found.now)
    )
}

/// A machine as something to compare with; what it does not answer it ignores.
pub fn reference(machine: &Mealy, ignoring: &str) -> Option<Spec> {
    let whole = machine.completed(&ioxide_fsm::mealy::Completion::SelfLoop(ignoring.to_owned()));
    Spec::reduced(&whole).ok()
}
