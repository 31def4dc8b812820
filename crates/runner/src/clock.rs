//! Time: clocks for events, the budget of a campaign, quiescence times, latencies, the lag of this machine.

pub mod budget;
pub mod lag;
pub mod latency;
pub mod patience;

use std::time::{Duration, Instant};

use ioxide_model::number::{Int, Rational};

/// Nanoseconds in a second.
const NANOS: i64 = 1_000_000_000;

/// `time` in seconds, exactly.
#[must_use]
pub fn seconds(time: Duration) -> Rational {
    let nanos = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    Rational::from(nanos).div(&Rational::from(NANOS))
}

/// Returns `time`, given in seconds, as a duration: rounded down to nanoseconds, 0 if negative, at most `i64::MAX`
/// nanoseconds.
#[must_use]
pub fn duration(time: &Rational) -> Duration {
    let nanos: Int = (time * Rational::from(NANOS)).floor();
    match nanos.to_i64() {
        _ if nanos.is_negative() => Duration::ZERO,
        Some(nanos) => Duration::from_nanos(nanos.unsigned_abs()),
        None => Duration::from_nanos(i64::MAX.unsigned_abs()),
    }
}

/// A clock for the times of events.
pub trait RunClock: Send {
    /// Returns the nanoseconds since it was made; never goes back.
    fn now_ns(&mut self) -> u64;
}

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

/// A clock that stands still: for records that must be equal byte by byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoppedClock;

impl RunClock for StoppedClock {
    fn now_ns(&mut self) -> u64 {
        0
    }
}
