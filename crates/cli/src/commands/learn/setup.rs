//! Learning a system to the end: until no counterexample is found, a contradiction is dealt with, or the session is
//! stopped.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use ioxide_fsm::mealy::{InputId, Mealy, OutputId, SuiteModel};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::IoWord;
use ioxide_learn::learner::Learner;
use ioxide_learn::observer::{Disagreement, LearnError, LearningEffort, SystemObserver};
use ioxide_learn::oracle::{
    HypothesisTest, LearnedGuarantee, LearnedMachine, LearningStage, ask_reference_suite, learn,
};
use ioxide_learn::several::{Drafting, SeveralDraft, draft_machine};
use ioxide_learn::votes::confidence;
use ioxide_smt::halt::{Halt, Halted};

use super::drawing;
use super::learning_error;
use super::line::LearningLine;
use super::page::LearningViewer;
use super::session::{EarlierSessions, KeptAnswers};
use crate::args::{LearnArgs, UnstableArg};
use crate::commands::fsm::live::LiveTestError;
use crate::counted::count_noun;
use crate::exit::{CliError, ExitStatus};
use crate::limit;

/// Contradictions that are put to the vote before a system is given up.
const MAX_VOTES: u32 = 1000;

/// The factor on the wished repetitions after which a vote ends though its confidence is too low.
const MAX_REPETITION_FACTOR: u32 = 10;

/// The number of walks that test a draft with choices, without `--walks`.
const DRAFT_WALKS: usize = 300;

/// The settings under which a system is learned.
pub struct LearningSetup<'a> {
    /// The arguments of `learn`.
    pub args: &'a LearnArgs,
    /// The time limit and the interrupt, which end the session.
    pub halt: &'a Halt,
    /// The suites and walks that test hypotheses.
    pub examination: &'a HypothesisTest,
    /// The answers after which no other answer follows.
    pub closed: Vec<OutputId>,
    /// The number of inputs.
    pub n_inputs: usize,
    /// An earlier version.
    pub reference: Option<Reference>,
    /// The page that shows the progress, if there is one.
    pub viewer: &'a LearningViewer,
}

/// An earlier version of a system.
pub struct Reference {
    /// The machine of the earlier version.
    pub spec: SuiteModel,
    /// The input of the system for each input of the earlier version; `None` if the system is not learned with it.
    pub inputs: Vec<Option<InputId>>,
}

/// A system, and the observations of it.
pub type ObservedSystem<'a> = SystemObserver<KeptAnswers<'a>>;

/// The result of learning.
pub enum LearnedModel {
    /// A machine.
    Machine(LearnedMachine),
    /// A machine that answers in several ways.
    Several(SeveralDraft),
}

/// The result of learning, with its effort and the confidence of votes.
pub struct LearnedLesson<'a> {
    /// The machine, or the draft with choices.
    pub lesson: LearnedModel,
    /// The system, and the effort so far.
    pub observer: ObservedSystem<'a>,
    /// The confidence of each vote, between 0 and 1.
    pub votes: Vec<f64>,
    /// The number of hypotheses, with those before a contradiction.
    pub hypotheses: usize,
}

impl LearningSetup<'_> {
    /// Learns until no counterexample is found, a contradiction ends the session, or the session is stopped.
    pub fn learn_machine<'a>(
        &self,
        live: KeptAnswers<'a>,
        earlier: &EarlierSessions,
    ) -> Result<LearnedLesson<'a>, CliError> {
        let mut observer = SystemObserver::new(live, self.n_inputs, self.closed.clone());
        let mut memory = earlier.tree(self.n_inputs);
        let mut votes = Vec::new();
        let mut watching = LearningLine::new(self.viewer);
        loop {
            observer.restart(memory);
            let earlier = watching.hypotheses();
            let found = match self.learn(&mut observer, &mut watching) {
                Ok(mut learned) => {
                    learned.hypotheses += earlier;
                    let hypotheses = learned.hypotheses;
                    let lesson = LearnedModel::Machine(learned);
                    return Ok(LearnedLesson { lesson, observer, votes, hypotheses });
                }
                Err(LearnError::System(LiveTestError::Halted(halted))) => return Err(self.without(halted)),
                Err(LearnError::System(trouble)) => return Err(learning_error(trouble)),
                Err(LearnError::Disagrees(found)) => found,
            };
            self.viewer.disagreement(&two_ways(&observer, &found));
            match self.args.unstable {
                UnstableArg::Majority if votes.len() < MAX_VOTES as usize => {
                    let (usual, sure) = self.vote(&mut observer, &found)?;
                    votes.push(sure);
                    let word: Vec<_> = usual.iter().map(|&(input, _)| input).collect();
                    memory = observer.all_answers().without_inputs(&word);
                    // The answer is new where it was taken out.
                    let _ = memory.insert_run(&usual);
                }
                UnstableArg::Draft => {
                    self.print_disagreement(&observer, &found);
                    let hypotheses = watching.hypotheses() + 1;
                    let draft = self.draft_with_choices(&mut observer, &found, &mut watching)?;
                    let lesson = LearnedModel::Several(draft);
                    return Ok(LearnedLesson { lesson, observer, votes, hypotheses });
                }
                UnstableArg::Stop | UnstableArg::Majority => {
                    return Err(self.contradiction(&observer, &found));
                }
            }
        }
    }

    fn learn(
        &self,
        observer: &mut ObservedSystem<'_>,
        watching: &mut LearningLine<'_>,
    ) -> Result<LearnedMachine, LearnError<LiveTestError>> {
        if let Some(Reference { spec, inputs }) = &self.reference {
            ask_reference_suite(observer, spec, inputs)?;
        }
        let mut told = None;
        let mut watch = |stage: LearningStage, learner: &Learner, observer: &ObservedSystem<'_>| {
            watching.stage(stage, observer.effort, LearnedGuarantee::description);
            let names = observer.live.live.names();
            if self.viewer.is_there() && learner.last_surprise() != told.as_ref() {
                told = learner.last_surprise().cloned();
                told.iter().for_each(|found| watching.surprise(|| drawing::surprise(found, names)));
            }
            watching.draw(|number| drawing::of_machine(number, &learner.machine(&observer.tree), names));
            if self.halt.halt_reason().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        learn(observer, self.examination, &mut watch)
    }

    /// Returns the error of a session that ended before a machine agreed with all runs.
    fn without(&self, halted: Halted) -> CliError {
        let stop = CliError::new(
            limit::status(self.halt, ExitStatus::Inconclusive),
            format!("no machine: {halted} before there was one that agrees with everything that was seen"),
        );
        stop.help(match self.args.session {
            Some(_) => "raise `--time-limit`: the same command goes on from the session",
            None => "raise `--time-limit`, use fewer inputs, or keep what is answered with `--session FILE`",
        })
    }

    /// Repeats a run that was answered in two ways; returns the most frequent run and the confidence that it is the
    /// usual one.
    fn vote(
        &self,
        observer: &mut ObservedSystem<'_>,
        disagreement: &Disagreement,
    ) -> Result<(IoWord, f64), CliError> {
        let mut counts: BTreeMap<IoWord, u32> = BTreeMap::new();
        let wanted = f64::from(self.args.confidence) / 100.0;
        let mut n = 0;
        let mut most = || -> Result<(IoWord, u32), CliError> {
            *counts.entry(repeat_run(observer, disagreement)?).or_default() += 1;
            let usual = counts.iter().max_by_key(|(_, count)| **count);
            Ok(usual.map_or_else(|| (disagreement.now.clone(), 0), |(run, count)| (run.clone(), *count)))
        };
        let (usual, count) = loop {
            n += 1;
            let (usual, count) = most()?;
            let is_sure = n >= self.args.votes && confidence(count, n) >= wanted;
            if is_sure || n >= self.args.votes.saturating_mul(MAX_REPETITION_FACTOR) {
                break (usual, count);
            }
        };
        let sure = confidence(count, n);
        let names = observer.live.live.names();
        let answer = usual.last().map_or("", |&(_, output)| &names.outputs[output]);
        let note = format!(
            "after {} the system answers in several ways; {count} of {n} times it was {answer}, \
             which is believed (confidence {:.1}% that it is the usual one)",
            count_noun(disagreement.now.len(), "input"),
            sure * 100.0,
        );
        eprintln!("note: {note}");
        self.viewer.show_note(&note);
        Ok((usual, sure))
    }

    /// Drafts a machine that may answer in several ways, with all that was seen so far.
    fn draft_with_choices(
        &self,
        observer: &mut ObservedSystem<'_>,
        disagreement: &Disagreement,
        watching: &mut LearningLine<'_>,
    ) -> Result<SeveralDraft, CliError> {
        let mut earlier = observer.all_answers().runs();
        earlier.push(disagreement.now.clone());
        let walks = if self.args.walks == 0 { DRAFT_WALKS } else { self.args.walks };
        let drafting = Drafting {
            repetitions: self.args.votes,
            walks,
            walk_length: self.args.walk_length,
            seed: self.examination.seed,
        };
        let mut watch = |states: usize, effort: LearningEffort| {
            watching.show_drafting(states, effort);
            if self.halt.halt_reason().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let made = draft_machine(&mut observer.live, self.n_inputs, &earlier, &drafting, &mut watch);
        let (draft, effort) = made.map_err(|trouble| match trouble {
            LiveTestError::Halted(halted) => self.without(halted),
            trouble => learning_error(trouble),
        })?;
        observer.effort = observer.effort.plus(effort);
        Ok(draft)
    }

    fn print_disagreement(&self, observer: &ObservedSystem<'_>, disagreement: &Disagreement) {
        eprintln!("note: {}; it is drafted with choices", two_ways(observer, disagreement));
        self.viewer.drafts();
    }

    fn contradiction(&self, observer: &ObservedSystem<'_>, disagreement: &Disagreement) -> CliError {
        CliError::new(ExitStatus::Inconclusive, two_ways(observer, disagreement)).help(
            "does a reset bring it to its first state? are answers later than the quiescence time? \
             `--unstable majority` believes the usual answer, `--unstable draft` writes a model with choices",
        )
    }
}

/// Repeats the run of a contradiction and returns it with its answers.
fn repeat_run(observer: &mut ObservedSystem<'_>, disagreement: &Disagreement) -> Result<IoWord, CliError> {
    observer.live.reset().map_err(learning_error)?;
    let mut seen = IoWord::new();
    for &(input, _) in &disagreement.now {
        seen.push((input, observer.live.step(input).map_err(learning_error)?));
    }
    observer.effort = observer.effort.plus(LearningEffort { resets: 1, symbols: seen.len() as u64 });
    Ok(seen)
}

/// Returns the two runs that contradict each other, side by side.
fn two_ways(observer: &ObservedSystem<'_>, disagreement: &Disagreement) -> String {
    let names = observer.live.live.names();
    let show = |run: &IoWord| {
        let step = |&(input, output): &(_, _)| format!("{}/{}", names.inputs[input], names.outputs[output]);
        run.iter().map(step).collect::<Vec<_>>().join(" ")
    };
    let LearningEffort { resets, symbols } = observer.effort;
    format!(
        "the system answers the same inputs in two ways, after {} and {}\n  \
         earlier: {}\n  now:     {}",
        count_noun(resets, "reset"),
        count_noun(symbols, "input"),
        show(&disagreement.before),
        show(&disagreement.now)
    )
}

/// Returns a machine as a specification to compare with, minimal; inputs that it does not answer are ignored. `None` if
/// the methods for suites refuse it.
pub fn reference(machine: &Mealy, ignoring: &str) -> Option<SuiteModel> {
    let whole = machine.complete_with(&ioxide_fsm::mealy::MachineCompletion::SelfLoop(ignoring.to_owned()));
    SuiteModel::from_reduced(&whole).ok()
}
