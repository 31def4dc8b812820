//! Learning a system whose inputs carry values: the model that is written has variables and guards.
//!
//! Numbers and texts are data, every other field is part of the message. Values are first taken to be equal or not; a
//! system that answers words with equal values in two ways is learned again with order, with all that was seen.

mod disagreement;
mod given_back;
#[doc(hidden)]
pub mod halving;
pub mod made_values;
pub mod system;
pub mod text;
mod value_system;
pub mod values;
mod words;

use std::sync::Arc;
use std::thread;

use ioxide_model::label::source_message_name;
use ioxide_model::name::source_name;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;

use self::system::{DataGate, DataQuestion, PointPlan, SeenAnswers};
use self::text::LearnedText;
pub use self::value_system::StartAssumption;
use self::value_system::{GivenValueSystem, ValueSystem};
use self::values::ValueKind;
pub use self::words::theory_name;
use crate::copies::{PoolGuard, QuestionQueue, WorkerPool};
use crate::messages::Messages;
use crate::observer::LearningEffort;
use crate::register::guards::{GuardedMachine, guard_machine};
use crate::register::oracle::{DataExamination, DataLearned};
use crate::session::{LearningSession, MajorityVote, SessionError};
use crate::system::{CopyLost, KeptSystem};
use crate::watch::LearningEvent;

/// The settings under which a machine with values is learned.
#[derive(Debug)]
pub struct ValuePlan<'p> {
    /// The inputs.
    pub gates: &'p [DataGate],
    /// The assumptions to begin with.
    pub start: StartAssumption,
    /// The suites and walks that test hypotheses.
    pub test: &'p DataExamination,
    /// The rules of votes about contradictions; `None` if there are no votes.
    pub votes: Option<MajorityVote>,
}

/// A machine with values that was learned.
#[derive(Debug)]
pub struct ValueResult {
    /// The machine as the learner has it, with its guarantee.
    pub learned: DataLearned,
    /// The machine with guards.
    pub machine: GuardedMachine,
    /// The inputs and values that the points of the machine stand for.
    pub plan: Arc<PointPlan>,
    /// The shapes and literals of the answers.
    pub seen: SeenAnswers,
    /// The assumptions that held in the end; their words are those that refuted hypotheses.
    pub assumptions: StartAssumption,
    /// The effort, that of earlier sessions included.
    pub effort: LearningEffort,
    /// The confidence of each vote, between 0 and 1.
    pub votes: Vec<f64>,
    /// True if answers were put to the vote.
    pub is_voted: bool,
    /// The number of questions that were answered in several ways.
    pub n_doubtful: usize,
}

impl ValueResult {
    /// Returns the machine as it is written and drawn.
    #[must_use]
    pub fn text<'t>(&'t self, messages: &'t Messages) -> LearnedText<'t> {
        let PointPlan { gates, domain } = &*self.plan;
        LearnedText { machine: &self.machine, domain, gates, seen_answers: &self.seen, messages }
    }
}

impl<E: From<CopyLost> + Send> LearningSession<'_, E> {
    /// Learns how the system stores and compares values.
    ///
    /// # Errors
    /// If the system cannot be queried or contradicts itself, or answers as no machine does that stores and compares
    /// values.
    pub fn learn_values(self, plan: ValuePlan<'_>) -> Result<ValueResult, SessionError<E>> {
        let Self { system, copies, keeper, watcher, messages, earlier } = self;
        let ValuePlan { gates, start, test, votes } = plan;
        let queue: QuestionQueue<DataQuestion> = QuestionQueue::default();
        thread::scope(|scope| {
            let _guard = PoolGuard(&queue);
            let pool = copies.as_ref().map(|copies| WorkerPool::start(scope, copies, &queue));
            watcher.notify(LearningEvent::Begun { inputs: gates.len(), most_extra: test.extra });
            let mut class = ValueSystem::new(messages, gates, start, test);
            class.votes = votes;
            class.effort = earlier.effort();
            class.runs = earlier.session;
            class.runs.extend(earlier.recorded);
            let (mut kept, mut seen) =
                (KeptSystem::new(system, keeper).remembering(), SeenAnswers::default());
            let mut asked = GivenValueSystem { kept: &mut kept, seen: &mut seen, watcher };
            let (learned, plan) = class.learn_values(&mut asked, pool.as_ref())?;
            let machine = guard_machine(&learned.machine);
            let ValueSystem { theories, constants, made, effort, votes_held, n_doubtful, .. } = class;
            let assumptions = StartAssumption { theories, constants, made, words: learned.surprises.clone() };
            let (votes, is_voted) = (votes_held, votes.is_some());
            let result = ValueResult {
                learned,
                machine,
                plan,
                seen,
                assumptions,
                effort,
                votes,
                is_voted,
                n_doubtful,
            };
            if watcher.wants_details() {
                let drawing = result.text(messages).draw(result.learned.hypotheses);
                watcher.notify(LearningEvent::Drawn(drawing));
            }
            Ok(result)
        })
    }
}

impl DataGate {
    /// Returns whether some message is one of both inputs.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let may_agree = |(a, b): (&Option<Value>, &Option<Value>)| a.is_none() || b.is_none() || a == b;
        self.gate == other.gate && self.fixed.iter().zip(&other.fixed).all(may_agree)
    }

    /// Returns the message with the values of the fields that are no data.
    #[must_use]
    pub fn name(&self, model: &Model) -> String {
        let gate = &model.sts.gates[self.gate];
        let field = |(&var, value): (_, &Option<Value>)| {
            let name = &model.pool.var_info(var).name;
            value.as_ref().map(|value| format!("{name}: {}", model.pool.show_value(value)))
        };
        let fixed: Vec<String> = gate.fields.iter().zip(&self.fixed).filter_map(field).collect();
        if fixed.is_empty() { gate.name.to_string() } else { format!("{}({})", gate.name, fixed.join(", ")) }
    }

    /// Returns the message as the text of a model has it behind `on`.
    #[must_use]
    pub(crate) fn source_text(&self, model: &Model) -> String {
        let field = |(&var, value): (_, &Option<Value>)| {
            let name = source_name(&model.pool.var_info(var).name);
            value.as_ref().map(|value| format!("{name}: {}", model.pool.show_value(value)))
        };
        let fields = &model.sts.gates[self.gate].fields;
        let fixed: Vec<String> = fields.iter().zip(&self.fixed).filter_map(field).collect();
        let name = source_message_name(&model.sts, self.gate);
        if fixed.is_empty() { name } else { format!("{name}({})", fixed.join(", ")) }
    }
}

/// Returns the kinds of the data fields of each input, without those that have a fixed value.
#[must_use]
pub fn field_kinds(model: &Model, gates: &[DataGate]) -> Vec<Vec<ValueKind>> {
    let of_gate = |gate: &DataGate| {
        let fields = model.sts.gates[gate.gate].fields.iter().zip(&gate.fixed);
        let open = fields.filter(|(_, fixed)| fixed.is_none()).map(|(&field, _)| field);
        open.filter_map(|field| ValueKind::of_sort(model.pool.var_info(field).sort)).collect()
    };
    gates.iter().map(of_gate).collect()
}
