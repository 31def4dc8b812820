//! Time: the clock of this machine, the budget of a campaign, quiescence times, latencies, the lag of this machine,
//! and what time was used for.

pub mod budget;
pub(crate) mod halt;
pub mod lag;
pub mod latency;
pub mod patience;
pub mod spent;

use std::time::Instant;

use ioxide_record::clock::RunClock;

/// The clock of this machine.
#[derive(Clone, Copy, Debug)]
pub struct MonotonicClock(Instant);

impl MonotonicClock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl RunClock for MonotonicClock {
    fn now_ns(&mut self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
