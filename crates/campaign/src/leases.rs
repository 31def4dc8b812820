//! Leases of the addresses of shared systems, and the pauses of those that did not answer.
//!
//! A system that does not answer is no fault of the unit that wanted it. Its address rests, longer every time, and
//! others do the work; when it answers again, it is as good as any. Time is a parameter.
//!
//! *Promises.* An address is never given away more often than it was put in.

use std::collections::BTreeMap;
use std::time::Duration;

/// The shortest and the longest pause of an address; each failure in a row doubles it. Chosen by feel: short for a
/// system that was just restarted, and no busy loop on one that is gone.
const REST: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));

/// The addresses of systems, each as often as it may be used at once.
#[derive(Clone, Debug, Default)]
pub struct Leases {
    free: Vec<String>,
    /// For each address that did not answer the last time, the number of failures in a row and the end of its pause.
    resting: BTreeMap<String, (u32, Duration)>,
}

impl Leases {
    /// Leases of these addresses, all of them free.
    #[must_use]
    pub fn new(addresses: Vec<String>) -> Self {
        Self { free: addresses, resting: BTreeMap::new() }
    }

    fn is_rested(&self, address: &str, now: Duration) -> bool {
        self.resting.get(address).is_none_or(|(_, until)| *until <= now)
    }

    /// Returns whether an address is free and not resting.
    #[must_use]
    pub fn has_one(&self, now: Duration) -> bool {
        self.free.iter().any(|address| self.is_rested(address, now))
    }

    /// Takes an address that is free and not resting, one with the fewest failures in a row; `None` if there is none.
    pub fn take_address(&mut self, now: Duration) -> Option<String> {
        let rested = self.free.iter().enumerate().filter(|(_, address)| self.is_rested(address, now));
        let failures = |address: &String| self.resting.get(address).map_or(0, |(times, _)| *times);
        let best = rested.min_by_key(|(_, address)| failures(address)).map(|(at, _)| at)?;
        Some(self.free.remove(best))
    }

    /// Gives an address back whose system has answered; its failures are forgotten.
    pub fn return_healthy(&mut self, address: String) {
        self.resting.remove(&address);
        self.free.push(address);
    }

    /// Gives an address back whose system has not answered; returns the time for which it rests.
    pub fn return_silent(&mut self, address: String, now: Duration) -> Duration {
        let (times, until) = self.resting.entry(address.clone()).or_default();
        let rest = REST.0.saturating_mul(2_u32.saturating_pow(*times)).min(REST.1);
        (*times, *until) = (times.saturating_add(1), now + rest);
        self.free.push(address);
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Whatever happens, an address is out as often as it was put in, at most, and all come back after a rest.
        #[test]
        fn no_address_is_lost_or_given_twice(
            moves in proptest::collection::vec((any::<bool>(), any::<bool>(), 0u64..900), 0..80),
        ) {
            let all = ["a:1", "b:2", "a:1"].map(str::to_owned).to_vec();
            let (mut leases, mut out, mut now) = (Leases::new(all.clone()), Vec::new(), Duration::ZERO);
            for (is_taken, is_silent, later) in moves {
                now += Duration::from_millis(later);
                if is_taken {
                    prop_assert_eq!(leases.has_one(now), leases.clone().take_address(now).is_some());
                    out.extend(leases.take_address(now));
                } else if let Some(address) = out.pop() {
                    if is_silent { leases.return_silent(address, now); } else { leases.return_healthy(address) }
                }
                for address in ["a:1", "b:2"] {
                    let count = |held: &[String]| held.iter().filter(|it| *it == address).count();
                    prop_assert!(count(&out) <= count(&all));
                    prop_assert_eq!(count(&out) + count(&leases.free), count(&all));
                }
            }
            let later = now + REST.1;
            while leases.has_one(later) { out.extend(leases.take_address(later)); }
            prop_assert_eq!(out.len(), 3);
        }
    }

    #[test]
    fn who_does_not_answer_rests_longer_every_time_and_others_come_first() {
        let mut leases = Leases::new(vec!["a:1".into(), "b:2".into()]);
        let ms = Duration::from_millis;
        assert_eq!(leases.take_address(ms(0)), Some("a:1".into()));
        assert_eq!(leases.return_silent("a:1".into(), ms(0)), ms(500));
        assert_eq!(leases.take_address(ms(0)), Some("b:2".into()));
        assert_eq!(leases.take_address(ms(499)), None, "it rests");
        assert_eq!(leases.take_address(ms(500)), Some("a:1".into()));
        assert_eq!(leases.return_silent("a:1".into(), ms(500)), ms(1000));
        leases.return_healthy("b:2".into());
        assert_eq!(leases.take_address(ms(5000)), Some("b:2".into()), "it has answered");
        assert_eq!(leases.take_address(ms(5000)), Some("a:1".into()));
        leases.return_healthy("a:1".into());
        assert_eq!(leases.take_address(ms(5000)), Some("a:1".into()));
        assert_eq!(leases.return_silent("a:1".into(), ms(5000)), ms(500), "what was before is forgotten");
    }
}
