//! The tolerance of a run on the clock of this machine, kept in the record, so that it is judged as the run was.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use ioxide_symex::Tolerance;

use crate::clock::{duration, seconds};

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

impl From<&Tolerance> for ToleranceRecord {
    fn from(tolerance: &Tolerance) -> Self {
        let nanoseconds = |time| u64::try_from(duration(time).as_nanos()).unwrap_or(u64::MAX);
        Self {
            latency_ns: nanoseconds(&tolerance.latency),
            resolution_ns: nanoseconds(&tolerance.resolution),
            start_ns: nanoseconds(&tolerance.start),
        }
    }
}

impl From<ToleranceRecord> for Tolerance {
    fn from(told: ToleranceRecord) -> Self {
        let time = |ns| seconds(Duration::from_nanos(ns));
        let (latency, resolution) = (time(told.latency_ns), time(told.resolution_ns));
        Self { latency, resolution, start: time(told.start_ns) }
    }
}
