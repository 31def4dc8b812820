//! How long silence must last to count as quiescence, and where it must last longer.
//!
//! 000 and 002 observe quiescence by a time-out. One time for a whole system is either slow or
//! wrong where some answers take much longer than others, so times can be given for the last
//! message and for locations of the specification.
//!
//! *Promises.* Where the monitor believes in several locations the longest of their times is
//! taken: a time given for one place shortens no other.

use std::time::Duration;

use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, LocId};

/// Quiescence times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patience {
    default: Duration,
    /// Where the last message was at this gate, by the number of the gate.
    after: Vec<Option<Duration>>,
    /// Where the specification is at this location, by the number of the location.
    within: Vec<Option<Duration>>,
}

impl From<Duration> for Patience {
    fn from(time: Duration) -> Self {
        Self::new(time)
    }
}

impl Patience {
    /// The same time everywhere.
    #[must_use]
    pub const fn new(default: Duration) -> Self {
        Self { default, after: Vec::new(), within: Vec::new() }
    }

    /// The same, but `time` after a message at `gate`.
    #[must_use]
    pub fn after(mut self, gate: GateId, time: Duration) -> Self {
        put(&mut self.after, gate.index(), time);
        self
    }

    /// The same, but `time` at the location.
    #[must_use]
    pub fn within(mut self, location: LocId, time: Duration) -> Self {
        put(&mut self.within, location.index(), time);
        self
    }

    /// The time where no other is given.
    #[must_use]
    pub const fn default_time(&self) -> Duration {
        self.default
    }

    /// The longest time that can be asked for.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let given = self.after.iter().chain(&self.within).flatten();
        given.copied().fold(self.default, Duration::max)
    }

    /// How long silence must last now.
    ///
    /// For one location that is the longer of the times given for it and for the last message, the
    /// default if neither is; for several it is the longest of theirs. Silence and delays are no
    /// messages: `last` is the last input or output, if there was one.
    #[must_use]
    pub fn here(&self, last: Option<&Label>, locations: impl IntoIterator<Item = LocId>) -> Duration {
        let after = last.and_then(|label| match label {
            Label::Input(gate, _) | Label::Output(gate, _) => get(&self.after, gate.index()),
            Label::Quiescence | Label::Delay(_) => None,
        });
        if self.within.is_empty() {
            return after.unwrap_or(self.default);
        }
        let at = |location: LocId| after.max(get(&self.within, location.index())).unwrap_or(self.default);
        locations.into_iter().map(at).max().unwrap_or_else(|| after.unwrap_or(self.default))
    }
}

fn put(times: &mut Vec<Option<Duration>>, at: usize, time: Duration) {
    if times.len() <= at {
        times.resize(at + 1, None);
    }
    times[at] = Some(time);
}

fn get(times: &[Option<Duration>], at: usize) -> Option<Duration> {
    times.get(at).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn input(gate: usize) -> Label {
        Label::Input(GateId::new(gate), Vec::new())
    }

    #[track_caller]
    fn check(patience: &Patience, last: Option<&Label>, locations: &[usize], expected: u64) {
        let locations = locations.iter().map(|&at| LocId::new(at));
        assert_eq!(patience.here(last, locations), ms(expected));
    }

    #[test]
    fn a_time_given_for_a_place_replaces_the_default_there_and_nowhere_else() {
        let patience = Patience::new(ms(100)).after(GateId::new(2), ms(500)).within(LocId::new(1), ms(20));
        let (slow, other) = (input(2), input(0));
        check(&patience, None, &[], 100);
        check(&patience, None, &[0], 100);
        check(&patience, None, &[1], 20);
        check(&patience, None, &[0, 1], 100);
        check(&patience, Some(&slow), &[0], 500);
        check(&patience, Some(&slow), &[1], 500);
        check(&patience, Some(&slow), &[], 500);
        check(&patience, Some(&other), &[1], 20);
        check(&patience, Some(&Label::Quiescence), &[7], 100);
        assert_eq!((patience.default_time(), patience.longest()), (ms(100), ms(500)));
    }

    #[test]
    fn a_short_time_after_a_message_does_not_shorten_a_slow_place() {
        let patience = Patience::new(ms(100)).after(GateId::new(0), ms(10)).within(LocId::new(3), ms(2000));
        check(&patience, Some(&input(0)), &[0], 10);
        check(&patience, Some(&input(0)), &[0, 3], 2000);
        check(&patience, Some(&input(1)), &[0], 100);
    }
}
