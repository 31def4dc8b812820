//! The cost of a try and its chance of success: which candidate promises most per second.
//!
//! The system is measured while it is tried: a reset, a step and a silence have a mean price each. A candidate is worth
//! the moves that it leaves out, times the share of candidates of its class that were taken so far, divided by the time
//! that it will take. Prices are rounded to powers of two of a millisecond, so that a system that takes no time is
//! tried in the same order every time.

use std::collections::BTreeMap;
use std::time::Duration;

use super::edit::EditClass;
use crate::clock::spent::TimeSpent;

/// The weight of the latest run in the means, as a divisor; chosen by feel.
const WEIGHT_OF_LATEST: u32 = 4;
/// The number of tries that the first guess of a chance counts for: after a few tries the observed share decides.
const WEIGHT_OF_GUESS: f64 = 2.0;

/// The mean prices of the parts of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TryPrices {
    reset: Option<Duration>,
    step: Option<Duration>,
    silence: Option<Duration>,
}

impl TryPrices {
    /// Counts a run with `n_steps` labels, of which `n_silences` were silence.
    pub(super) fn record_run(&mut self, spent: TimeSpent, n_steps: usize, n_silences: usize) {
        let share = |time: Duration, n: usize| {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            (n > 0).then(|| time / n)
        };
        let steps = spent.total().saturating_sub(spent.restarts).saturating_sub(spent.silence);
        update(&mut self.reset, Some(spent.restarts));
        update(&mut self.step, share(steps, n_steps.saturating_sub(n_silences)));
        update(&mut self.silence, share(spent.silence, n_silences));
    }

    /// Returns the expected price in milliseconds of a run of `n_moves`, of which `n_silences` see silence.
    pub(super) fn estimate(&self, n_moves: usize, n_silences: usize) -> f64 {
        let speaking = n_moves.saturating_sub(n_silences);
        round_price(self.reset)
            + round_price(self.step) * speaking as f64
            + round_price(self.silence) * n_silences as f64
    }
}

/// Moves a mean towards the latest value; without one it stays.
fn update(mean: &mut Option<Duration>, latest: Option<Duration>) {
    let Some(latest) = latest else { return };
    *mean = Some(match *mean {
        None => latest,
        Some(before) => before - before / WEIGHT_OF_LATEST + latest / WEIGHT_OF_LATEST,
    });
}

/// Returns a price in milliseconds, rounded up to a power of two, at least 1.
fn round_price(price: Option<Duration>) -> f64 {
    let milliseconds = price.unwrap_or_default().as_millis();
    u64::try_from(milliseconds).unwrap_or(u64::MAX / 2).max(1).next_power_of_two() as f64
}

/// The share of candidates that were taken, by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct EditChances {
    counts: BTreeMap<EditClass, (u32, u32)>,
}

impl EditChances {
    /// Counts a candidate that was tried.
    pub(super) fn record_try(&mut self, class: EditClass, is_taken: bool) {
        let (taken, tried) = self.counts.entry(class).or_default();
        *taken += u32::from(is_taken);
        *tried += 1;
    }

    /// Returns the chance that a candidate of this class is taken: the share so far, and a guess to begin with.
    pub(super) fn chance(&self, class: EditClass) -> f64 {
        let (taken, tried) = self.counts.get(&class).copied().unwrap_or_default();
        (f64::from(taken) + WEIGHT_OF_GUESS * class.first_guess()) / (f64::from(tried) + WEIGHT_OF_GUESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that took `total`, `restarts` and `silence` of it for these.
    fn spent(restarts: Duration, silence: Duration, total: Duration) -> TimeSpent {
        TimeSpent { restarts, silence, ..TimeSpent::default() }.filled_up_to(total)
    }

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_run_with_fewer_silences_and_steps_is_cheaper() {
        let mut prices = TryPrices::default();
        // A reset of 100 ms, eight steps of 2 ms, two silences of 200 ms.
        prices.record_run(spent(ms(100), ms(400), ms(516)), 10, 2);
        assert_eq!(prices.estimate(10, 2), 128.0 + 8.0 * 2.0 + 2.0 * 256.0);
        assert!(prices.estimate(10, 1) < prices.estimate(10, 2));
        assert!(prices.estimate(9, 2) < prices.estimate(10, 2));
        // Eight more steps cost less than one more silence.
        assert!(prices.estimate(18, 1) < prices.estimate(10, 2));
    }

    #[test]
    fn a_system_that_takes_no_time_has_the_same_prices_every_time() {
        let mut prices = TryPrices::default();
        let before = prices.estimate(7, 1);
        for micros in [3, 40, 900] {
            let time = Duration::from_micros(micros);
            prices.record_run(spent(time, time, time * 3), 5, 1);
            assert_eq!(prices.estimate(7, 1), before);
        }
    }

    #[test]
    fn prices_follow_the_system() {
        let mut prices = TryPrices::default();
        prices.record_run(spent(ms(1), ms(0), ms(2)), 1, 0);
        let cheap = prices.estimate(1, 0);
        for _ in 0..20 {
            prices.record_run(spent(ms(1_000), ms(0), ms(1_001)), 1, 0);
        }
        assert!(prices.estimate(1, 0) > cheap * 100.0);
    }

    #[test]
    fn a_class_that_is_refused_again_and_again_loses_its_chances() {
        let mut chances = EditChances::default();
        let before = chances.chance(EditClass::Segment);
        chances.record_try(EditClass::Segment, true);
        assert!(chances.chance(EditClass::Segment) > before);
        (0..20).for_each(|_| chances.record_try(EditClass::Segment, false));
        assert!(chances.chance(EditClass::Segment) < before / 3.0);
    }
}
