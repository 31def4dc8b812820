//! Coverage as plain data: what a unit of a campaign covered, on its way to the others.
//!
//! Only what was seen is told, by position in the model: whoever reads it has the same model. What does not fit the
//! model gives nothing.

use serde::{Deserialize, Serialize};

use ioxide_model::index::Idx as _;
use ioxide_model::number::Int;
use ioxide_model::sts::{GateId, Sts, SwitchId};

use super::class::ValueClass;
use super::item::{ComparisonSide, CoverageItem, EqualTo};
use super::{Coverage, ReplyCount, SwitchCount, ValueExtent};

/// The coverage of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageRecord {
    /// The switches taken: position, number of certain and of possible times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    taken: Vec<(usize, u64, u64)>,
    /// The other items seen, each with the number of times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    seen: Vec<(ItemRecord, u64)>,
    /// The extents of variables: position, least and greatest value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    extents: Vec<(usize, String, String)>,
    /// The number of labels of the longest run.
    longest: usize,
    /// The number of refusals, and of other replies; absent in units of earlier versions.
    #[serde(default)]
    replies: Option<(u64, u64)>,
}

/// An item by positions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ItemRecord {
    Pair(usize, usize),
    Holds(usize, usize),
    Fails(usize, usize),
    Edge(usize, usize),
    Class(usize, usize, String),
    Field(usize, usize, usize),
    Stored(usize, usize, usize),
}

impl CoverageRecord {
    /// Returns the plain data of `coverage`.
    #[must_use]
    pub fn new(coverage: &Coverage) -> Self {
        let taken = coverage.taken.iter_enumerated().filter(|(_, taken)| taken.possible > 0);
        let seen = coverage.seen.iter().filter_map(|(item, &times)| Some((ItemRecord::new(item)?, times)));
        let extent =
            |(&at, extent): (&usize, &ValueExtent)| (at, extent.least.to_string(), extent.most.to_string());
        Self {
            taken: taken.map(|(id, taken)| (id.index(), taken.certain, taken.possible)).collect(),
            seen: seen.collect(),
            extents: coverage.extents.iter().map(extent).collect(),
            longest: coverage.longest,
            replies: Some((coverage.replies.refused, coverage.replies.other)),
        }
    }

    /// Returns the coverage of `sts` that the data describe; `None` if they are of another model.
    #[must_use]
    pub fn to_coverage(&self, sts: &Sts) -> Option<Coverage> {
        let mut coverage = Coverage::new(sts);
        for &(at, certain, possible) in &self.taken {
            coverage.taken[switch_at(sts, at)?] = SwitchCount { certain, possible };
        }
        for (item, times) in &self.seen {
            coverage.seen.insert(item.to_item(sts)?, *times);
        }
        for (at, least, most) in &self.extents {
            let extent = ValueExtent { least: least.parse::<Int>().ok()?, most: most.parse::<Int>().ok()? };
            coverage.extents.insert((*at < sts.vars.len()).then_some(*at)?, extent);
        }
        coverage.longest = self.longest;
        // Nobody knows what the replies of an earlier version were: they are not called refusals.
        let (refused, other) = self.replies.unwrap_or((0, 1));
        coverage.replies = ReplyCount { refused, other };
        Some(coverage)
    }
}

/// Returns the switch at a position, if the model has it.
fn switch_at(sts: &Sts, at: usize) -> Option<SwitchId> {
    (at < sts.switches.len()).then(|| SwitchId::new(at))
}

/// Returns the gate at a position, if the model has it with this field.
fn gate(sts: &Sts, at: usize, field: usize) -> Option<GateId> {
    let gate = (at < sts.gates.len()).then(|| GateId::new(at))?;
    (field < sts.gates[gate].fields.len()).then_some(gate)
}

impl ItemRecord {
    /// Makes the record of `item`; `None` for a switch, which records count elsewhere.
    fn new(item: &CoverageItem) -> Option<Self> {
        Some(match item {
            CoverageItem::Switch(_) => return None,
            CoverageItem::Pair(first, then) => Self::Pair(first.index(), then.index()),
            CoverageItem::Side(id, at, ComparisonSide::Holds) => Self::Holds(id.index(), *at),
            CoverageItem::Side(id, at, ComparisonSide::Fails) => Self::Fails(id.index(), *at),
            CoverageItem::Side(id, at, ComparisonSide::Edge) => Self::Edge(id.index(), *at),
            CoverageItem::Class(gate, at, class) => Self::Class(gate.index(), *at, class.code()),
            CoverageItem::Equal(gate, at, EqualTo::Field(other)) => Self::Field(gate.index(), *at, *other),
            CoverageItem::Equal(gate, at, EqualTo::Stored(var)) => Self::Stored(gate.index(), *at, *var),
        })
    }

    fn to_item(&self, sts: &Sts) -> Option<CoverageItem> {
        let side = |id: usize, at: usize, side| Some(CoverageItem::Side(switch_at(sts, id)?, at, side));
        match self {
            Self::Pair(first, then) => {
                Some(CoverageItem::Pair(switch_at(sts, *first)?, switch_at(sts, *then)?))
            }
            Self::Holds(id, at) => side(*id, *at, ComparisonSide::Holds),
            Self::Fails(id, at) => side(*id, *at, ComparisonSide::Fails),
            Self::Edge(id, at) => side(*id, *at, ComparisonSide::Edge),
            Self::Class(id, at, code) => {
                Some(CoverageItem::Class(gate(sts, *id, *at)?, *at, ValueClass::of_code(code)?))
            }
            Self::Field(id, at, other) => {
                gate(sts, *id, *other)?;
                Some(CoverageItem::Equal(gate(sts, *id, *at)?, *at, EqualTo::Field(*other)))
            }
            Self::Stored(id, at, var) => {
                let var = (*var < sts.vars.len()).then_some(*var)?;
                Some(CoverageItem::Equal(gate(sts, *id, *at)?, *at, EqualTo::Stored(var)))
            }
        }
    }
}
