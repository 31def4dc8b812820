//! A register automaton in the form in which it is learned: registers hold different values, and every way in which
//! the values of an input compare with them is a transition of its own.
//!
//! A location fixes how its registers compare with the constants and with each other, so that which transition an
//! input takes says everything about its values. [`super::guards`] has a form with fewer locations and guards.

use ioxide_fsm::mealy::OutputId;
use ioxide_model::index;
use ioxide_model::index::{Idx, IndexVec};
use std::collections::BTreeMap;
use std::convert::Infallible;

use super::place::{AnswerValue, DataAnswer, DataInput, DataWord, InputSignature, ValuePoint, ValueRegion};

index! { /// A location of a register automaton.
pub struct LocationId; }

/// The source of a value: its number among the constants, the registers and the new values of the input.
pub type ValueSource = usize;

/// A value in the answer of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnswerField {
    /// The value of a source.
    Source(ValueSource),
    /// A constant of the answer.
    Literal(i64),
}

/// A transition of a register automaton.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataStep {
    /// The output.
    pub shape: OutputId,
    /// The values of the output.
    pub told: Vec<AnswerField>,
    /// The target location.
    pub target: LocationId,
    /// The sources of the registers of the target.
    pub registers: Vec<ValueSource>,
}

/// A location of a register automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegisterLocation {
    /// The number of its registers.
    pub n_registers: usize,
    /// Its transitions, by how the values of an input compare with the constants and the registers.
    pub steps: BTreeMap<ValueRegion, DataStep>,
}

/// A register automaton; the first location is initial, and has no registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterMachine {
    /// Inputs and constants.
    pub signature: InputSignature,
    /// Its locations.
    pub locations: IndexVec<LocationId, RegisterLocation>,
}

/// A location with the values of its registers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// The location.
    pub location: LocationId,
    /// The values of its registers.
    pub registers: Vec<ValuePoint>,
}

impl RegisterMachine {
    /// Returns the initial configuration.
    #[must_use]
    pub fn start(&self) -> Configuration {
        Configuration { location: LocationId::new(0), registers: Vec::new() }
    }

    /// Returns the answer to `input` at `at` and the next configuration; `None` if the location has no transition for
    /// its region.
    #[must_use]
    pub fn step(&self, at: &Configuration, input: &DataInput) -> Option<(DataAnswer, Configuration)> {
        // Sources of a transition are positions in this list: constants, registers, and behind them the values of the
        // input that are new, which `places_of` adds. The learner makes transitions with the same list.
        let mut known = self.signature.constants.clone();
        known.extend(&at.registers);
        let region = (input.gate, self.signature.places_of(&mut known, &input.values));
        let step = self.locations[at.location].steps.get(&region)?;
        let tell = |&told: &AnswerField| match told {
            AnswerField::Source(source) => AnswerValue::Point(known[source]),
            AnswerField::Literal(value) => AnswerValue::Literal(value),
        };
        let answer = DataAnswer { shape: step.shape, values: step.told.iter().map(tell).collect() };
        let registers = step.registers.iter().map(|&source| known[source]).collect();
        Some((answer, Configuration { location: step.target, registers }))
    }

    /// Returns the number of transitions of all locations.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.locations.iter().map(|location| location.steps.len()).sum()
    }

    /// The most registers that a location has.
    #[must_use]
    pub fn n_registers(&self) -> usize {
        self.locations.iter().map(|location| location.n_registers).max().unwrap_or(0)
    }
}

/// A system that is given whole words, from its first state each time.
pub trait DataSystem {
    /// The error of the connection to the system.
    type Error;

    /// Returns the answers to `word` from the initial state; fewer than inputs if it has no answer to one.
    ///
    /// # Errors
    /// If it cannot be asked.
    fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, Self::Error>;

    /// Returns the number of words that can be asked at the same time: more than 1 if there are copies of the system.
    fn width(&self) -> usize {
        1
    }

    /// Returns the answers to each of `words`, as [`run`](Self::run), whichever copy gives them.
    ///
    /// # Errors
    /// If it cannot be asked.
    fn run_all(&mut self, words: &[DataWord]) -> Result<Vec<Vec<DataAnswer>>, Self::Error> {
        words.iter().map(|word| self.run(word)).collect()
    }

    /// Returns whether the types of the system have values that compare as those of `word` do.
    fn has_room(&self, _word: &[DataInput]) -> bool {
        true
    }
}

impl DataSystem for &RegisterMachine {
    type Error = Infallible;

    /// Runs the machine; the answers end at the first input without a transition.
    fn run(&mut self, word: &[DataInput]) -> Result<Vec<DataAnswer>, Infallible> {
        let mut at = self.start();
        let mut answers = Vec::new();
        for input in word {
            // No transition: no values of the system compare so, and whatever follows cannot be asked.
            let Some((answer, next)) = self.step(&at, input) else { break };
            answers.push(answer);
            at = next;
        }
        Ok(answers)
    }
}
