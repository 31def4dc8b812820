//! The coverage of data and history, as events report it.

use serde::{Deserialize, Serialize};

/// The coverage of a measure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MeasureRecord {
    /// `switches`, `pairs`, `comparisons`, `values` or `equalities`.
    pub measure: String,
    /// The number of items seen.
    pub seen: u64,
    /// The number of items, as far as guards alone tell; absent if they are too many to be enumerated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub total: Option<u64>,
    /// The first items that were not seen though no guard excludes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
    pub missing: Vec<String>,
}

/// The extent of the runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct HistoryRecord {
    /// The number of labels of the longest run.
    pub longest_run: u64,
    /// The least and the greatest value of each variable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<ExtentRecord>>"))]
    pub extents: Vec<ExtentRecord>,
    /// The number of new pairs of switches expected among the next million, if runs go on as they did; absent if too
    /// few were seen to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub new_pairs_per_million: Option<u64>,
}

/// The extent of a variable: of its numbers, or of the sizes of its collections.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ExtentRecord {
    /// Its name.
    pub variable: String,
    /// The least value.
    pub least: String,
    /// The greatest value.
    pub most: String,
}
