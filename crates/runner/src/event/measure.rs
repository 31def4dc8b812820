//! How much of data and history was covered, as it is told.

use serde::{Deserialize, Serialize};

use crate::coverage::MeasureCount;

/// Things not seen that are named, at most.
const MAX_NAMED: usize = 50;

/// How much of a measure was covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MeasureTold {
    /// `switches`, `pairs`, `comparisons`, `values` or `equalities`.
    pub measure: String,
    /// What was seen.
    pub seen: u64,
    /// What there is, as far as guards alone tell; absent where it is too much to be enumerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub total: Option<u64>,
    /// The first of what was not seen though no guard excludes it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
    pub missing: Vec<String>,
}

impl From<&MeasureCount> for MeasureTold {
    fn from(count: &MeasureCount) -> Self {
        Self {
            measure: count.measure.name().to_owned(),
            seen: count.seen as u64,
            total: count.total.map(|total| total as u64),
            missing: count.missing.iter().take(MAX_NAMED).cloned().collect(),
        }
    }
}

/// How far runs went.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryTold {
    /// Labels of the longest run.
    pub longest_run: u64,
    /// How far variables went.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<ExtentTold>>"))]
    pub extents: Vec<ExtentTold>,
    /// How often a pair of switches not seen yet would come in a million, if runs went on as they did; only where there are
    /// enough of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub new_pairs_per_million: Option<u64>,
}

/// How far a variable went: a number, or the size of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExtentTold {
    /// Its name.
    pub variable: String,
    /// The least.
    pub least: String,
    /// The greatest.
    pub most: String,
}
