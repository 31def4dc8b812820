//! The price of a reset, in steps: how many steps could be made in the time that bringing the system back takes.
//!
//! Measured in the first runs of a worker and decided once, as a power of two, so that small differences of speed do
//! not change the moves of a campaign. Where it is not measured, or small, runs are as they would be without it.

use std::time::Duration;

use crate::clock::spent::TimeSpent;

/// The number of runs after which the price is decided. The first reset of a server that was just started costs
/// nothing, so the second one is measured.
const MEASURED_RUNS: u32 = 2;
/// The price below which a reset counts as free. Chosen by feel: runs have dozens of steps anyway.
const MIN_PRICE: u128 = 16;
/// The greatest price: beyond it runs would be longer than anybody shrinks.
const MAX_PRICE: u128 = 4_096;

/// The measured times of a worker, until the price is decided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResetPrice {
    runs: u32,
    steps: u64,
    spent: TimeSpent,
    last_reset: Duration,
    /// The price, if it is decided, not nothing, and not taken yet.
    decided: Option<usize>,
}

impl ResetPrice {
    /// Counts a run, and decides the price if enough were counted.
    pub(super) fn count_run(&mut self, steps: usize, spent: TimeSpent) {
        self.runs = self.runs.saturating_add(1);
        if self.runs > MEASURED_RUNS {
            return;
        }
        self.steps += steps as u64;
        self.spent += spent;
        self.last_reset = spent.restarts;
        if self.runs == MEASURED_RUNS {
            self.decided = self.price();
        }
    }

    /// Returns the price once, after it was decided; `None` if a reset is cheap.
    pub(super) fn take_decided(&mut self) -> Option<usize> {
        self.decided.take()
    }

    /// Returns the price of a reset in steps; `None` if it is small or no step was made.
    fn price(&self) -> Option<usize> {
        let busy = self.spent.total().saturating_sub(self.spent.restarts).as_nanos();
        let per_step = busy.checked_div(u128::from(self.steps))?.max(1);
        let price = self.last_reset.as_nanos() / per_step;
        let level = price.clamp(1, MAX_PRICE).next_power_of_two();
        (price >= MIN_PRICE).then(|| usize::try_from(level).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_decided_once_by_the_reset_of_the_second_run() {
        let run = |restarts_ms: u64| TimeSpent {
            restarts: Duration::from_millis(restarts_ms),
            replies: Duration::from_millis(100),
            ..TimeSpent::default()
        };
        let price = |first: u64, second: u64| {
            let mut price = ResetPrice::default();
            price.count_run(100, run(first));
            assert_eq!(price.take_decided(), None, "the first run says nothing");
            price.count_run(100, run(second));
            let decided = price.take_decided();
            price.count_run(100, run(9_000));
            assert_eq!(price.take_decided(), None, "it is decided once");
            decided
        };
        assert_eq!(price(0, 300), Some(512), "300 steps of a millisecond");
        assert_eq!(price(3_000, 0), None, "a reset is free, whatever the first start took");
        assert_eq!(price(0, 15), None);
        assert_eq!(price(0, 60_000), Some(4_096));
        let mut empty = ResetPrice::default();
        empty.count_run(0, run(5));
        empty.count_run(0, run(5));
        assert_eq!(empty.take_decided(), None, "no step was made");
    }
}
