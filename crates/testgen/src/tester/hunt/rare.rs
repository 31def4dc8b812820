//! When a walk is trapped: what used to happen does not happen any more.
//!
//! Many systems have places without a way back: a door that locks for good, a session that ended. A walk that goes on
//! there learns little, and only a reset helps. Nobody knows for sure from the outside, so it is guessed from
//! rates: a switch that came with rate *r*, as long as it came at all, stays away for *n* labels with a chance of about
//! e^-rn. Labels in moods that leave inputs out are not counted, for then it is no wonder. What lies behind such a
//! place may be all that matters (everything after a login), so a walk may stay there, now briefly, now for long:
//! the times follow Luby, Sinclair and Zuckerman ("Optimal speedup of Las Vegas algorithms", 1993), which cost little
//! more than the best time, whatever that is.

use std::collections::BTreeMap;

use ioxide_model::sts::SwitchId;

/// How often a switch would have come by its rate before its absence counts.
const OVERDUE: u64 = 8;
/// Labels without it, at least.
const SHORTEST: u64 = 24;
/// A rate is known from this many times.
const KNOWN: u64 = 2;

/// How often switches came, and when last.
#[derive(Clone, Debug, Default)]
pub(super) struct RareSwitches {
    past: BTreeMap<SwitchId, SwitchRate>,
    /// Labels of the walk under way that count, and what came in it.
    ticks: u64,
    here: BTreeMap<SwitchId, SwitchRate>,
    /// Walks that ended in a trap.
    shut: u32,
}

/// How often a switch came among the labels up to the last time it did.
#[derive(Clone, Copy, Debug, Default)]
struct SwitchRate {
    times: u64,
    labels: u64,
}

impl RareSwitches {
    /// A new walk begins.
    pub(super) fn start(&mut self) {
        self.ticks = 0;
        for (id, here) in std::mem::take(&mut self.here) {
            let past = self.past.entry(id).or_default();
            *past = SwitchRate { times: past.times + here.times, labels: past.labels + here.labels };
        }
    }

    /// One more label, which took this switch if that is certain.
    pub(super) fn tick(&mut self, taken: Option<SwitchId>) {
        self.ticks += 1;
        if let Some(id) = taken {
            let here = self.here.entry(id).or_default();
            *here = SwitchRate { times: here.times + 1, labels: self.ticks };
        }
    }

    /// Whether the walk should end; its trap counts then.
    pub(super) fn is_shut(&mut self) -> bool {
        let patience = SHORTEST << luby(self.shut);
        let ids = self.past.keys().chain(self.here.keys());
        let is_shut = self.ticks >= patience && ids.copied().any(|id| self.misses(id, patience));
        self.shut += u32::from(is_shut);
        is_shut
    }

    fn misses(&self, id: SwitchId, patience: u64) -> bool {
        let rate = |rates: &BTreeMap<SwitchId, SwitchRate>| rates.get(&id).copied().unwrap_or_default();
        let (past, here) = (rate(&self.past), rate(&self.here));
        let (times, labels) = (past.times + here.times, past.labels + here.labels);
        let away = self.ticks - here.labels;
        away >= patience && times >= KNOWN && times * away >= OVERDUE * labels
    }
}

/// The power of two of number `n`, from 0, of 1, 1, 2, 1, 1, 2, 4, ...
fn luby(n: u32) -> u32 {
    let bits = u32::BITS - (n + 1).leading_zeros();
    if n + 2 == 1 << bits { bits - 1 } else { luby(n + 1 - (1 << (bits - 1))) }
}

#[cfg(test)]
mod tests {
    use ioxide_model::index::Idx as _;

    use super::*;

    #[test]
    fn what_never_comes_again_is_missed() {
        let (open, shut) = (SwitchId::new(0), SwitchId::new(1));
        let mut trap = RareSwitches::default();
        for _ in 0..10 {
            trap.tick(Some(open));
            trap.tick(Some(shut));
        }
        assert!(!trap.is_shut());
        (0..100).for_each(|_| trap.tick(Some(open)));
        assert!(trap.is_shut());
        trap.start();
        assert!(!trap.is_shut(), "a new walk has another chance");
    }

    #[test]
    fn what_is_rare_is_not_missed_soon() {
        let (often, rare) = (SwitchId::new(0), SwitchId::new(1));
        let mut trap = RareSwitches::default();
        for _ in 0..5 {
            (0..50).for_each(|_| trap.tick(Some(often)));
            trap.tick(Some(rare));
        }
        (0..300).for_each(|_| trap.tick(Some(often)));
        assert!(!trap.is_shut());
    }

    #[test]
    fn the_times_are_those_of_luby() {
        let times: Vec<u32> = (0..15).map(|n| 1 << luby(n)).collect();
        assert_eq!(times, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
    }
}
