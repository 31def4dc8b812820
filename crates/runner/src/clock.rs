//! Time: clocks for events, quiescence times, latencies.

pub mod latency;
pub mod patience;

use std::time::Instant;

/// Tells how long a run has lasted.
pub trait Clock: Send {
    /// Nanoseconds since it was made; never goes back.
    fn now_ns(&mut self) -> u64;
}

/// The clock of this machine.
#[derive(Clone, Copy, Debug)]
pub struct Monotonic(Instant);

impl Monotonic {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Monotonic {
    fn now_ns(&mut self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// A clock that stands still: for records that must be equal byte by byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stopped;

impl Clock for Stopped {
    fn now_ns(&mut self) -> u64 {
        0
    }
}
