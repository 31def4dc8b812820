//! The effect of a busy machine on a run or a campaign.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::run::LagEffect;

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

impl LagRecord {
    /// Returns the effect in milliseconds; `None` if there was none.
    #[must_use]
    pub fn new(effect: LagEffect) -> Option<Self> {
        let ms = |time: Duration| u64::try_from(time.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX);
        (effect != LagEffect::default())
            .then(|| Self { waits_ms: ms(effect.waits), tolerance_ms: ms(effect.tolerance) })
    }
}

impl From<LagRecord> for LagEffect {
    fn from(lag: LagRecord) -> Self {
        let time = Duration::from_millis;
        Self { waits: time(lag.waits_ms), tolerance: time(lag.tolerance_ms) }
    }
}
