//! The use of a campaign's time.

use serde::{Deserialize, Serialize};

/// The time of a campaign, and what it was used for, in milliseconds. With several instances at once, the shares
/// together are as many times the elapsed time as there are instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TimeSpentRecord {
    /// The time from the beginning of the campaign to its end.
    pub elapsed_ms: u64,
    /// Sending inputs and waiting for replies that came.
    pub replies_ms: u64,
    /// Waiting while the system was silent.
    pub silence_ms: u64,
    /// Starting and resetting the system.
    pub restarts_ms: u64,
    /// Choosing the next move.
    pub tester_ms: u64,
    /// Repeating and shrinking runs that failed.
    pub repeats_ms: u64,
    /// Everything else: judging, counting, writing the record.
    pub other_ms: u64,
}

impl TimeSpentRecord {
    /// Returns the uses of time, each with its word and its share in whole percent; the shares add up to 100, and uses
    /// without a share are left out. Empty if no time was measured.
    #[must_use]
    pub fn shares(&self) -> Vec<(u64, &'static str)> {
        let uses = [
            (self.replies_ms, "replies"),
            (self.silence_ms, "silence"),
            (self.restarts_ms, "restarts"),
            (self.tester_ms, "tester"),
            (self.repeats_ms, "repeating failures"),
            (self.other_ms, "other"),
        ];
        let total: u128 = uses.iter().map(|(ms, _)| u128::from(*ms)).sum();
        if total == 0 {
            return Vec::new();
        }
        // By largest remainders, so that the shares add up.
        let hundredths = |ms: u64| (u128::from(ms) * 100 / total, u128::from(ms) * 100 % total);
        let mut shares: Vec<(u64, &'static str, u128)> = uses
            .iter()
            .map(|&(ms, word)| {
                let (whole, rest) = hundredths(ms);
                (u64::try_from(whole).unwrap_or(100), word, rest)
            })
            .collect();
        let left = 100 - shares.iter().map(|(whole, ..)| whole).sum::<u64>();
        let mut by_rest: Vec<usize> = (0..shares.len()).collect();
        by_rest.sort_by_key(|&at| std::cmp::Reverse(shares[at].2));
        by_rest.into_iter().zip(0..left).for_each(|(at, _)| shares[at].0 += 1);
        shares.into_iter().filter(|(whole, ..)| *whole > 0).map(|(whole, word, _)| (whole, word)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_a_hundred_and_empty_ones_are_left_out() {
        let spent =
            TimeSpentRecord { replies_ms: 1, silence_ms: 1, tester_ms: 1, ..TimeSpentRecord::default() };
        let shares = spent.shares();
        assert_eq!(shares, [(34, "replies"), (33, "silence"), (33, "tester")]);
        assert!(TimeSpentRecord::default().shares().is_empty());
        let extreme = TimeSpentRecord { restarts_ms: u64::MAX, other_ms: u64::MAX, ..spent };
        assert_eq!(extreme.shares(), [(50, "restarts"), (50, "other")]);
    }
}
