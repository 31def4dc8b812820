//! The items of data and history that can be covered in addition to switches.
//!
//! Switch coverage (\[BT19]) says nothing of values and of what came before. These items do: which switch followed
//! which, on which side of a comparison the values of an input were, what kind of value a field had, and to what it was
//! equal. Comparisons with clocks are instants: before, at and after a deadline or the edge of a guard.

use std::cmp::Ordering;

use ioxide_model::sts::{GateId, Sts, SwitchId};
use ioxide_model::term::{Term, TermPool};

use super::class::ValueClass;

/// An item that was covered, or could be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoverageItem {
    /// A switch was certainly taken.
    Switch(SwitchId),
    /// A switch certainly followed another.
    Pair(SwitchId, SwitchId),
    /// An input by a switch was on this side of a comparison, by its position among those of the switch.
    Side(SwitchId, usize, ComparisonSide),
    /// A field, by position, of an input had a value of this class.
    Class(GateId, usize, ValueClass),
    /// A field of an input was equal to something else of its sort.
    Equal(GateId, usize, EqualTo),
}

/// The relation of values to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComparisonSide {
    /// The comparison holds.
    Holds,
    /// The comparison does not hold.
    Fails,
    /// Both sides of the comparison are equal.
    Edge,
}

/// The counterpart that a field can be equal to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EqualTo {
    /// A later field of the same message, by position.
    Field(usize),
    /// A variable of the model before the input, by position.
    Stored(usize),
}

/// A measure: the items of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Switches.
    Switches,
    /// Pairs of switches.
    Pairs,
    /// Sides and edges of comparisons, instants included.
    Comparisons,
    /// Classes of the values of fields.
    Values,
    /// Equal fields, and fields equal to what is stored.
    Equalities,
}

impl Measure {
    /// All measures, as they are shown.
    pub const ALL: [Self; 5] =
        [Self::Switches, Self::Pairs, Self::Comparisons, Self::Values, Self::Equalities];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Switches => "switches",
            Self::Pairs => "pairs",
            Self::Comparisons => "comparisons",
            Self::Values => "values",
            Self::Equalities => "equalities",
        }
    }
}

impl CoverageItem {
    /// The measure it belongs to.
    #[must_use]
    pub fn measure(&self) -> Measure {
        match self {
            Self::Switch(_) => Measure::Switches,
            Self::Pair(..) => Measure::Pairs,
            Self::Side(..) => Measure::Comparisons,
            Self::Class(..) => Measure::Values,
            Self::Equal(..) => Measure::Equalities,
        }
    }

    /// Returns the item as text for people; `comparison` gives the comparison of a switch at a position.
    pub fn show(
        &self,
        pool: &TermPool,
        sts: &Sts,
        comparison: impl FnOnce(SwitchId, usize) -> Option<Term>,
    ) -> String {
        let label = |id: SwitchId| &sts.switches[id].label;
        match self {
            Self::Switch(id) => label(*id).to_string(),
            Self::Pair(first, then) => format!("{} then {}", label(*first), label(*then)),
            Self::Side(id, at, side) => {
                let what = comparison(*id, *at).map_or_else(String::new, |term| pool.show(term).to_string());
                let how = match side {
                    ComparisonSide::Holds => "true",
                    ComparisonSide::Fails => "false",
                    ComparisonSide::Edge => "at its edge",
                };
                format!("`{what}` {how} in {}", label(*id))
            }
            Self::Class(gate, at, class) => format!("{} {class}", field_text(pool, sts, *gate, *at)),
            Self::Equal(gate, at, EqualTo::Field(other)) => {
                let other = &pool.var_info(sts.gates[*gate].fields[*other]).name;
                format!("{} equal to {other}", field_text(pool, sts, *gate, *at))
            }
            Self::Equal(gate, at, EqualTo::Stored(var)) => {
                let stored = &pool.var_info(sts.vars[*var].var).name;
                format!("{} equal to stored {stored}", field_text(pool, sts, *gate, *at))
            }
        }
    }
}

/// A field as people write it.
fn field_text(pool: &TermPool, sts: &Sts, gate: GateId, at: usize) -> String {
    format!("{}.{}", sts.gates[gate].name, pool.var_info(sts.gates[gate].fields[at]).name)
}

impl ComparisonSide {
    /// Returns the sides that values are on: whether the comparison holds, and its edge if both terms are equal.
    #[must_use]
    pub fn sides(holds: bool, order: Option<Ordering>) -> [Option<Self>; 2] {
        let side = if holds { Self::Holds } else { Self::Fails };
        [Some(side), (order == Some(Ordering::Equal)).then_some(Self::Edge)]
    }
}
