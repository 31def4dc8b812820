//! Values that compare as points do, and back.
//!
//! A learner speaks of points, of which only comparisons matter. For every run the points become values: constants
//! themselves, all others by chance, so that a system which looks at more than comparisons is soon caught answering the
//! same word in two ways.

use ioxide_model::number::Int;
use ioxide_model::sort::Sort;
use ioxide_model::value::Value;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::made_values::MadeValues;
use crate::register::place::{DataInput, InputSignature, Theory, ValuePlace, ValuePoint};

/// The distance from zero, or from the only limit, at which the chosen numbers begin. Chosen by feel: away from numbers
/// that systems treat as special.
const FIRST_NUMBER: i64 = 1000;

/// The distance between two chosen numbers where there is room, before a random offset. Chosen by feel.
const APART: i64 = 50;

/// The distance between the points of two constants.
const STRIDE: ValuePoint = 1 << 96;

/// The kind of values that a field can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueKind {
    /// Numbers from the first to the second, both included; `None` where there is no limit.
    Number(Option<i64>, Option<i64>),
    /// Texts.
    Text,
}

impl ValueKind {
    /// Returns the kind of values of `sort`; `None` if they are no data.
    #[must_use]
    pub fn of_sort(sort: Sort) -> Option<Self> {
        match sort {
            Sort::Int => Some(Self::Number(None, None)),
            Sort::Range { lo, hi } => Some(Self::Number(Some(lo), Some(hi))),
            Sort::Str => Some(Self::Text),
            Sort::Bool | Sort::Real | Sort::Data(_) | Sort::Collection(_) => None,
        }
    }
}

/// The values of all fields.
#[derive(Debug)]
pub struct FieldValues {
    /// The signature of the inputs, as the learner needs it.
    pub signature: InputSignature,
    /// The kind of each data field of each input.
    pub kinds: Vec<Vec<ValueKind>>,
    /// The values that the system makes up.
    pub made: MadeValues,
    constants: Vec<Value>,
    /// The least number that all fields can hold; `None` without a limit.
    least: Option<i64>,
    /// The greatest number that all fields can hold; `None` without a limit.
    most: Option<i64>,
}

/// Points and the values they stand for.
pub type PointValues = Vec<(ValuePoint, Value)>;

impl FieldValues {
    /// Values of fields of these kinds, and those that are `made`, compared by `theory`.
    #[must_use]
    pub fn new(
        theory: Theory,
        mut constants: Vec<Value>,
        kinds: Vec<Vec<ValueKind>>,
        made: MadeValues,
    ) -> Self {
        constants.sort();
        constants.dedup();
        // The constants are sorted, so their points compare as they do; between two points there is room for every
        // other value of a run.
        let points = (0..constants.len()).map(|at| ValuePoint::try_from(at).unwrap_or(0) * STRIDE).collect();
        let arity = kinds.iter().map(Vec::len).collect();
        let limits = || {
            kinds.iter().flatten().filter_map(|kind| match kind {
                ValueKind::Number(least, most) => Some((*least, *most)),
                ValueKind::Text => None,
            })
        };
        let least = limits().filter_map(|it| it.0).max();
        let most = limits().filter_map(|it| it.1).min();
        let n_slots = |gate: usize| made.slots.get(gate).map_or(0, Vec::len);
        let signature = InputSignature {
            theory,
            constants: points,
            arity,
            made: (0..kinds.len()).map(n_slots).collect(),
        };
        Self { signature, kinds, made, constants, least, most }
    }

    /// Returns the constants with their points.
    #[must_use]
    pub fn constants(&self) -> PointValues {
        self.signature.constants.iter().copied().zip(self.constants.iter().cloned()).collect()
    }

    /// Returns random values for all points that `word` gives; `None` if no values compare so. The values for slots are
    /// placeholders: those that the system makes up are not known yet.
    pub fn choose_values(&self, word: &[DataInput], rng: &mut ChaCha8Rng) -> Option<PointValues> {
        let mut pairs = self.constants();
        let mut numbers = Vec::new();
        let mut texts = Vec::new();
        let mut made: Vec<(ValuePoint, ValueKind)> = Vec::new();
        for input in word {
            let kinds = &self.kinds[ioxide_model::index::Idx::index(input.gate)];
            for (&point, &kind) in input.values.iter().zip(kinds) {
                // The value of a slot is not known yet: the field must be able to hold whatever the system makes up.
                if made.iter().any(|(slot, held)| *slot == point && !can_hold_all(kind, *held)) {
                    return None;
                }
                let known = pairs.iter().find(|(it, _)| *it == point).map(|(_, value)| value);
                match (known, kind) {
                    (Some(value), kind) if !can_hold(kind, value) => return None,
                    (Some(_), _) => (),
                    (None, ValueKind::Text) if numbers.contains(&point) => return None,
                    (None, ValueKind::Number(..)) if texts.contains(&point) => return None,
                    (None, ValueKind::Text) if !texts.contains(&point) => texts.push(point),
                    (None, ValueKind::Number(..)) if !numbers.contains(&point) => numbers.push(point),
                    (None, _) => (),
                }
            }
            made.extend(self.slots(input));
        }
        // Texts first: the order in which random numbers are drawn is part of what a seed fixes.
        pairs.extend(self.choose_texts(texts, rng));
        pairs.extend(self.choose_numbers(numbers, rng)?);
        Some(pairs)
    }

    fn choose_texts(&self, points: Vec<ValuePoint>, rng: &mut ChaCha8Rng) -> PointValues {
        let mut names: Vec<String> =
            (0..points.len() + self.constants.len()).map(|at| format!("v{at}")).collect();
        names.retain(|name| !self.constants.iter().any(|constant| constant.as_str() == Some(name)));
        names.shuffle(rng);
        points.into_iter().zip(names.iter().map(|name| Value::str(name))).collect()
    }

    fn choose_numbers(&self, mut points: Vec<ValuePoint>, rng: &mut ChaCha8Rng) -> Option<PointValues> {
        points.sort_unstable();
        let whole = |value: &Value| value.as_int().and_then(Int::to_i64);
        let mut known: Vec<(ValuePoint, i64)> =
            self.constants().iter().filter_map(|(point, value)| Some((*point, whole(value)?))).collect();
        known.retain(|(_, value)| {
            self.least.is_none_or(|least| *value >= least) && self.most.is_none_or(|most| *value <= most)
        });
        let (low, high) =
            (self.least.map(|it| it.saturating_sub(1)), self.most.map(|it| it.saturating_add(1)));
        let mut pairs = PointValues::new();
        if self.signature.theory == Theory::Equality {
            // Equal or not is all that counts, so any numbers will do; in random order, a system that compares by order
            // is found out.
            points.shuffle(rng);
            let used: Vec<i64> = known.iter().map(|(_, value)| *value).collect();
            let mut free = numbers_between(low, high, points.len() + used.len(), rng)?;
            free.retain(|value| !used.contains(value));
            pairs.extend(points.into_iter().zip(free.into_iter().map(Value::int)));
            return Some(pairs);
        }
        // Gap by gap between the constants: the points of a gap get numbers of the same gap, in the same order.
        let mut below = low;
        for upper in known.iter().copied().map(Some).chain([None]) {
            let (limit, above) = upper.map_or((ValuePoint::MAX, high), |(point, value)| (point, Some(value)));
            let here: Vec<ValuePoint> = points.iter().copied().filter(|&point| point < limit).collect();
            // No point equals a limit: those of constants have their values already.
            points.retain(|&point| point > limit);
            let values = numbers_between(below, above, here.len(), rng)?;
            pairs.extend(here.into_iter().zip(values.into_iter().map(Value::int)));
            below = above;
        }
        Some(pairs)
    }

    /// Returns the slots of `input`, each with the kind of its values.
    pub fn slots<'d>(&'d self, input: &'d DataInput) -> impl Iterator<Item = (ValuePoint, ValueKind)> + 'd {
        let kinds = self.made.slots.get(ioxide_model::index::Idx::index(input.gate)).into_iter().flatten();
        self.signature.slots(input).iter().copied().zip(kinds.copied())
    }

    /// Returns the point of `value` among those known; new values get one that compares as they do, and that is not
    /// `hollow`.
    pub fn find_or_add_point(
        &self,
        known: &mut PointValues,
        hollow: &[ValuePoint],
        value: &Value,
    ) -> ValuePoint {
        if let Some((point, _)) = known.iter().find(|(_, it)| it == value) {
            return *point;
        }
        let smaller = known.iter().filter(|(_, it)| it < value).count();
        // The number of known values below the new one says where it lies; for equality every place is as good.
        let place = match self.signature.theory {
            Theory::Equality => ValuePlace::New(0),
            Theory::Order => ValuePlace::New(u32::try_from(smaller).unwrap_or(0)),
        };
        let points: Vec<ValuePoint> = known.iter().map(|(point, _)| *point).collect();
        let point = self.signature.value_at(&points, hollow, place);
        known.push((point, value.clone()));
        point
    }
}

/// Returns whether a field of this kind can hold `value`.
#[must_use]
pub fn can_hold(kind: ValueKind, value: &Value) -> bool {
    match (kind, value) {
        (ValueKind::Text, Value::Str(_)) => true,
        (ValueKind::Number(least, most), Value::Int(value)) => value
            .to_i64()
            .is_some_and(|it| least.is_none_or(|least| it >= least) && most.is_none_or(|most| it <= most)),
        _ => false,
    }
}

/// Returns whether a field of this kind can hold every value of kind `other`.
fn can_hold_all(kind: ValueKind, other: ValueKind) -> bool {
    match (kind, other) {
        (ValueKind::Text, ValueKind::Text) => true,
        (ValueKind::Number(least, most), ValueKind::Number(low, high)) => {
            let above = least.is_none_or(|least| low.is_some_and(|low| low >= least));
            above && most.is_none_or(|most| high.is_some_and(|high| high <= most))
        }
        _ => false,
    }
}

/// Returns `n` random numbers between two limits, both excluded, in ascending order; `None` if there are not as many.
fn numbers_between(low: Option<i64>, high: Option<i64>, n: usize, rng: &mut ChaCha8Rng) -> Option<Vec<i64>> {
    let count = i64::try_from(n).ok()?;
    // Now and then as close to the lower one as can be.
    let is_close = rng.random_ratio(1, 4);
    let mut jitter = |most: i64| rng.random_range(0..=most.max(0));
    match (low, high) {
        (low, None) => {
            let first = match low {
                Some(low) if is_close => low.checked_add(1)?,
                Some(low) => low.checked_add(FIRST_NUMBER)?,
                // Beyond zero, on both sides of it, and below.
                None => [FIRST_NUMBER, FIRST_NUMBER, count * -APART / 2, -FIRST_NUMBER - count * APART]
                    [usize::try_from(jitter(3)).unwrap_or(0)],
            };
            let step = if is_close && low.is_some() { 1 } else { APART };
            (0..count).map(|at| first.checked_add(at * step)?.checked_add(jitter(step - 1))).collect()
        }
        (None, Some(high)) => {
            let first = high.checked_sub(FIRST_NUMBER)?.checked_sub(count * APART)?;
            (0..count).map(|at| first.checked_add(at * APART + jitter(APART - 1))).collect()
        }
        (Some(low), Some(high)) => {
            let room = high.checked_sub(low)?.checked_sub(1)?;
            if room < count {
                return None;
            }
            // The room in equal shares, one number in each: ascending, distinct, and never outside, since `count * step
            // <= room`.
            let step = if count == 0 { 1 } else { room / count };
            (0..count).map(|at| low.checked_add(1 + at * step + jitter(step - 1))).collect()
        }
    }
}
