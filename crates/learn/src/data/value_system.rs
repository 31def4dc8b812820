//! A system that is learned with values, from the first word to the last: the assumptions about its values, and their
//! revision when a run contradicts them.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use ioxide_model::value::Value;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::disagreement::DisagreementReason;
use super::field_kinds;
use super::made_values::{self, MadeField, MadeValues};
use super::system::{
    DataGate, DataLive, DataQuestion, DataTrouble, PointPlan, SeenAnswers, position_of_gate,
};
use super::values::FieldValues;
use super::words::describe_guarantee;
use crate::copies::WorkerPool;
use crate::messages::DataRun;
use crate::messages::Messages;
use crate::observer::LearningEffort;
use crate::register::learner::{DataLearnError, DataObserver, UnexpectedDataAnswer};
use crate::register::machine::RegisterMachine;
use crate::register::oracle::{DataExamination, DataGuarantee, DataLearned, DataStage, learn_data};
use crate::register::place::{DataAnswer, DataWord, Theory};
use crate::register::tree::{DataDisagreement, DataTree};
use crate::session::{MajorityVote, SessionError};
use crate::system::{CopyLost, KeptSystem};
use crate::votes::confidence;
use crate::watch::{LearningEvent, LearningNote, LearningWatcher, ReportedOnce};

/// Constants that are looked for before a system is given up. Chosen by feel: it bounds the time.
const MAX_FOUND: usize = 6;

/// Contradictions that are put to the vote before a system is given up. Chosen by feel: it bounds the time.
const MAX_VOTES: usize = 1000;

/// Values that one answer may make up. Chosen by feel: it bounds the time.
pub const MAX_SLOTS: usize = 4;

/// The number of times everything is asked again where an answer may have been wrong. Chosen by feel: it bounds the
/// time.
const MAX_REVIEWS: usize = 3;

/// Transitions of a hypothesis that is put into guards to be drawn while it is learned. Chosen by feel: it bounds the
/// time.
const MAX_DRAWN: usize = 2_000;

/// The assumptions about values that hold until a run contradicts them.
#[derive(Clone, Debug)]
pub struct StartAssumption {
    /// The theories by which values may be compared, in the order in which they are tried.
    pub theories: Vec<Theory>,
    /// Values that the system knows from the start.
    pub constants: Vec<Value>,
    /// Fields whose values the system makes up.
    pub made: Vec<MadeField>,
    /// The words that a hypothesis is tested with first; dropped once another assumption changes.
    pub words: Vec<DataWord>,
}

/// The system, for questions with given values, and whoever watches.
pub struct GivenValueSystem<'q, 'k, E> {
    /// The system, whose answers are kept.
    pub kept: &'q mut KeptSystem<'k, E>,
    /// The shapes and literals of all answers so far.
    pub seen: &'q mut SeenAnswers,
    /// Watches the progress.
    pub watcher: &'q mut dyn LearningWatcher,
}

/// A system that is learned with values.
pub struct ValueSystem<'c> {
    pub messages: &'c Messages,
    pub gates: &'c [DataGate],
    /// The theories by which values may be compared: the first is assumed, the others are left to try.
    pub theories: Vec<Theory>,
    pub constants: Vec<Value>,
    pub made: Vec<MadeField>,
    pub words: Vec<DataWord>,
    pub examination: &'c DataExamination,
    /// The runs so far, with their values.
    pub runs: Vec<DataRun>,
    /// The effort so far, that of earlier sessions included.
    pub effort: LearningEffort,
    /// The rules of votes about contradictions; `None` if there are no votes.
    pub votes: Option<MajorityVote>,
    /// The confidence of each vote, between 0 and 1.
    pub votes_held: Vec<f64>,
    /// Constants that were found.
    pub n_found: usize,
    /// The number of questions that were answered in several ways.
    pub n_doubtful: usize,
    /// The number of hypotheses, in all attempts.
    pub hypotheses: usize,
    /// The number of times everything was asked again.
    pub n_reviews: usize,
    /// Fields of which it is known whether inputs give their values back.
    pub probed: Vec<MadeField>,
}

impl<'c> ValueSystem<'c> {
    /// Makes a system that was asked nothing yet, with this assumption about how it compares values.
    pub fn new(
        messages: &'c Messages,
        gates: &'c [DataGate],
        assumption: StartAssumption,
        examination: &'c DataExamination,
    ) -> Self {
        let StartAssumption { theories, constants, made, words } = assumption;
        let (runs, effort, votes_held) = (Vec::new(), LearningEffort::default(), Vec::new());
        Self {
            messages,
            gates,
            theories,
            constants,
            made,
            words,
            examination,
            runs,
            effort,
            votes: None,
            votes_held,
            n_found: 0,
            n_doubtful: 0,
            hypotheses: 0,
            n_reviews: 0,
            probed: Vec::new(),
        }
    }

    /// Returns the theory that is assumed.
    pub fn theory(&self) -> Theory {
        self.theories.first().copied().unwrap_or(Theory::Equality)
    }

    /// Returns the inputs and values that points stand for under the current assumptions.
    fn current_plan(&self) -> Arc<PointPlan> {
        let model = &self.messages.model;
        let made = MadeValues::from_runs(self.made.clone(), model, self.gates, &self.constants, &self.runs);
        let kinds = field_kinds(model, self.gates);
        let domain = FieldValues::new(self.theory(), self.constants.clone(), kinds, made);
        Arc::new(PointPlan { gates: self.gates.to_vec(), domain })
    }

    /// Learns until nothing is found any more, whatever must be found out about values on the way.
    pub fn learn_values<E: From<CopyLost> + Send>(
        &mut self,
        asked: &mut GivenValueSystem<'_, '_, E>,
        pool: Option<&WorkerPool<'_, DataQuestion, E>>,
    ) -> Result<(DataLearned, Arc<PointPlan>), SessionError<E>> {
        loop {
            let plan = self.current_plan();
            if plan.domain.made.slots.iter().any(|slots| slots.len() > MAX_SLOTS) {
                return Err(SessionError::TooManyMade(MAX_SLOTS));
            }
            // The tree is built again from all runs: under other assumptions the same runs are other words.
            let result = match self.build_tree(&plan, asked.seen) {
                Ok(tree) => self.learn_once(tree, &plan, asked, pool),
                Err(found) => Err(DataLearnError::Disagrees(found)),
            };
            match result {
                Ok(learned) => {
                    if !self.probe_given_back(&plan, asked)? {
                        return Ok((learned, plan));
                    }
                    self.words.clear();
                }
                // No machine fits the answers, so one of them was wrong; asked again, it is contradicted and put to
                // the vote.
                Err(DataLearnError::Stuck(_)) if self.votes.is_some() && self.n_reviews < MAX_REVIEWS => {
                    self.n_reviews += 1;
                    asked.watcher.notify(LearningEvent::Noted(LearningNote::AsksAllAgain));
                    self.ask_all_again(&plan, asked)?;
                }
                // Now there are slots for it.
                Err(DataLearnError::System(DataTrouble::MoreMade)) => self.words.clear(),
                Err(DataLearnError::Disagrees(found)) => {
                    // With copies, the run that contradicts an earlier one need not be the last.
                    let found = self.build_tree(&plan, asked.seen).err().unwrap_or(found);
                    self.revise_assumptions(&plan, &found, asked)?;
                }
                Err(error) => return Err(self.session_error(error)),
            }
        }
    }

    /// Finds the reason why two runs contradict each other, and revises the assumptions.
    fn revise_assumptions<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        disagreement: &DataDisagreement,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<(), SessionError<E>> {
        let ways = self.two_ways(&plan.domain, asked.seen, disagreement);
        asked.watcher.notify(LearningEvent::Contradicted(ways.clone()));
        match self.find_reason(plan, disagreement.now.len(), asked)? {
            // Values of the system's own have no place in an order of values that are chosen.
            DisagreementReason::Made(fields) if self.theory() == Theory::Order => {
                Err(self.made_and_ordered(&fields, &ways))
            }
            DisagreementReason::Made(fields) => {
                for field in fields {
                    let name = made_values::field_text(&self.messages.model, field);
                    let note = LearningNote::MakesUp { field: name, runs: ways.clone() };
                    asked.watcher.notify(LearningEvent::Noted(note));
                    self.made.push(field);
                }
                self.words.clear();
                Ok(())
            }
            DisagreementReason::Unstable(one, other) => self.settle_contradiction(plan, &one, &other, asked),
            DisagreementReason::Values => self.compare_otherwise(plan, disagreement, &ways, asked),
        }
    }

    /// Puts an answer that varies for the same values to the vote, if votes are requested; else it is an error.
    fn settle_contradiction<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        one: &DataRun,
        other: &DataRun,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<(), SessionError<E>> {
        let votes = self.votes.filter(|_| self.votes_held.len() < MAX_VOTES);
        let Some(votes) = votes else { return Err(self.two_ways_error(one, other)) };
        let (count, of) = self.vote(plan, one, votes, asked)?;
        self.votes_held.push(confidence(count, of));
        let note = LearningNote::MajorityOfValues { inputs: one.len(), count, of };
        asked.watcher.notify(LearningEvent::Noted(note));
        Ok(())
    }

    /// Goes over to order, or adds a constant found by halving; else it is an error.
    fn compare_otherwise<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        disagreement: &DataDisagreement,
        ways: &str,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<(), SessionError<E>> {
        self.words.clear();
        // The weaker theory is given up for good: what contradicts equality cannot be explained by it later.
        if self.theories.len() > 1 && self.made.is_empty() {
            self.theories.remove(0);
            let note = LearningNote::ComparesByOrder { runs: ways.to_owned() };
            asked.watcher.notify(LearningEvent::Noted(note));
            return Ok(());
        }
        let has_room = self.n_found < MAX_FOUND;
        let constant = match self.theory() {
            Theory::Order if has_room => self.find_constant(plan, disagreement.now.len(), asked)?,
            _ => None,
        };
        let Some(constant) = constant else {
            return Err(if self.theories.len() > 1 {
                self.made_and_ordered(&self.made, ways)
            } else {
                SessionError::Incomparable { effort: self.effort, runs: ways.to_owned() }
            });
        };
        let note = LearningNote::ComparesWith { constant, runs: ways.to_owned() };
        asked.watcher.notify(LearningEvent::Noted(note));
        self.constants.push(Value::int(constant));
        self.n_found += 1;
        Ok(())
    }

    /// Returns the tree of the runs so far; a run that contradicts others is moved to the end of the list.
    fn build_tree(
        &mut self,
        plan: &PointPlan,
        seen_answers: &mut SeenAnswers,
    ) -> Result<DataTree, Box<DataDisagreement>> {
        let mut tree = DataTree::new(plan.domain.signature.clone());
        for at in 0..self.runs.len() {
            let Some((word, answers)) = self.read_known_run(plan, seen_answers, at) else { continue };
            if let Err(found) = tree.insert_answers(&word, &answers) {
                // The search for a reason looks at the last run and one before it.
                let last = self.runs.remove(at);
                self.runs.push(last);
                return Err(found);
            }
        }
        Ok(tree)
    }

    /// Returns run number `at` as a word with its answers, up to the first input that is not learned with; `None` if it
    /// makes up more values than there are slots for.
    fn read_known_run(
        &self,
        plan: &PointPlan,
        seen_answers: &mut SeenAnswers,
        at: usize,
    ) -> Option<(DataWord, Vec<DataAnswer>)> {
        let run = &self.runs[at];
        let ours = run.iter().take_while(|(input, _)| position_of_gate(self.gates, input).is_some()).count();
        plan.read_run(&self.messages.model, seen_answers, &run[..ours])
    }

    /// Learns under the current assumptions, until nothing is found or a run contradicts them.
    fn learn_once<E: From<CopyLost> + Send>(
        &mut self,
        tree: DataTree,
        plan: &Arc<PointPlan>,
        asked: &mut GivenValueSystem<'_, '_, E>,
        pool: Option<&WorkerPool<'_, DataQuestion, E>>,
    ) -> Result<DataLearned, DataLearnError<DataTrouble<E>>> {
        let GivenValueSystem { kept, seen, watcher } = asked;
        let system = DataLive {
            kept,
            pool,
            model: &self.messages.model,
            plan: Arc::clone(plan),
            seen,
            rng: RefCell::new(ChaCha8Rng::seed_from_u64(self.examination.seed)),
            is_doubted: self.votes.is_some(),
            doubts: LearningEffort::default(),
            n_doubtful: 0,
        };
        let mut observer = DataObserver::new(system, plan.domain.signature.clone()).with_memory(tree);
        let (mut number, mut told, class) = (self.hypotheses, ReportedOnce::new(), &*self);
        let mut watch = |stage: DataStage, machine: &RegisterMachine, observer: &DataObserver<_>| {
            let seen = DataLive::seen_answers(&observer.system);
            class.watch_stage(&mut **watcher, &mut number, stage, observer.effort, &plan.domain);
            let show = |found: &UnexpectedDataAnswer| class.show_surprise(&plan.domain, seen, found);
            told.tell(&mut **watcher, number, observer.surprise.as_ref(), show);
            if machine.n_steps() <= MAX_DRAWN {
                if watcher.wants_drawing(number) {
                    let drawing = class.draw_hypothesis(number, machine, &plan.domain, seen);
                    watcher.notify(LearningEvent::Drawn(drawing));
                }
            } else if matches!(stage, DataStage::Hypothesis { .. }) {
                watcher.notify(LearningEvent::TooLargeToDraw);
            }
            if watcher.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let result = learn_data(&mut observer, self.examination, &self.words, &mut watch);
        // Also after a contradiction: what was asked has its cost, and the runs are the start of the next attempt.
        let earlier = std::mem::replace(&mut self.hypotheses, number);
        self.effort = self.effort.plus(observer.effort).plus(observer.system.doubts);
        self.n_doubtful += observer.system.n_doubtful;
        self.runs.extend(observer.system.kept.take_remembered());
        result.map(|learned| DataLearned { hypotheses: earlier + learned.hypotheses, ..learned })
    }

    /// Tells `watcher` of a stage of learning.
    fn watch_stage(
        &self,
        watcher: &mut dyn LearningWatcher,
        number: &mut usize,
        stage: DataStage,
        effort: LearningEffort,
        domain: &FieldValues,
    ) {
        match stage {
            DataStage::Hypothesis { .. } => *number += 1,
            DataStage::Passed { values, states, extra } => {
                let guarantee = DataGuarantee::Complete { values, states, extra };
                watcher.notify(LearningEvent::Guaranteed(describe_guarantee(guarantee, domain)));
            }
            DataStage::Testing { .. } | DataStage::Walking { .. } => (),
        }
        watcher.notify(LearningEvent::Values { number: *number, stage, effort });
    }
}
