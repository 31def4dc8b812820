//! A live system as a learner of register automata sees it: whole words, answers by shape and values.

use std::cell::RefCell;

use ioxide_fsm::mealy::{InputId, OutputId};
use ioxide_fsm::reduce::Live;
use ioxide_learn::register::machine::DataSystem;
use ioxide_learn::register::place::{DataAnswer, DataInput, DataWord, Said};
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, Model};
use ioxide_model::value::Value;
use rand_chacha::ChaCha8Rng;

use super::super::session::SessionFile;
use super::values::{Domain, Kind, Pairs};
use crate::commands::fsm::live::{LiveSystem, Trouble};

/// An input message with values for the fields that are no data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataGate {
    /// The message.
    pub gate: GateId,
    /// What is always the same; nothing where the field is data.
    pub fixed: Vec<Option<Value>>,
}

/// A message of an answer, with nothing where the field is data.
pub type Shape = Vec<(GateId, Vec<Option<Value>>)>;

/// What answers were seen.
#[derive(Default)]
pub struct Seen {
    /// The shapes of answers.
    pub shapes: Vec<Shape>,
    /// Values that the system says of its own accord.
    pub literals: Vec<Value>,
}

impl Seen {
    fn shape(&mut self, shape: Shape) -> OutputId {
        OutputId::new(place(&mut self.shapes, shape))
    }

    fn literal(&mut self, value: Value) -> i64 {
        i64::try_from(place(&mut self.literals, value)).unwrap_or(i64::MAX)
    }
}

fn place<T: PartialEq>(all: &mut Vec<T>, one: T) -> usize {
    all.iter().position(|it| *it == one).unwrap_or_else(|| {
        all.push(one);
        all.len() - 1
    })
}

/// A live system, its values, and where answers are kept.
pub struct DataLive<'s, 'a> {
    /// The system.
    pub live: &'s mut LiveSystem<'a>,
    /// Where answers go.
    pub file: &'s mut SessionFile,
    /// The inputs.
    pub gates: &'s [DataGate],
    /// What values there are.
    pub domain: &'s Domain,
    /// What answers were seen.
    pub seen: &'s mut Seen,
    /// Chooses values.
    pub rng: RefCell<ChaCha8Rng>,
}

impl DataLive<'_, '_> {
    /// The message of `input`.
    fn label(&self, input: &DataInput, pairs: &Pairs) -> Option<Label> {
        let DataGate { gate, fixed } = &self.gates[input.gate.index()];
        let mut points = input.values.iter();
        let value = |fixed: &Option<Value>| match fixed {
            Some(value) => Some(value.clone()),
            None => {
                let point = points.next()?;
                pairs.iter().find(|(it, _)| it == point).map(|(_, value)| value.clone())
            }
        };
        let values = fixed.iter().map(value).collect::<Option<Vec<Value>>>()?;
        Some(Label::Input(*gate, values))
    }
}

/// An answer by shape; values by the points in `known`, all others are literals.
pub fn answer(model: &Model, seen: &mut Seen, known: &Pairs, said: &[Label]) -> DataAnswer {
    let mut values = Vec::new();
    let mut shape = Shape::new();
    for label in said {
        let Label::Output(gate, all) = label else { continue };
        let mut fixed = Vec::new();
        for (&field, value) in model.sts.gates[*gate].fields.iter().zip(all) {
            let is_data = Kind::of(model.pool.var_info(field).sort).is_some();
            fixed.push((!is_data).then(|| value.clone()));
            if is_data {
                let point = known.iter().find(|(_, it)| it == value).map(|(point, _)| *point);
                values.push(point.map_or_else(|| Said::Literal(seen.literal(value.clone())), Said::Point));
            }
        }
        shape.push((*gate, fixed));
    }
    DataAnswer { shape: seen.shape(shape), values }
}

/// A run of an earlier session as a word; nothing if an input is not one of ours.
pub fn word_of(
    model: &Model,
    gates: &[DataGate],
    domain: &Domain,
    seen: &mut Seen,
    run: &[(Label, Vec<Label>)],
) -> Option<(DataWord, Vec<DataAnswer>)> {
    let mut known = domain.constants();
    let (mut word, mut answers) = (DataWord::new(), Vec::new());
    for (label, said) in run {
        let Label::Input(gate, values) = label else { return None };
        let fits = |it: &DataGate| {
            it.gate == *gate
                && it
                    .fixed
                    .iter()
                    .zip(values)
                    .all(|(fixed, value)| fixed.as_ref().is_none_or(|it| it == value))
        };
        let number = gates.iter().position(fits)?;
        let data = gates[number].fixed.iter().zip(values).filter(|(fixed, _)| fixed.is_none());
        let values = data.map(|(_, value)| domain.point(&mut known, value)).collect();
        word.push(DataInput { gate: InputId::new(number), values });
        answers.push(answer(model, seen, &known, said));
    }
    Some((word, answers))
}

impl DataSystem for DataLive<'_, '_> {
    type Error = Trouble;

    fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, Trouble> {
        let pairs = self.domain.choose(word, &mut self.rng.borrow_mut()).unwrap_or_default();
        self.live.reset()?;
        self.file.reset()?;
        let mut known = self.domain.constants();
        let mut answers = Vec::new();
        for input in word {
            let Some(label) = self.label(input, &pairs) else { break };
            let said = self.live.tell(&label)?;
            self.file.message(self.live, &label, &said)?;
            for point in &input.values {
                if !known.iter().any(|(it, _)| it == point) {
                    known.extend(pairs.iter().find(|(it, _)| it == point).cloned());
                }
            }
            answers.push(answer(self.live.model(), self.seen, &known, &said));
        }
        Ok(answers)
    }

    fn has_room(&self, word: &[DataInput]) -> bool {
        self.domain.choose(word, &mut self.rng.borrow_mut()).is_some()
    }
}
