//! The times of a run: its clock, the instants that count, latencies, and the lag of this machine.

use std::time::{Duration, Instant};

use ioxide_symex::Tolerance;

use super::LagEffect;
use super::pace::RunPace;
use crate::clock::lag::LagWatch;
use crate::clock::latency::Latencies;
use crate::clock::spent::TimeSpent;

/// The times of a run under way.
pub(super) struct RunTiming {
    pub(super) pace: RunPace,
    /// The tolerance of instants, with that of the start.
    pub(super) tolerance: Tolerance,
    /// The time since the reset up to which the passage of time was reported.
    pub(super) told_until: Duration,
    /// The instant at which the system was last given something to answer; `None` once it has answered.
    pub(super) asked: Option<Instant>,
    pub(super) latencies: Latencies,
    /// The lag of this machine since the run began; `None` where no time is measured.
    pub(super) lag: Option<LagWatch>,
    pub(super) lag_effect: LagEffect,
    /// The use of the time of this run.
    pub(super) spent: TimeSpent,
    /// True if events have times.
    pub(super) has_times: bool,
}

impl RunTiming {
    /// Returns the times of a run that begins now.
    pub(super) fn new(pace: RunPace, tolerance: Tolerance, lag: Option<LagWatch>, has_times: bool) -> Self {
        Self {
            pace,
            tolerance,
            told_until: Duration::ZERO,
            asked: Some(Instant::now()),
            latencies: Latencies::default(),
            lag,
            lag_effect: LagEffect::default(),
            spent: TimeSpent::default(),
            has_times,
        }
    }

    /// Returns whether the model has no clocks.
    pub(super) fn is_untimed(&self) -> bool {
        matches!(self.pace, RunPace::Untimed)
    }

    /// Returns the lag of this machine since the run began; zero where no time is measured.
    pub(super) fn lag_so_far(&self) -> Duration {
        self.lag.as_ref().map(LagWatch::total).unwrap_or_default()
    }
}
