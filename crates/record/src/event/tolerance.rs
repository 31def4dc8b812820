//! The tolerance of a run on the clock of this machine, kept in the record, so that it is judged as the run was.

use serde::{Deserialize, Serialize};

/// The largest difference between observed and true instants, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToleranceRecord {
    /// The longest time that a message travels, to the system or from it.
    pub latency_ns: u64,
    /// The resolution of the clock.
    pub resolution_ns: u64,
    /// The longest time by which the system may have started before its start was reported.
    #[serde(default)]
    pub start_ns: u64,
}
