//! Equivalence of two register automata, decided on all pairs of configurations that a common word leads to, up to
//! how their values compare.
//!
//! There are finitely many such pairs, so the search ends; it is breadth-first, so what it finds is shortest. *Assumes*
//! that between two values there is always another one.

use std::collections::{BTreeSet, VecDeque};

use super::machine::{Configuration, RegisterMachine};
use super::place::{DataAnswer, DataInput, DataWord, InputSignature, ValuePlace, ValuePoint};

/// A machine with values, whatever its form.
pub trait DataMachine {
    /// A location with the values it stores.
    type At: Clone + Ord;

    /// Returns the initial configuration.
    fn start(&self) -> Self::At;

    /// Returns the answer to `input` at `at` and the next configuration; `None` if the machine has no transition.
    fn step(&self, at: &Self::At, input: &DataInput) -> Option<(DataAnswer, Self::At)>;

    /// Returns the values stored at `at`.
    fn values<'a>(&self, at: &'a Self::At) -> &'a [ValuePoint];

    /// Returns the same configuration with each stored value replaced.
    fn rename_values(&self, at: &Self::At, by: &dyn Fn(ValuePoint) -> ValuePoint) -> Self::At;
}

impl DataMachine for RegisterMachine {
    type At = Configuration;

    fn start(&self) -> Configuration {
        Self::start(self)
    }

    fn step(&self, at: &Configuration, input: &DataInput) -> Option<(DataAnswer, Configuration)> {
        Self::step(self, at, input)
    }

    fn values<'a>(&self, at: &'a Configuration) -> &'a [ValuePoint] {
        &at.registers
    }

    fn rename_values(&self, at: &Configuration, by: &dyn Fn(ValuePoint) -> ValuePoint) -> Configuration {
        let registers = at.registers.iter().map(|&value| by(value)).collect();
        Configuration { location: at.location, registers }
    }
}

/// A shortest word that is answered differently, if there is one.
pub fn find_separating_word<A: DataMachine, B: DataMachine>(
    signature: &InputSignature,
    a: &A,
    b: &B,
) -> Option<DataWord> {
    let first = (a.start(), b.start());
    let mut seen = BTreeSet::from([normalise_pair(signature, a, b, &first)]);
    let mut queue = VecDeque::from([(first, DataWord::new())]);
    while let Some((pair, word)) = queue.pop_front() {
        for input in inputs_to_compare(signature, a.values(&pair.0), b.values(&pair.1), &word) {
            let (from_a, from_b) = (a.step(&pair.0, &input), b.step(&pair.1, &input));
            let mut longer = word.clone();
            longer.push(input);
            // A transition that one machine lacks is a difference as well: there is no answer to compare.
            let next = match (from_a, from_b) {
                (Some((said, next_a)), Some((other, next_b))) if said == other => (next_a, next_b),
                (None, None) => continue,
                _ => return Some(longer),
            };
            if seen.insert(normalise_pair(signature, a, b, &next)) {
                queue.push_back((next, longer));
            }
        }
    }
    None
}

/// One input for every way in which its values can compare with what is remembered.
fn inputs_to_compare(
    signature: &InputSignature,
    a: &[ValuePoint],
    b: &[ValuePoint],
    word: &[DataInput],
) -> Vec<DataInput> {
    let mut known = signature.constants.clone();
    for &value in a.iter().chain(b) {
        if !known.contains(&value) {
            known.push(value);
        }
    }
    // Values that are forgotten are not taken again, so that a word shows only what matters.
    let others: Vec<ValuePoint> = word.iter().flat_map(|input| input.values.iter().copied()).collect();
    let regions = signature.gates().flat_map(|gate| signature.regions(known.len(), gate));
    let input = |(gate, places): (_, Vec<ValuePlace>)| DataInput {
        gate,
        values: signature.values_at(&mut known.clone(), &others, &places),
    };
    regions.map(input).collect()
}

/// The pair with each value replaced by its rank, or by its number where there is no order.
fn normalise_pair<A: DataMachine, B: DataMachine>(
    signature: &InputSignature,
    a: &A,
    b: &B,
    pair: &(A::At, B::At),
) -> (A::At, B::At) {
    let mut known: Vec<ValuePoint> = a.values(&pair.0).iter().chain(b.values(&pair.1)).copied().collect();
    let mut once = BTreeSet::new();
    known.retain(|&value| once.insert(value) && !signature.constants.contains(&value));
    // The points of values say nothing but how they compare, so two pairs whose values compare alike have the same
    // future. Placing the values afresh in the gaps between the constants gives such pairs the same name.
    let mut between = signature.constants.clone();
    let fresh: Vec<ValuePoint> = {
        let places = signature.places_of(&mut between.clone(), &known);
        signature.values_at(&mut between, &[], &places)
    };
    debug_assert_eq!(fresh.len(), known.len(), "each value has its own replacement");
    let by = |value: ValuePoint| known.iter().position(|&it| it == value).map_or(value, |at| fresh[at]);
    (a.rename_values(&pair.0, &by), b.rename_values(&pair.1, &by))
}
