//! A live system as a learner of register automata sees it: whole words, answers by shape and values.

use std::cell::RefCell;
use std::sync::Arc;

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, Model};
use ioxide_model::value::Value;
use rand_chacha::ChaCha8Rng;

use super::values::{FieldValues, PointValues, ValueKind, can_hold};
use crate::copies::{WorkerPool, WorkerQuestion};
use crate::messages::DataRun;
use crate::observer::LearningEffort;
use crate::register::machine::DataSystem;
use crate::register::place::{AnswerValue, DataAnswer, DataInput, DataWord, ValuePlace, ValuePoint};
use crate::system::{CopyLost, KeptSystem, MessageSystem};

/// An input message with values for the fields that are no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataGate {
    /// The message.
    pub gate: GateId,
    /// The value of each field that is no data; `None` where the field is data.
    pub fixed: Vec<Option<Value>>,
}

/// The messages of an answer, with `None` in the fields that are data.
pub type AnswerShape = Vec<(GateId, Vec<Option<Value>>)>;

/// The shapes of all answers so far, and the literals in them.
#[derive(Debug, Default)]
pub struct SeenAnswers {
    /// The shapes of answers.
    pub shapes: Vec<AnswerShape>,
    /// Values that the system says of its own accord.
    pub literals: Vec<Value>,
}

impl SeenAnswers {
    /// Returns the number of a shape; a new one is added.
    fn shape(&mut self, shape: AnswerShape) -> OutputId {
        OutputId::new(position_or_push(&mut self.shapes, shape))
    }

    /// Returns the number of a literal value; a new one is added.
    fn literal(&mut self, value: Value) -> i64 {
        i64::try_from(position_or_push(&mut self.literals, value)).unwrap_or(i64::MAX)
    }
}

fn position_or_push<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    all.iter().position(|it| *it == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

/// Returns the position of an input among `gates`, by its message and the fields that are no data.
#[must_use]
pub fn position_of_gate(gates: &[DataGate], input: &Label) -> Option<usize> {
    let Label::Input(gate, values) = input else { return None };
    let is_fixed = |(fixed, value): (&Option<Value>, &Value)| fixed.as_ref().is_none_or(|it| it == value);
    gates.iter().position(|it| it.gate == *gate && it.fixed.iter().zip(values).all(is_fixed))
}

/// The inputs and values that the points of a learner stand for.
#[derive(Debug)]
pub struct PointPlan {
    /// The inputs.
    pub gates: Vec<DataGate>,
    /// The values of the fields.
    pub domain: FieldValues,
}

/// The reason why a word has no answers.
#[derive(Debug)]
pub enum DataTrouble<E> {
    /// The system cannot be asked.
    System(E),
    /// The system makes up more values than there are slots for.
    MoreMade,
}

impl<E> From<E> for DataTrouble<E> {
    fn from(error: E) -> Self {
        Self::System(error)
    }
}

impl PointPlan {
    /// Returns the message of `input`; `None` if a value is not known, or not one of its field.
    fn label_of(&self, input: &DataInput, made: &PointValues, chosen: &PointValues) -> Option<Label> {
        let DataGate { gate, fixed } = &self.gates[input.gate.index()];
        let mut points = input.values.iter().zip(&self.domain.kinds[input.gate.index()]);
        let value = |fixed: &Option<Value>| match fixed {
            Some(value) => Some(value.clone()),
            None => {
                let (point, kind) = points.next()?;
                let found = made.iter().chain(chosen).find(|(it, _)| it == point);
                found.map(|(_, value)| value.clone()).filter(|value| can_hold(*kind, value))
            }
        };
        let values = fixed.iter().map(value).collect::<Option<Vec<Value>>>()?;
        Some(Label::Input(*gate, values))
    }

    /// Gives values that were made up to the slots of `input`; `None` if there are more than slots.
    fn bind_made_values(&self, known: &mut PointValues, input: &DataInput, outputs: &[Label]) -> Option<()> {
        let mut slots: Vec<(ValuePoint, ValueKind)> = self.domain.slots(input).collect();
        for label in outputs {
            let Label::Output(gate, values) = label else { continue };
            for (at, value) in values.iter().enumerate() {
                let Some(kind) = self.domain.made.kind_in((*gate, at)) else { continue };
                if known.iter().any(|(_, it)| it == value) {
                    continue;
                }
                let is_text = kind == ValueKind::Text;
                // In order: the first new value that an answer makes up fills the first slot of its kind.
                let slot = slots.iter().position(|(_, kind)| (*kind == ValueKind::Text) == is_text)?;
                known.push((slots.remove(slot).0, value.clone()));
            }
        }
        Some(())
    }

    /// Returns the answers of `run`, read as one of `word`; `None` if more is made up than there are slots for.
    fn read_answers(
        &self,
        model: &Model,
        seen_answers: &mut SeenAnswers,
        word: &[DataInput],
        run: &[(Label, Vec<Label>)],
    ) -> Option<Vec<DataAnswer>> {
        let mut known = self.domain.constants();
        let mut answers = Vec::new();
        for (input, (label, said)) in word.iter().zip(run) {
            let Label::Input(_, values) = label else { break };
            let fixed = &self.gates[input.gate.index()].fixed;
            let data = fixed.iter().zip(values).filter(|(fixed, _)| fixed.is_none()).map(|(_, value)| value);
            for (point, value) in input.values.iter().zip(data) {
                // A point stands for one value in the whole run, the one it had first.
                if !known.iter().any(|(it, _)| it == point) {
                    known.push((*point, value.clone()));
                }
            }
            self.bind_made_values(&mut known, input, said)?;
            answers.push(read_answer(model, seen_answers, &known, said));
        }
        Some(answers)
    }

    /// Returns a run of any values as a word; `None` if an input is not one of ours, or more is made up than there are
    /// slots for.
    pub fn read_run(
        &self,
        model: &Model,
        seen_answers: &mut SeenAnswers,
        run: &[(Label, Vec<Label>)],
    ) -> Option<(DataWord, Vec<DataAnswer>)> {
        let signature = &self.domain.signature;
        let (mut known, mut hollow) = (self.domain.constants(), Vec::new());
        let mut word = DataWord::new();
        // Input by input, as the run was made: a value is a point that is known, or a new one at the place where it
        // stands; then the slots of the input, which the answer fills or leaves hollow.
        for (label, said) in run {
            let Label::Input(_, values) = label else { return None };
            let number = position_of_gate(&self.gates, label)?;
            let data = self.gates[number].fixed.iter().zip(values).filter(|(fixed, _)| fixed.is_none());
            let mut values: Vec<ValuePoint> =
                data.map(|(_, value)| self.domain.find_or_add_point(&mut known, &hollow, value)).collect();
            let fields = values.len();
            for _ in 0..signature.made[number] {
                let used: Vec<ValuePoint> =
                    known.iter().map(|(point, _)| *point).chain(values.iter().copied()).collect();
                values.push(signature.value_at(&used, &hollow, ValuePlace::New(0)));
            }
            let input = DataInput { gate: InputId::new(number), values };
            self.bind_made_values(&mut known, &input, said)?;
            let slots = input.values[fields..].iter().copied();
            hollow.extend(slots.filter(|slot| !known.iter().any(|(point, _)| point == slot)));
            word.push(input);
        }
        let answers = self.read_answers(model, seen_answers, &word, run)?;
        Some((word, answers))
    }
}

/// Returns an answer by shape; values by the points in `known`, all others are literals.
fn read_answer(
    model: &Model,
    seen_answers: &mut SeenAnswers,
    known: &PointValues,
    outputs: &[Label],
) -> DataAnswer {
    let mut values = Vec::new();
    let mut shape = AnswerShape::new();
    for label in outputs {
        let Label::Output(gate, all) = label else { continue };
        let mut fixed = Vec::new();
        for (&field, value) in model.sts.gates[*gate].fields.iter().zip(all) {
            let is_data = ValueKind::of_sort(model.pool.var_info(field).sort).is_some();
            fixed.push((!is_data).then(|| value.clone()));
            if is_data {
                let point = known.iter().find(|(_, it)| it == value).map(|(point, _)| *point);
                values.push(point.map_or_else(
                    || AnswerValue::Literal(seen_answers.literal(value.clone())),
                    AnswerValue::Point,
                ));
            }
        }
        shape.push((*gate, fixed));
    }
    DataAnswer { shape: seen_answers.shape(shape), values }
}

/// Returns whether two answers first differ only in values that the system emits of its own accord.
fn differ_in_own_values(one: &[DataAnswer], other: &[DataAnswer]) -> bool {
    let Some((one, other)) = one.iter().zip(other).find(|(one, other)| one != other) else { return false };
    let is_own = |(a, b): (&AnswerValue, &AnswerValue)| {
        a == b || matches!((a, b), (AnswerValue::Literal(_), AnswerValue::Literal(_)))
    };
    one.shape == other.shape && one.values.iter().zip(&other.values).all(is_own)
}

/// A word with values for its points, for any copy of the system.
#[derive(Clone)]
pub struct DataQuestion {
    plan: Arc<PointPlan>,
    word: DataWord,
    chosen: PointValues,
}

impl DataQuestion {
    /// Resets the system and sends it the word.
    fn send_word<E>(&self, system: &mut dyn MessageSystem<Error = E>) -> Result<DataRun, E> {
        system.reset()?;
        let (mut made, mut run) = (self.plan.domain.constants(), DataRun::new());
        for input in &self.word {
            // The word uses a value that the system has not made up after all: it ends before this input.
            let Some(label) = self.plan.label_of(input, &made, &self.chosen) else { break };
            let said = system.send_input(&label)?;
            for point in &input.values {
                if !made.iter().any(|(it, _)| it == point) {
                    made.extend(
                        self.chosen.iter().find(|(it, _)| it == point && !self.is_slot(input, it)).cloned(),
                    );
                }
            }
            let is_read = self.plan.bind_made_values(&mut made, input, &said).is_some();
            run.push((label, said));
            if !is_read {
                break;
            }
        }
        Ok(run)
    }

    fn is_slot(&self, input: &DataInput, point: &ValuePoint) -> bool {
        self.plan.domain.signature.slots(input).contains(point)
    }
}

impl WorkerQuestion for DataQuestion {
    type Answer = DataRun;

    fn ask_system<E: From<CopyLost>>(&self, system: &mut dyn MessageSystem<Error = E>) -> Result<DataRun, E> {
        self.send_word(system)
    }
}

/// A live system with its values and the session that keeps its answers.
pub struct DataLive<'s, 'k, 'p, E> {
    /// The system, whose answers are kept.
    pub kept: &'s mut KeptSystem<'k, E>,
    /// Copies of the system.
    pub pool: Option<&'s WorkerPool<'p, DataQuestion, E>>,
    /// The model that declares the messages.
    pub model: &'s Model,
    /// The inputs and values that points stand for.
    pub plan: Arc<PointPlan>,
    /// The shapes and literals of all answers so far.
    pub seen: &'s mut SeenAnswers,
    /// The random numbers that choose values.
    pub rng: RefCell<ChaCha8Rng>,
    /// True if an answer counts only once it was given twice.
    pub is_doubted: bool,
    /// The effort of repeated questions.
    pub doubts: LearningEffort,
    /// The number of questions that were answered in several ways.
    pub n_doubtful: usize,
}

/// The number of times that a question is asked until two answers agree; then the first answer counts. Chosen by feel:
/// a system that gives twenty different answers has no usual one.
const MAX_TRIES: usize = 20;

impl<E: From<CopyLost> + Send> DataLive<'_, '_, '_, E> {
    /// Returns the shapes and literals of all answers so far.
    pub fn seen_answers(&self) -> &SeenAnswers {
        self.seen
    }

    /// Returns the question for `word`, with values drawn for what it leaves open.
    fn question(&self, word: &[DataInput]) -> DataQuestion {
        let chosen = self.plan.domain.choose_values(word, &mut self.rng.borrow_mut()).unwrap_or_default();
        DataQuestion { plan: Arc::clone(&self.plan), word: word.to_vec(), chosen }
    }

    /// Asks one question once, from the initial state.
    fn ask_once(&mut self, question: &DataQuestion) -> Result<Vec<DataAnswer>, DataTrouble<E>> {
        let run = question.send_word(self.kept)?;
        self.read_answers(&question.word, &run)
    }

    fn read_answers(&mut self, word: &[DataInput], run: &DataRun) -> Result<Vec<DataAnswer>, DataTrouble<E>> {
        self.plan.read_answers(self.model, self.seen, word, run).ok_or(DataTrouble::MoreMade)
    }
}

impl<E: From<CopyLost> + Send> DataSystem for DataLive<'_, '_, '_, E> {
    type Error = DataTrouble<E>;

    fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, DataTrouble<E>> {
        let question = self.question(word);
        let first = self.ask_once(&question)?;
        if !self.is_doubted {
            return Ok(first);
        }
        let mut tries = vec![first];
        while tries.len() < MAX_TRIES {
            let next = self.ask_once(&question)?;
            self.doubts = self.doubts.plus(LearningEffort { resets: 1, symbols: next.len() as u64 });
            if differ_in_own_values(&tries[0], &next) {
                // What is made up never comes twice: that is for others to find out.
                return Ok(tries.swap_remove(0));
            }
            let known = tries.iter().position(|it| *it == next);
            // Counted once for each question, when the second answer is another one.
            self.n_doubtful += usize::from(tries.len() == 1 && known.is_none());
            tries.push(next);
            if let Some(at) = known {
                self.kept.remember_only(tries.len(), at);
                return Ok(tries.swap_remove(at));
            }
        }
        self.kept.remember_only(tries.len(), 0);
        Ok(tries.swap_remove(0))
    }

    fn width(&self) -> usize {
        if self.is_doubted {
            return 1;
        }
        1 + self.pool.map_or(0, WorkerPool::size)
    }

    fn run_all(&mut self, words: &[DataWord]) -> Result<Vec<Vec<DataAnswer>>, DataTrouble<E>> {
        // Where answers are doubted, each question is asked until two answers agree, one after the other.
        let Some(pool) = self.pool.filter(|_| !self.is_doubted) else {
            return words.iter().map(|word| self.run(word)).collect();
        };
        let questions: Vec<DataQuestion> = words.iter().map(|word| self.question(word)).collect();
        let runs = self.kept.ask_with_copies(|own, keep| pool.ask_all(&questions, own, keep))?;
        words.iter().zip(&runs).map(|(word, run)| self.read_answers(word, run)).collect()
    }

    fn has_room(&self, word: &[DataInput]) -> bool {
        self.plan.domain.choose_values(word, &mut self.rng.borrow_mut()).is_some()
    }
}
