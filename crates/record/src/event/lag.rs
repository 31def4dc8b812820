//! The effect of a busy machine on a run or a campaign.

use serde::{Deserialize, Serialize};

/// The effect of a busy machine, in milliseconds, rounded up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LagRecord {
    /// The longest extension of a wait for silence.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub waits_ms: u64,
    /// The largest widening of the tolerance of instants; a run that needed it is inconclusive.
    #[serde(default, skip_serializing_if = "super::is_zero")]
    pub tolerance_ms: u64,
}
