//! The time of a campaign: one limit for its runs, for repeating and for shrinking what fails.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A time limit that counts from when the campaign begins.
#[derive(Debug, Default)]
pub struct TimeBudget {
    limit: Option<Duration>,
    begun: OnceLock<Instant>,
}

impl TimeBudget {
    /// A budget of `limit`; `None` for no limit.
    #[must_use]
    pub fn new(limit: Option<Duration>) -> Self {
        Self { limit, begun: OnceLock::new() }
    }

    /// Starts the clock, unless it runs already.
    pub fn start_clock(&self) {
        self.begun.get_or_init(Instant::now);
    }

    /// Returns the instant at which the time is spent; `None` before the campaign has begun, without a limit, and
    /// beyond the range of the clock.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.begun.get()?.checked_add(self.limit?)
    }

    /// Returns the time since the clock was started; zero before.
    #[must_use]
    pub fn time_since_start(&self) -> Duration {
        self.begun.get().map_or(Duration::ZERO, Instant::elapsed)
    }

    /// Returns the time that is left; `None` where there is no limit.
    #[must_use]
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// Returns whether the time is spent.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.time_left().is_some_and(|left| left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_counts_from_its_beginning_and_without_a_limit_never_ends() {
        let none = TimeBudget::default();
        none.start_clock();
        assert_eq!((none.time_left(), none.is_spent()), (None, false));
        let spent = TimeBudget::new(Some(Duration::ZERO));
        assert!(!spent.is_spent(), "it has not begun");
        spent.start_clock();
        assert_eq!((spent.time_left(), spent.is_spent()), (Some(Duration::ZERO), true));
        let endless = TimeBudget::new(Some(Duration::MAX));
        endless.start_clock();
        assert!(!endless.is_spent());
    }
}
