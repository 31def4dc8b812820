//! A system that is learned with values, from the first word to the last: the assumptions about its values, and their
//! revision when a run contradicts them.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use ioxide_learn::observer::LearningEffort;
use ioxide_learn::register::learner::{DataLearnError, DataObserver};
use ioxide_learn::register::oracle::{DataExamination, DataLearned, DataStage, learn_data};
use ioxide_learn::register::place::{DataAnswer, DataWord, Theory};
use ioxide_learn::register::tree::{DataDisagreement, DataTree};
use ioxide_learn::votes::confidence;
use ioxide_model::value::Value;
use ioxide_smt::halt::Halt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::super::copies::WorkerPool;
use super::super::learning_error;
use super::super::line::LearningLine;
use super::super::page::LearningViewer;
use super::super::session::DataRun;
use super::disagreement::{DisagreementReason, MajorityVote};
use super::halving::GivenValueSystem;
use super::kinds;
use super::made_values::{self, MadeField, MadeValues};
use super::system::{DataGate, DataLive, DataQuestion, DataTrouble, PointPlan, SeenAnswers, gate_of};
use super::values::FieldValues;
use super::words::in_words;
use crate::exit::CliError;
use crate::machine::Messages;

/// Constants that are looked for before a system is given up.
const MAX_FOUND: usize = 6;

/// Contradictions that are put to the vote before a system is given up.
const MAX_VOTES: usize = 1000;

/// Values that one answer may make up.
pub const MAX_SLOTS: usize = 4;

/// The number of times everything is asked again where an answer may have been wrong.
const MAX_REVIEWS: usize = 3;

/// Transitions of a hypothesis that is put into guards to be drawn while it is learned.
const MAX_DRAWN: usize = 2_000;

/// The assumptions about values that hold until a run contradicts them.
#[derive(Clone)]
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

/// A system that is learned with values.
pub struct ValueSystem<'c> {
    pub halt: &'c Halt,
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
    /// True if nothing is printed on the way, as for a reference.
    pub is_quiet: bool,
    /// The page that shows the progress, if there is one.
    pub viewer: LearningViewer,
}

impl<'c> ValueSystem<'c> {
    pub fn new(
        halt: &'c Halt,
        messages: &'c Messages,
        gates: &'c [DataGate],
        start: StartAssumption,
        examination: &'c DataExamination,
    ) -> Self {
        let StartAssumption { theories, constants, made, words } = start;
        let (runs, effort, votes_held) = (Vec::new(), LearningEffort::default(), Vec::new());
        Self {
            halt,
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
            is_quiet: false,
            viewer: LearningViewer::default(),
        }
    }

    /// Goes on from the runs of earlier sessions.
    pub fn resume_from(&mut self, runs: Vec<DataRun>) {
        let symbols = runs.iter().map(|run| run.len() as u64).sum();
        self.effort = LearningEffort { resets: runs.len() as u64, symbols };
        self.runs = runs;
    }

    pub fn theory(&self) -> Theory {
        self.theories.first().copied().unwrap_or(Theory::Equality)
    }

    /// Returns the inputs and values that points stand for under the current assumptions.
    fn plan(&self) -> Arc<PointPlan> {
        let model = &self.messages.model;
        let made = MadeValues::from_runs(self.made.clone(), model, self.gates, &self.constants, &self.runs);
        let kinds = kinds(model, self.gates);
        let domain = FieldValues::new(self.theory(), self.constants.clone(), kinds, made);
        Arc::new(PointPlan { gates: self.gates.to_vec(), domain })
    }

    /// Learns until nothing is found any more, whatever must be found out about values on the way.
    pub fn learn_values(
        &mut self,
        asked: &mut GivenValueSystem<'_, '_>,
        pool: Option<&WorkerPool<'_, DataQuestion>>,
    ) -> Result<(DataLearned, Arc<PointPlan>), CliError> {
        loop {
            let plan = self.plan();
            if plan.domain.made.slots.iter().any(|slots| slots.len() > MAX_SLOTS) {
                return Err(self.broken(DataLearnError::System(DataTrouble::MoreMade)));
            }
            let result = match self.build_tree(&plan, asked.seen) {
                Ok(tree) => self.learn(tree, &plan, asked, pool),
                Err(found) => Err(DataLearnError::Disagrees(found)),
            };
            match result {
                Ok(learned) => {
                    if !self.given_back(&plan, asked).map_err(learning_error)? {
                        return Ok((learned, plan));
                    }
                    self.words.clear();
                }
                Err(DataLearnError::Stuck(_)) if self.votes.is_some() && self.n_reviews < MAX_REVIEWS => {
                    self.n_reviews += 1;
                    self.print_note(
                        "what was answered fits no machine, so something was wrong: all of it is asked again",
                    );
                    self.review(&plan, asked).map_err(learning_error)?;
                }
                // Now there are slots for it.
                Err(DataLearnError::System(DataTrouble::MoreMade)) => self.words.clear(),
                Err(DataLearnError::Disagrees(found)) => {
                    // With copies, the run that contradicts an earlier one need not be the last.
                    let found = self.build_tree(&plan, asked.seen).err().unwrap_or(found);
                    self.think_again(&plan, &found, asked)?;
                }
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    /// Finds the reason why two runs contradict each other, and revises the assumptions.
    fn think_again(
        &mut self,
        plan: &PointPlan,
        disagreement: &DataDisagreement,
        asked: &mut GivenValueSystem<'_, '_>,
    ) -> Result<(), CliError> {
        let ways = self.two_ways(&plan.domain, asked.seen, disagreement);
        self.viewer.disagreement(&ways);
        match self.reason(plan, disagreement.now.len(), asked).map_err(learning_error)? {
            DisagreementReason::Made(fields) if self.theory() == Theory::Order => {
                Err(self.not_both(&fields, &ways))
            }
            DisagreementReason::Made(fields) => {
                for field in fields {
                    let name = made_values::field_text(&self.messages.model, field);
                    self.print_note(&format!(
                        "the system makes up `{name}`; learned again with that\n{ways}"
                    ));
                    self.made.push(field);
                }
                self.words.clear();
                Ok(())
            }
            DisagreementReason::Unstable(one, other) => self.settle_contradiction(plan, &one, &other, asked),
            DisagreementReason::Values => self.compare_otherwise(plan, disagreement, &ways, asked),
        }
    }

    /// Puts an answer that varies for the same values to the vote, if votes are wished; else it is an error.
    fn settle_contradiction(
        &mut self,
        plan: &PointPlan,
        one: &DataRun,
        other: &DataRun,
        asked: &mut GivenValueSystem<'_, '_>,
    ) -> Result<(), CliError> {
        let votes = self.votes.take().filter(|_| self.votes_held.len() < MAX_VOTES);
        let Some(votes) = votes else { return Err(self.unstable(one, other)) };
        let (count, n) = self.vote(plan, one, &votes, asked).map_err(learning_error)?;
        self.votes = Some(votes);
        self.votes_held.push(confidence(count, n));
        self.print_vote(one.len(), count, n);
        Ok(())
    }

    /// Goes over to order, or adds a constant found by halving; else it is an error.
    fn compare_otherwise(
        &mut self,
        plan: &PointPlan,
        disagreement: &DataDisagreement,
        ways: &str,
        asked: &mut GivenValueSystem<'_, '_>,
    ) -> Result<(), CliError> {
        self.words.clear();
        if self.theories.len() > 1 && self.made.is_empty() {
            self.theories.remove(0);
            self.print_note(&format!(
                "values are not only equal or not; learned again with order, with all that was seen\n{ways}"
            ));
            return Ok(());
        }
        let has_room = self.n_found < MAX_FOUND;
        let constant = match self.theory() {
            Theory::Order if has_room => {
                self.find_constant(plan, disagreement.now.len(), asked).map_err(learning_error)?
            }
            _ => None,
        };
        let Some(constant) = constant else {
            return Err(if self.theories.len() > 1 {
                self.not_both(&self.made, ways)
            } else {
                self.contradiction(&plan.domain, asked.seen, disagreement)
            });
        };
        self.print_note(&format!(
            "it compares with {constant}, found by halving between two runs; learned again with it\n{ways}"
        ));
        self.constants.push(Value::int(constant));
        self.n_found += 1;
        Ok(())
    }

    /// Returns the tree of the runs so far; a run that contradicts others is moved to the end of the list.
    fn build_tree(
        &mut self,
        plan: &PointPlan,
        seen: &mut SeenAnswers,
    ) -> Result<DataTree, Box<DataDisagreement>> {
        let mut tree = DataTree::new(plan.domain.signature.clone());
        for at in 0..self.runs.len() {
            let Some((word, answers)) = self.read_run(plan, seen, at) else { continue };
            if let Err(found) = tree.insert_answers(&word, &answers) {
                let last = self.runs.remove(at);
                self.runs.push(last);
                return Err(found);
            }
        }
        Ok(tree)
    }

    /// Returns run number `at` as a word with its answers, up to the first input that is not learned with; `None` if it
    /// makes up more values than there are slots for.
    fn read_run(
        &self,
        plan: &PointPlan,
        seen: &mut SeenAnswers,
        at: usize,
    ) -> Option<(DataWord, Vec<DataAnswer>)> {
        let run = &self.runs[at];
        let ours = run.iter().take_while(|(input, _)| gate_of(self.gates, input).is_some()).count();
        plan.word_of(&self.messages.model, seen, &run[..ours])
    }

    fn learn(
        &mut self,
        tree: DataTree,
        plan: &Arc<PointPlan>,
        asked: &mut GivenValueSystem<'_, '_>,
        pool: Option<&WorkerPool<'_, DataQuestion>>,
    ) -> Result<DataLearned, DataLearnError<DataTrouble>> {
        let rng = RefCell::new(ChaCha8Rng::seed_from_u64(self.examination.seed));
        let GivenValueSystem { live, file, seen } = asked;
        let (is_doubted, doubts) = (self.votes.is_some(), LearningEffort::default());
        let plan_there = Arc::clone(plan);
        let n_doubtful = 0;
        let system =
            DataLive { live, file, crew: pool, plan: plan_there, seen, rng, is_doubted, doubts, n_doubtful };
        let mut observer = DataObserver::new(system, plan.domain.signature.clone()).with_memory(tree);
        let viewer = self.viewer.clone();
        let (mut watching, mut told) = (LearningLine::new(&viewer).with_hypotheses(self.hypotheses), None);
        let (halt, class) = (self.halt, &*self);
        let result =
            learn_data(&mut observer, self.examination, &self.words, &mut |stage, machine, observer| {
                watching.data(stage, observer.effort, |guarantee| in_words(guarantee, &plan.domain));
                let seen = &*observer.system.seen;
                if viewer.is_there() && observer.surprise != told {
                    told = observer.surprise.clone();
                    told.iter()
                        .for_each(|found| watching.surprise(|| class.surprise(&plan.domain, seen, found)));
                }
                if machine.n_steps() <= MAX_DRAWN {
                    watching.draw(|number| class.drawing(number, machine, &plan.domain, seen));
                } else if matches!(stage, DataStage::Hypothesis { .. }) {
                    viewer.show_note(
                        "the hypothesis is too large to be drawn on the way; the model is, in the end",
                    );
                }
                if halt.halt_reason().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        let earlier = std::mem::replace(&mut self.hypotheses, watching.hypotheses());
        self.effort = self.effort.plus(observer.effort).plus(observer.system.doubts);
        self.n_doubtful += observer.system.n_doubtful;
        self.runs.extend(observer.system.file.take_remembered());
        result.map(|learned| DataLearned { hypotheses: earlier + learned.hypotheses, ..learned })
    }
}
