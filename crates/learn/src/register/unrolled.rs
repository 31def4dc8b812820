//! A register automaton on inputs with few values: a finite machine, of which suites can be made.
//!
//! Its inputs have constants and `d` other values. Where the system makes values up, the first `d` of a run have names
//! too: how many there were is part of the state, and seen in the answers. An input that would give back one that was
//! not made up yet does nothing, in the machine and in the system, and is never asked; behind the answer that makes up
//! one more than `d` nothing is asked. So the system is a finite machine over the same inputs, and what a complete
//! suite shows of finite machines holds for it.

use std::collections::{BTreeMap, VecDeque};

use ioxide_fsm::mealy::{InputId, Mealy, SuiteModel};
use ioxide_fsm::suite::SuiteMethod;
use ioxide_model::index::Idx;

use super::machine::{Configuration, RegisterMachine};
use super::place::{
    AnswerValue, DataAnswer, DataInput, DataWord, InputSignature, Theory, ValuePlace, ValuePoint,
};

/// The number of states of an unrolled machine above which no suite is made of it. Chosen by feel, as are the next two:
/// they bound the time; beyond them the hypothesis is tested by random walks alone, which find a difference later or
/// not at all.
const MAX_UNROLLED_STATES: usize = 5_000;

/// The number of inputs of an unrolled machine above which no suite is made of it. Chosen by feel: a suite grows with a
/// power of it.
const MAX_INPUTS: usize = 400;

/// The number of words after every state above which a suite is not made. Chosen by feel: at a millisecond for a word
/// it is a quarter of an hour.
const MAX_WORDS: usize = 1_000_000;

/// A machine on inputs with few values.
pub struct UnrolledMachine {
    /// The inputs, without their slots.
    inputs: Vec<DataInput>,
    /// The names of the values that a run makes up.
    names: MadeUpNames,
    spec: SuiteModel,
    n_values: usize,
}

/// The names of the values that a run makes up, in the order in which it does.
struct MadeUpNames {
    points: Vec<ValuePoint>,
    /// The number of names, from the first on, that inputs may give back.
    n_given: usize,
}

/// A state of an unrolled machine: the configuration, and the number of values made up so far; `None` once there were
/// too many.
type UnrolledState = Option<(Configuration, usize)>;

/// The effect of an input.
enum UnrolledStep {
    /// The input is answered.
    Step(DataAnswer, UnrolledState),
    /// The input gives back a value that was not made up yet.
    Nothing,
    /// The machine has no transition: no values are known to compare so.
    NoRoom,
}

impl MadeUpNames {
    /// Chooses names that no input and no constant uses: `n_values` that inputs may give back (none if nothing is made
    /// up), and as many more as one input can make up.
    fn new(signature: &InputSignature, inputs: &[DataInput], n_values: usize) -> Self {
        let most = signature.made.iter().copied().max().unwrap_or(0);
        let n_given = if most == 0 { 0 } else { n_values };
        let mut used: Vec<ValuePoint> =
            inputs.iter().flat_map(|input| input.values.iter().copied()).collect();
        used.extend(&signature.constants);
        let mut points = Vec::new();
        for _ in 0..n_given + most {
            let name = signature.value_at(&used, &[], ValuePlace::New(0));
            used.push(name);
            points.push(name);
        }
        Self { points, n_given }
    }

    /// `input` after `n_made` values were made up; nothing if it gives back one that was not.
    fn fill_made_up(
        &self,
        signature: &InputSignature,
        input: &DataInput,
        n_made: usize,
    ) -> Option<DataInput> {
        let unmade = &self.points[n_made.min(self.points.len())..];
        if input.values.iter().any(|value| unmade.contains(value)) {
            return None;
        }
        let slots = unmade.iter().copied().take(signature.made[input.gate.index()]);
        let values = input.values.iter().copied().chain(slots).collect();
        Some(DataInput { gate: input.gate, values })
    }

    /// Returns the number of values made up once `input` was answered by `answer`, `before` of them being made up
    /// before.
    fn count_made_up(
        &self,
        signature: &InputSignature,
        input: &DataInput,
        answer: &DataAnswer,
        before: usize,
    ) -> usize {
        let mut slots = signature.slots(input).iter();
        // Slots are filled in order; one that the answer skips counts as used, so that the names of later ones stay the
        // same.
        let last = slots.rposition(|&slot| answer.values.contains(&AnswerValue::Point(slot)));
        last.map_or(before, |last| before + last + 1)
    }

    /// Takes one step of the unrolled machine; made-up values are named by the number of those before them.
    fn unrolled_step(
        &self,
        machine: &RegisterMachine,
        at: &(Configuration, usize),
        input: &DataInput,
    ) -> UnrolledStep {
        let Some(input) = self.fill_made_up(&machine.signature, input, at.1) else {
            return UnrolledStep::Nothing;
        };
        let Some((answer, next)) = machine.step(&at.0, &input) else { return UnrolledStep::NoRoom };
        let n_made = self.count_made_up(&machine.signature, &input, &answer, at.1);
        UnrolledStep::Step(answer, (n_made <= self.n_given).then_some((next, n_made)))
    }
}

impl UnrolledMachine {
    /// `machine` over its constants and `n_values` others; nothing if that is too large.
    #[must_use]
    pub fn new(machine: &RegisterMachine, n_values: usize) -> Option<Self> {
        let mut inputs = all_inputs(&machine.signature, n_values, &[]);
        let names = MadeUpNames::new(&machine.signature, &inputs, n_values);
        // The names must differ from the values of the inputs, so the inputs are listed once without them, and once
        // more.
        if names.n_given > 0 {
            inputs = all_inputs(&machine.signature, n_values, &names.points[..names.n_given]);
        }
        if inputs.len() > MAX_INPUTS {
            return None;
        }
        let start: UnrolledState = Some((machine.start(), 0));
        let mut numbers = BTreeMap::from([(start.clone(), 0)]);
        let mut queue = VecDeque::from([start]);
        let mut outputs: BTreeMap<Option<DataAnswer>, usize> = BTreeMap::new();
        let mut table = Vec::new();
        while let Some(at) = queue.pop_front() {
            for input in &inputs {
                let taken =
                    at.as_ref().map_or(UnrolledStep::Nothing, |at| names.unrolled_step(machine, at, input));
                let (said, next) = match taken {
                    UnrolledStep::Step(said, next) => (Some(said), next),
                    // Never asked, so anything will do.
                    UnrolledStep::Nothing | UnrolledStep::NoRoom => (None, at.clone()),
                };
                let n_states = numbers.len();
                let state = *numbers.entry(next.clone()).or_insert(n_states);
                if state == n_states {
                    queue.push_back(next);
                }
                let n_outputs = outputs.len();
                table.push(Some((state, *outputs.entry(said).or_insert(n_outputs))));
            }
            if numbers.len() > MAX_UNROLLED_STATES {
                return None;
            }
        }
        debug_assert_eq!(
            table.len(),
            numbers.len() * inputs.len(),
            "every state was expanded, in order of its number"
        );
        let mealy = Mealy::from_table(numbers.len(), inputs.len(), outputs.len().max(1), &table)?;
        // Configurations that differ only in registers that no longer matter are equal states; suites want a
        // minimal machine.
        let spec = SuiteModel::from_reduced(&mealy).ok()?;
        Some(Self { inputs, names, spec, n_values })
    }

    /// Returns the number of states after minimisation.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.spec.n_states()
    }

    /// Returns the number of values in addition to the constants, as given to [`Self::new`].
    #[must_use]
    pub fn n_values(&self) -> usize {
        self.n_values
    }

    /// The tests of a complete suite, unless it is out of proportion.
    #[must_use]
    pub fn build_suite(&self, method: SuiteMethod, extra: usize) -> Option<Vec<Vec<InputId>>> {
        let words = self.inputs.len().checked_pow(u32::try_from(extra + 1).ok()?)?;
        if words.checked_mul(self.spec.n_states())? > MAX_WORDS {
            return None;
        }
        let mut suite = method.suite(&self.spec, extra);
        let mut tests = Vec::new();
        while let Some(word) = suite.advance() {
            tests.push(word.to_vec());
        }
        Some(tests)
    }

    /// Returns the word to ask for `test`, if answers are those of `machine`: inputs that cannot be given are left
    /// out, and slots that stay hollow have names of their own.
    #[must_use]
    pub fn word_for_test(&self, machine: &RegisterMachine, test: &[InputId]) -> DataWord {
        let signature = &machine.signature;
        let mut at: UnrolledState = Some((machine.start(), 0));
        // A slot that the answer leaves out gets a name that no later value has: it must not be taken for one that
        // is made up afterwards.
        let mut spare = self.names.points.clone();
        let mut word = DataWord::new();
        for input in test {
            let Some(here) = at.clone() else { break };
            let Some(mut filled) = self.names.fill_made_up(signature, &self.inputs[input.index()], here.1)
            else {
                continue;
            };
            let step = machine.step(&here.0, &filled);
            let answer = step.as_ref().map(|(answer, _)| answer);
            for slot in signature.arity[filled.gate.index()]..filled.values.len() {
                let is_said =
                    |answer: &DataAnswer| answer.values.contains(&AnswerValue::Point(filled.values[slot]));
                if !answer.is_some_and(is_said) {
                    let name = signature.value_at(&spare, &[], ValuePlace::New(0));
                    spare.push(name);
                    filled.values[slot] = name;
                }
            }
            word.push(filled);
            // Without room the word is not asked at all.
            let UnrolledStep::Step(_, next) =
                self.names.unrolled_step(machine, &here, &self.inputs[input.index()])
            else {
                continue;
            };
            at = next;
        }
        word
    }
}

/// All inputs whose values are constants, one of `n_values` others, or one of `given`; without slots.
fn all_inputs(signature: &InputSignature, n_values: usize, given: &[ValuePoint]) -> Vec<DataInput> {
    let mut domain = signature.constants.clone();
    let gaps = if signature.theory == Theory::Equality { 1 } else { signature.constants.len() + 1 };
    for gap in (0..gaps).rev() {
        // Gaps among the constants, from above: those below keep their number.
        for _ in 0..n_values {
            let value: ValuePoint =
                signature.value_at(&domain, &[], ValuePlace::New(u32::try_from(gap).unwrap_or(0)));
            domain.push(value);
        }
    }
    domain.extend(given);
    domain.sort_unstable();
    let mut all = Vec::new();
    for gate in signature.gates() {
        let mut rows: Vec<Vec<ValuePoint>> = vec![Vec::new()];
        for _ in 0..signature.arity[gate.index()] {
            let longer = |row: &Vec<ValuePoint>| {
                let row = row.clone();
                domain.iter().map(move |&value| [&row[..], &[value]].concat()).collect::<Vec<_>>()
            };
            rows = rows.iter().flat_map(longer).take(MAX_INPUTS + 1).collect();
        }
        all.extend(rows.into_iter().map(|values| DataInput { gate, values }));
    }
    all
}
