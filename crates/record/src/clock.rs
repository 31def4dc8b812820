//! The times of events: what a clock is, and seconds as exact numbers.

use std::time::Duration;

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

    /// Returns whether it stands still, so that records have no times.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// A clock that stands still: for records that must be equal byte by byte.
#[derive(Clone, Copy, Debug, Default)]
pub struct StoppedClock;

impl RunClock for StoppedClock {
    fn now_ns(&mut self) -> u64 {
        0
    }

    fn is_stopped(&self) -> bool {
        true
    }
}
