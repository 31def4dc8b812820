//! A machine, learned to the end: until no counterexample is found, a contradiction is dealt with, or the session is
//! stopped.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::thread;

use ioxide_fsm::mealy::{InputId, MachineCompletion, MachineNames, Mealy, SuiteModel};
use ioxide_fsm::reduce::LiveMachine;
use ioxide_fsm::word::{IoWord, Word};
use ioxide_model::counted::count_noun;

use super::kept::KeptMachine;
use super::{LearningSession, MajorityVote, SessionError};
use crate::copies::{LabelWord, PoolGuard, QuestionQueue, WorkerPool};
use crate::draft::LearnedDraft;
use crate::drawing::{draw_choices, draw_machine, show_surprise};
use crate::learner::Learner;
use crate::messages::{Messages, NamedAnswers};
use crate::observer::{Disagreement, LearnError, LearningEffort, SystemObserver};
use crate::oracle::{
    HypothesisTest, LearnedGuarantee, LearnedMachine, LearningStage, ask_reference_suite, learn,
};
use crate::several::{Drafting, SeveralDraft, draft_machine};
use crate::system::{CopyLost, KeptSystem};
use crate::tree::ObservationTree;
use crate::votes::confidence;
use crate::watch::{LearningEvent, LearningNote, LearningWatcher, ReportedOnce};

/// Contradictions that are put to the vote before a system is given up. Chosen by feel: a system with more of them has
/// no usual answers.
pub(crate) const MAX_VOTES: usize = 1000;

/// The factor on the requested repetitions after which a vote ends though its confidence is too low. Chosen by feel.
pub(crate) const MAX_REPETITION_FACTOR: u32 = 10;

/// The settings under which a machine is learned.
#[derive(Debug)]
pub struct MachinePlan {
    /// The suites and walks that test hypotheses.
    pub test: HypothesisTest,
    /// The names of answers after which no other answer follows.
    pub closed: Vec<String>,
    /// The reaction to a system that answers in several ways.
    pub unstable: UnstablePolicy,
    /// An earlier version, whose suite is asked first.
    pub reference: Option<EarlierVersion>,
}

/// The reaction to a system that answers the same inputs in several ways.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UnstablePolicy {
    /// It is an error.
    Stop,
    /// The usual answer is believed.
    Majority(MajorityVote),
    /// A machine with choices is drafted.
    Draft(Drafting),
}

/// An earlier version of a system.
#[derive(Debug)]
pub struct EarlierVersion {
    spec: SuiteModel,
    /// The input of the system for each input of the earlier version; `None` if the system is not learned with it.
    inputs: Vec<Option<InputId>>,
}

impl EarlierVersion {
    /// The earlier version `machine` of a system that is learned with inputs of these `names`; inputs that the machine
    /// does not answer are answered with `ignoring`. `None` if the methods for suites refuse it.
    #[must_use]
    pub fn new(machine: &Mealy, ignoring: &str, names: &MachineNames) -> Option<Self> {
        // The methods for suites need an answer everywhere.
        let whole = machine.complete_with(&MachineCompletion::SelfLoop(ignoring.to_owned()));
        let spec = SuiteModel::from_reduced(&whole).ok()?;
        let inputs = spec.names().inputs.iter().map(|name| names.input(name)).collect();
        Some(Self { spec, inputs })
    }

    /// Returns whether it has an input that the system is learned with.
    #[must_use]
    pub fn has_common_inputs(&self) -> bool {
        self.inputs.iter().any(Option::is_some)
    }
}

/// The result of learning.
#[derive(Debug)]
pub enum LearnedModel {
    /// A machine.
    Machine(LearnedMachine),
    /// A machine that answers in several ways, each question asked as often as the number says.
    Several(SeveralDraft, u32),
}

/// The result of learning, with its effort and the confidence of votes.
#[derive(Debug)]
pub struct MachineResult {
    /// The machine, or the draft with choices.
    pub learned: LearnedModel,
    /// The answers, with their names.
    pub answers: NamedAnswers,
    /// The effort, that of earlier sessions included.
    pub effort: LearningEffort,
    /// The confidence of each vote, between 0 and 1.
    pub votes: Vec<f64>,
}

impl MachineResult {
    /// Returns whether the session was stopped before everything was tested.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        match &self.learned {
            LearnedModel::Machine(learned) => learned.is_stopped,
            LearnedModel::Several(draft, _) => draft.is_stopped,
        }
    }

    /// Returns the guarantee in words.
    #[must_use]
    pub fn guarantee(&self) -> String {
        match &self.learned {
            LearnedModel::Machine(learned) => learned.guarantee.description(),
            LearnedModel::Several(_, repetitions) => {
                // The chance that an answer of one time in ten stays away in all repetitions.
                let missed = 0.9_f64.powi(i32::try_from(*repetitions).unwrap_or(i32::MAX)) * 100.0;
                format!(
                    "allows every run that was seen; an answer that comes one time in ten is missed with \
                     probability {missed:.1}% at each place"
                )
            }
        }
    }

    /// Returns the origin of the machine, one sentence for each fact.
    #[must_use]
    pub fn facts(&self) -> Vec<String> {
        let LearningEffort { resets, symbols } = self.effort;
        let inputs = count_noun(self.answers.names().inputs.len(), "input");
        let cost = format!("{}, {}", count_noun(resets, "reset"), count_noun(symbols, "message"));
        let (first, stopped) = match &self.learned {
            LearnedModel::Machine(learned) => {
                let states = count_noun(learned.machine.n_states(), "state");
                let hypotheses = count_noun(learned.hypotheses, "hypothesis");
                (format!("{states} with {inputs}: {hypotheses}, {cost}"), "everything was tested")
            }
            LearnedModel::Several(draft, _) => {
                let states = count_noun(draft.n_states, "state");
                let choices = count_noun(draft.n_choices(), "input");
                (
                    format!("{states} with {inputs}: {choices} answered in several ways, {cost}"),
                    "all random tests were run",
                )
            }
        };
        let mut facts = vec![first, self.guarantee()];
        if self.is_stopped() {
            facts.push(format!("stopped before {stopped}"));
        }
        facts.extend(describe_votes(&self.votes));
        facts
    }

    /// Returns the machine as it is written.
    #[must_use]
    pub fn draft<'a>(&'a self, messages: &'a Messages) -> LearnedDraft<'a> {
        match &self.learned {
            LearnedModel::Machine(learned) => {
                LearnedDraft::new(&learned.machine, &self.answers, messages, None)
            }
            LearnedModel::Several(draft, _) => LearnedDraft::from_several(draft, &self.answers, messages),
        }
    }
}

/// Returns the number of votes and the least confidence among them in words; `None` if there were none.
pub(crate) fn describe_votes(votes: &[f64]) -> Option<String> {
    let least = votes.iter().copied().reduce(f64::min)?;
    Some(format!(
        "{} by majority, the least sure with confidence {:.1}%; an answer that was seen once may be wrong",
        count_noun(votes.len(), "answer"),
        least * 100.0
    ))
}

impl<E: From<CopyLost> + Send> LearningSession<'_, E> {
    /// Learns a machine until no counterexample is found, a contradiction ends the session, or it is stopped.
    ///
    /// # Errors
    /// If the system cannot be queried or contradicts itself, or recorded runs do.
    pub fn learn_machine(self, plan: &MachinePlan) -> Result<MachineResult, SessionError<E>> {
        let Self { system, copies, keeper, watcher, messages, earlier } = self;
        let queue: QuestionQueue<LabelWord> = QuestionQueue::default();
        thread::scope(|scope| {
            // Dropped before the scope ends, so the workers stop also after an early return.
            let _guard = PoolGuard(&queue);
            let pool = copies.as_ref().map(|copies| WorkerPool::start(scope, copies, &queue));
            let n_inputs = messages.inputs.len();
            let mut machine = KeptMachine::new(KeptSystem::new(system, keeper), pool, messages);
            let most_extra = plan.test.extra.unwrap_or(0);
            watcher.notify(LearningEvent::Begun { inputs: n_inputs, most_extra });
            let closed = plan.closed.iter().map(|answer| machine.answers.output_id(answer)).collect();
            let mut known = ObservationTree::new(n_inputs);
            for run in &earlier.session {
                // A contradiction was reported when it was seen, and will be again: the first run counts.
                let _ = known.insert_run(&machine.name_run(run));
            }
            let recorded = machine.name_recorded(&earlier.recorded).map_err(SessionError::Recorded)?;
            for run in &recorded {
                let _ = known.insert_run(run);
            }
            let observer = SystemObserver::new(machine, n_inputs, closed);
            let mut learning =
                MachineLearning { plan, n_inputs, observer, watcher, hypotheses: 0, votes: Vec::new() };
            let learned = learning.learn_until_consistent(known)?;
            learning.show_result(&learned);
            let MachineLearning { observer, votes, .. } = learning;
            let effort = earlier.effort().plus(observer.effort);
            Ok(MachineResult { learned, answers: observer.live.answers, effort, votes })
        })
    }
}

/// A machine that is being learned.
struct MachineLearning<'l, 'k, 'p, E> {
    plan: &'l MachinePlan,
    n_inputs: usize,
    /// The system, and the observations of it.
    observer: SystemObserver<KeptMachine<'k, 'p, E>>,
    watcher: &'l mut dyn LearningWatcher,
    /// The number of hypotheses, with those before a contradiction.
    hypotheses: usize,
    /// The confidence of each vote, between 0 and 1.
    votes: Vec<f64>,
}

impl<E: From<CopyLost> + Send> MachineLearning<'_, '_, '_, E> {
    /// Learns, and starts again with what is known after each contradiction that was voted on.
    fn learn_until_consistent(
        &mut self,
        mut memory: ObservationTree,
    ) -> Result<LearnedModel, SessionError<E>> {
        loop {
            // The learner starts again after a vote, and is answered from memory up to where it was: no state but the
            // answers.
            self.observer.restart(memory);
            let earlier = self.hypotheses;
            let found = match self.learn_once() {
                Ok(mut learned) => {
                    learned.hypotheses += earlier;
                    return Ok(LearnedModel::Machine(learned));
                }
                Err(LearnError::System(error)) => return Err(SessionError::System(error)),
                Err(LearnError::Disagrees(found)) => found,
            };
            self.watcher.notify(LearningEvent::Contradicted(self.two_ways(&found)));
            match self.plan.unstable {
                UnstablePolicy::Majority(vote) if self.votes.len() < MAX_VOTES => {
                    let usual = hold_vote(&mut self.observer, &found, vote).map_err(SessionError::System)?;
                    self.votes.push(usual.confidence());
                    let note = usual.note(self.observer.live.names());
                    self.watcher.notify(LearningEvent::Noted(note));
                    memory = usual.memory_after(&self.observer);
                }
                UnstablePolicy::Draft(drafting) => return self.draft_with_choices(&found, &drafting),
                UnstablePolicy::Stop | UnstablePolicy::Majority(_) => {
                    let (effort, runs) = (self.observer.effort, self.show_runs(&found));
                    return Err(SessionError::TwoWays { effort, runs });
                }
            }
        }
    }

    /// Learns until no counterexample is found or two answers contradict each other.
    fn learn_once(&mut self) -> Result<LearnedMachine, LearnError<E>> {
        let Self { plan, observer, watcher, hypotheses, .. } = self;
        if let Some(EarlierVersion { spec, inputs }) = &plan.reference {
            ask_reference_suite(observer, spec, inputs)?;
        }
        let mut told = ReportedOnce::new();
        let mut watch = |stage: LearningStage, learner: &Learner, observer: &SystemObserver<_>| {
            let names = KeptMachine::names(&observer.live);
            watch_machine(&mut **watcher, hypotheses, stage, observer.effort, LearnedGuarantee::description);
            told.tell(&mut **watcher, *hypotheses, learner.last_surprise(), |found| {
                show_surprise(found, names)
            });
            if watcher.wants_drawing(*hypotheses) {
                let drawing = draw_machine(*hypotheses, &learner.machine(&observer.tree), names);
                watcher.notify(LearningEvent::Drawn(drawing));
            }
            if watcher.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        learn(observer, &plan.test, &mut watch)
    }

    /// Drafts a machine that may answer in several ways, with all that was seen so far.
    fn draft_with_choices(
        &mut self,
        disagreement: &Disagreement,
        drafting: &Drafting,
    ) -> Result<LearnedModel, SessionError<E>> {
        self.watcher.notify(LearningEvent::DraftsChoices(self.two_ways(disagreement)));
        self.hypotheses += 1;
        // Both runs that contradict each other are allowed by the draft.
        let mut earlier = self.observer.all_answers().runs();
        earlier.push(disagreement.now.clone());
        let (number, watcher) = (self.hypotheses, &mut *self.watcher);
        let mut watch = |states: usize, effort: LearningEffort| {
            watcher.notify(LearningEvent::Drafted { number, states, effort });
            if watcher.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let live = &mut self.observer.live;
        let (draft, effort) = draft_machine(live, self.n_inputs, &earlier, drafting, &mut watch)?;
        self.observer.effort = self.observer.effort.plus(effort);
        Ok(LearnedModel::Several(draft, drafting.repetitions))
    }

    /// Shows the last machine, if it is wanted.
    fn show_result(&mut self, learned: &LearnedModel) {
        if !self.watcher.wants_details() {
            return;
        }
        let names = self.observer.live.names();
        match learned {
            LearnedModel::Machine(learned) => {
                let drawing = draw_machine(learned.hypotheses, &learned.machine, names);
                self.watcher.notify(LearningEvent::Drawn(drawing));
                self.watcher.notify(LearningEvent::Guaranteed(learned.guarantee.description()));
            }
            LearnedModel::Several(draft, _) => {
                self.watcher.notify(LearningEvent::Drawn(draw_choices(self.hypotheses, draft, names)));
            }
        }
    }

    /// Returns the sentence about two runs that contradict each other.
    fn two_ways(&self, disagreement: &Disagreement) -> String {
        let (effort, runs) = (self.observer.effort, self.show_runs(disagreement));
        SessionError::<E>::TwoWays { effort, runs }.to_string()
    }

    fn show_runs(&self, disagreement: &Disagreement) -> String {
        show_two_runs(self.observer.live.names(), disagreement)
    }
}

/// The result of a vote: the usual run, and how often it was seen.
pub(crate) struct UsualRun {
    run: IoWord,
    count: u32,
    of: u32,
}

/// Repeats the run of a contradiction until it is sure enough which answers are the usual ones.
pub(crate) fn hold_vote<L: LiveMachine>(
    observer: &mut SystemObserver<L>,
    disagreement: &Disagreement,
    vote: MajorityVote,
) -> Result<UsualRun, L::Error> {
    let mut counts: BTreeMap<IoWord, u32> = BTreeMap::new();
    let mut of = 0;
    loop {
        of += 1;
        *counts.entry(repeat_run(observer, disagreement)?).or_default() += 1;
        // Among equal counts the last run in their order, so that the order of the answers does not decide.
        let most = counts.iter().max_by_key(|(_, count)| **count);
        let (run, count) =
            most.map_or_else(|| (disagreement.now.clone(), 0), |(run, count)| (run.clone(), *count));
        if vote.is_over(count, of) {
            return Ok(UsualRun { run, count, of });
        }
    }
}

/// Repeats the run of a contradiction and returns it with its answers.
fn repeat_run<L: LiveMachine>(
    observer: &mut SystemObserver<L>,
    disagreement: &Disagreement,
) -> Result<IoWord, L::Error> {
    let machine = &mut observer.live;
    machine.reset()?;
    let mut seen = IoWord::new();
    for &(input, _) in &disagreement.now {
        seen.push((input, machine.step(input)?));
    }
    // The system was asked past the observer, so the effort is counted here.
    let cost = LearningEffort { resets: 1, symbols: seen.len() as u64 };
    observer.effort = observer.effort.plus(cost);
    Ok(seen)
}

impl UsualRun {
    /// Returns the confidence that the run is the usual one.
    pub fn confidence(&self) -> f64 {
        confidence(self.count, self.of)
    }

    /// Returns the note about the vote.
    pub fn note(&self, names: &MachineNames) -> LearningNote {
        let answer = self.run.last().map_or_else(String::new, |&(_, output)| names.outputs[output].clone());
        LearningNote::Majority { inputs: self.run.len(), answer, count: self.count, of: self.of }
    }

    /// Returns what `observer` knows, with the usual run in the place of those that contradict it.
    pub fn memory_after<L: LiveMachine>(&self, observer: &SystemObserver<L>) -> ObservationTree {
        let word: Word = self.run.iter().map(|&(input, _)| input).collect();
        // All runs are cut off where they contradict the vote, so the usual answer is new there.
        let mut memory = observer.all_answers().without_inputs(&word);
        let _ = memory.insert_run(&self.run);
        memory
    }
}

impl MajorityVote {
    /// Returns whether a vote ends in which `count` of `of` answers are the same: it is sure enough, or was repeated
    /// too often.
    pub(crate) fn is_over(&self, count: u32, total: u32) -> bool {
        let is_sure = total >= self.at_least && confidence(count, total) >= self.confidence;
        is_sure || total >= self.at_least.saturating_mul(MAX_REPETITION_FACTOR)
    }
}

/// Tells `watcher` of a stage of learning a machine; `describe` puts a guarantee into words.
pub(crate) fn watch_machine(
    watcher: &mut dyn LearningWatcher,
    hypotheses: &mut usize,
    stage: LearningStage,
    effort: LearningEffort,
    describe: impl FnOnce(LearnedGuarantee) -> String,
) {
    match stage {
        LearningStage::Hypothesis { .. } => *hypotheses += 1,
        LearningStage::Passed { states, extra } => {
            let guarantee = describe(LearnedGuarantee::Complete { states, extra });
            watcher.notify(LearningEvent::Guaranteed(guarantee));
        }
        LearningStage::Settling { .. } | LearningStage::Testing { .. } | LearningStage::Walking { .. } => (),
    }
    watcher.notify(LearningEvent::Machine { number: *hypotheses, stage, effort });
}

/// Returns two runs that contradict each other, one below the other.
pub(crate) fn show_two_runs(names: &MachineNames, disagreement: &Disagreement) -> String {
    let show = |run: &IoWord| {
        let step = |&(input, output): &(_, _)| format!("{}/{}", names.inputs[input], names.outputs[output]);
        run.iter().map(step).collect::<Vec<_>>().join(" ")
    };
    format!("  earlier: {}\n  now:     {}", show(&disagreement.before), show(&disagreement.now))
}
