//! The detection of traps: switches that used to be taken are not taken any more.
//!
//! Many systems have states without a way back: a door that locks for good, a session that ended. A walk that goes on
//! there learns little, and only a reset helps. That cannot be observed for sure, so it is guessed from rates: a switch
//! that was taken with rate *r*, as long as it was taken at all, is not taken for *n* labels with a probability of
//! about e^-rn. Labels during preferences that leave inputs out are not counted. The states behind such a point may be
//! all that matters (everything after a login), so a walk may stay there, now briefly, now for long: the times follow
//! Luby, Sinclair and Zuckerman ("Optimal speedup of Las Vegas algorithms", 1993), which cost little more than the best
//! time, whatever that is.

use std::collections::BTreeMap;

use ioxide_model::sts::SwitchId;

/// The number of times a switch would have been taken by its rate before its absence counts. Chosen by feel: at a
/// fixed rate, eight expected times without one have a chance of 1 in 3,000.
const OVERDUE_FACTOR: u64 = 8;
/// The least number of labels without the switch. Chosen by feel: in a short run nothing is overdue.
const MIN_LABELS_WITHOUT: u64 = 24;
/// The number of times from which on a rate is known. One time has no rate.
const MIN_TIMES: u64 = 2;

/// The rates of switches, over all walks.
#[derive(Clone, Debug, Default)]
pub struct RareSwitches {
    past: BTreeMap<SwitchId, SwitchRate>,
    /// The labels of the current walk that count, and the switches taken in it.
    ticks: u64,
    here: BTreeMap<SwitchId, SwitchRate>,
    /// The number of walks that ended in a trap.
    shut: u32,
}

/// The number of times that a switch was taken, and of labels up to the last of them.
#[derive(Clone, Copy, Debug, Default)]
struct SwitchRate {
    times: u64,
    labels: u64,
}

impl RareSwitches {
    /// Begins a new walk.
    pub fn start_walk(&mut self) {
        self.ticks = 0;
        for (id, here) in std::mem::take(&mut self.here) {
            let past = self.past.entry(id).or_default();
            *past = SwitchRate { times: past.times + here.times, labels: past.labels + here.labels };
        }
    }

    /// Counts a label, which took this switch if that is certain.
    pub fn tick(&mut self, taken: Option<SwitchId>) {
        self.ticks += 1;
        if let Some(id) = taken {
            let here = self.here.entry(id).or_default();
            *here = SwitchRate { times: here.times + 1, labels: self.ticks };
        }
    }

    /// Returns whether the walk should end; the trap is counted then.
    pub fn is_shut(&mut self) -> bool {
        // Every trap that was left raises the number in the sequence, so most stays are short and a few are long.
        let patience = MIN_LABELS_WITHOUT << luby(self.shut);
        let ids = self.past.keys().chain(self.here.keys());
        let is_shut = self.ticks >= patience && ids.copied().any(|id| self.misses(id, patience));
        self.shut += u32::from(is_shut);
        is_shut
    }

    /// Returns whether the switch was not taken for so long that its rate speaks against it.
    fn misses(&self, id: SwitchId, patience: u64) -> bool {
        let rate = |rates: &BTreeMap<SwitchId, SwitchRate>| rates.get(&id).copied().unwrap_or_default();
        let (past, here) = (rate(&self.past), rate(&self.here));
        let (times, labels) = (past.times + here.times, past.labels + here.labels);
        debug_assert!(here.labels <= self.ticks, "the last time was in this walk");
        let away = self.ticks - here.labels;
        // Taken `times` in `labels`, it would have come `times * away / labels` times by now; multiplied out,
        // without division.
        away >= patience && times >= MIN_TIMES && times * away >= OVERDUE_FACTOR * labels
    }
}

/// Returns the binary logarithm of element `n`, from 0, of 1, 1, 2, 1, 1, 2, 4, ...
pub fn luby(n: u32) -> u32 {
    let bits = u32::BITS - (n + 1).leading_zeros();
    if n + 2 == 1 << bits { bits - 1 } else { luby(n + 1 - (1 << (bits - 1))) }
}
