//! Places: the position of a value among others, and words up to the places of their values.
//!
//! A *point* stands for a value: only how points compare matters, never how large they are. The place of a value among
//! known ones says which of them it is, or that it is new; with an order, also between which of them it lies. Words
//! whose values have the same places, one after the other, are the same word as far as a system can tell.
//!
//! A value that the *system* makes up, such as the number of a session, is a value of the input to which it is the
//! answer: a [slot](InputSignature::made) behind the fields. Nobody gives it; the point there is the name that the
//! value has if one is made up, always new. So words say nothing about answers, and whether a later input gives the
//! value back is a place like any other. A slot that the answer does not fill is *hollow*: a value that nobody has
//! seen.

use ioxide_fsm::mealy::{InputId, OutputId};

/// A value, of which only how it compares with others matters.
pub type ValuePoint = i128;

/// The distance of a point beyond all others from the nearest. A gap is halved at every value put into it, so this
/// many bits are the number of values that can be put between two, each below the one before.
pub const STRIDE: ValuePoint = 1 << 80;

/// The theory by which values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theory {
    /// Equal or not.
    Equality,
    /// Smaller, equal or greater.
    Order,
}

/// The place of a value among known ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValuePlace {
    /// The known value with this number.
    Same(u32),
    /// A new value; with an order, this many known values are smaller.
    New(u32),
}

/// An input with its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataInput {
    /// The gate of the input.
    pub gate: InputId,
    /// The values of its fields, then the points of its slots.
    pub values: Vec<ValuePoint>,
}

/// A finite sequence of inputs with values.
pub type DataWord = Vec<DataInput>;

/// A value in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnswerValue {
    /// A value that occurred before, a value made up in a slot of the input, or a constant.
    Point(ValuePoint),
    /// A fixed value that the system gives by itself.
    Literal(i64),
}

/// The answer of a system to an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataAnswer {
    /// The output without its values.
    pub shape: OutputId,
    /// The values of its fields.
    pub values: Vec<AnswerValue>,
}

/// The inputs of a system and how their values are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputSignature {
    /// The theory by which values are compared.
    pub theory: Theory,
    /// Values that the system knows from the start, in order.
    pub constants: Vec<ValuePoint>,
    /// The number of fields of each input.
    pub arity: Vec<usize>,
    /// The number of values that the system may make up in its answer to each input: its slots; all 0 with an order.
    pub made: Vec<usize>,
}

/// An input whose values are places.
pub type ValueRegion = (InputId, Vec<ValuePlace>);

impl InputSignature {
    /// All inputs.
    pub fn gates(&self) -> impl Iterator<Item = InputId> + use<> {
        use ioxide_model::index::Idx;
        (0..self.arity.len()).map(InputId::new)
    }

    /// Returns the number of values of an input: its fields and its slots.
    #[must_use]
    pub fn n_values(&self, gate: InputId) -> usize {
        use ioxide_model::index::Idx;
        self.arity[gate.index()] + self.made[gate.index()]
    }

    /// Returns the slots of `input`: the points of the values that the answer to it may make up.
    #[must_use]
    pub fn slots<'i>(&self, input: &'i DataInput) -> &'i [ValuePoint] {
        use ioxide_model::index::Idx;
        input.values.get(self.arity[input.gate.index()]..).unwrap_or_default()
    }

    /// The place of `value` among `known`.
    #[must_use]
    pub fn place_of(&self, known: &[ValuePoint], value: ValuePoint) -> ValuePlace {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        match known.iter().position(|&it| it == value) {
            Some(at) => ValuePlace::Same(number(at)),
            None if self.theory == Theory::Equality => ValuePlace::New(0),
            None => ValuePlace::New(number(known.iter().filter(|&&it| it < value).count())),
        }
    }

    /// The places of `values`, each among `known` and those before it; new ones are added to `known`.
    pub fn places_of(&self, known: &mut Vec<ValuePoint>, values: &[ValuePoint]) -> Vec<ValuePlace> {
        let place = |&value: &ValuePoint| {
            let place = self.place_of(known, value);
            if matches!(place, ValuePlace::New(_)) {
                known.push(value);
            }
            place
        };
        values.iter().map(place).collect()
    }

    /// A value at `place` among `known` that is none of `others`, and greater than those of them it could be confused
    /// with.
    #[must_use]
    pub fn value_at(&self, known: &[ValuePoint], others: &[ValuePoint], place: ValuePlace) -> ValuePoint {
        let rank = match place {
            ValuePlace::Same(number) => return known[number as usize],
            ValuePlace::New(rank) => rank as usize,
        };
        let mut sorted = known.to_vec();
        sorted.sort_unstable();
        let above = match self.theory {
            Theory::Equality => None,
            Theory::Order => sorted.get(rank).copied(),
        };
        let is_below = |point: ValuePoint| above.is_none_or(|above| point < above);
        // The nearest value from below, `others` included: a value between the two compares with `known` as the place
        // says, and lies above every other value that it could be taken for.
        let below = known.iter().chain(others).copied().filter(|&point| is_below(point)).max();
        let value = match (below, above) {
            // Halving leaves room on both sides; with a stride of 2^80 some eighty values fit into one gap.
            (Some(below), Some(above)) => below + (above - below) / 2,
            (Some(below), None) => below + STRIDE,
            (None, Some(above)) => above - STRIDE,
            (None, None) => 0,
        };
        debug_assert!(!known.contains(&value), "there is room for another value at {place:?}");
        value
    }

    /// Values at `places`, as [`value_at`](Self::value_at); new ones are added to `known`.
    pub fn values_at(
        &self,
        known: &mut Vec<ValuePoint>,
        others: &[ValuePoint],
        places: &[ValuePlace],
    ) -> Vec<ValuePoint> {
        let value = |&place: &ValuePlace| {
            let value = self.value_at(known, others, place);
            if matches!(place, ValuePlace::New(_)) {
                known.push(value);
            }
            value
        };
        places.iter().map(value).collect()
    }

    /// Returns all ways in which the values of `gate` can compare with `n_known` values and with each other; slots
    /// are new.
    #[must_use]
    pub fn regions(&self, n_known: usize, gate: InputId) -> Vec<ValueRegion> {
        use ioxide_model::index::Idx;
        // Row by row: a value is one of those known so far, or new in one of the gaps between them, and is known from
        // then on. With order a field has 2n+1 places beside n known values, and the next field up to two more: hence
        // the limit on registers.
        let mut rows: Vec<(Vec<ValuePlace>, usize)> = vec![(Vec::new(), n_known)];
        for at in 0..self.n_values(gate) {
            let is_given = at < self.arity[gate.index()];
            let longer = |(row, known): &(Vec<ValuePlace>, usize)| {
                let (row, known) = (row.clone(), *known);
                let gaps = if self.theory == Theory::Equality { 1 } else { known + 1 };
                let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
                let same = (0..if is_given { known } else { 0 })
                    .map(move |at| (ValuePlace::Same(number(at)), known));
                let new = (0..gaps).map(move |gap| (ValuePlace::New(number(gap)), known + 1));
                same.chain(new).map(move |(place, known)| {
                    let mut longer = row.clone();
                    longer.push(place);
                    (longer, known)
                })
            };
            rows = rows.iter().flat_map(longer).collect();
        }
        rows.into_iter().map(|(places, _)| (gate, places)).collect()
    }

    /// Returns the places of `values` among the constants and those before each: how they compare.
    #[must_use]
    pub fn comparison_pattern(&self, values: &[ValuePoint]) -> Vec<ValuePlace> {
        self.places_of(&mut self.constants.clone(), values)
    }
}
