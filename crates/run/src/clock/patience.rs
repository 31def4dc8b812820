//! The quiescence times: the length of silence that counts as quiescence, by last message and location.
//!
//! [BT19] and [FTW05] observe quiescence by a time-out. One time for a whole system is either slow or wrong where some
//! answers take much longer than others, so times can be given for the last message and for locations of the
//! specification. Where none is given it is calibrated: long at first, then a multiple of the longest answer seen. An
//! answer that comes after the time raises it for all that follows; copies of a patience share what was learnt.
//!
//! *Promises.* Where the monitor believes in several locations the longest of their times is
//! taken: a time given for one place shortens no other. Once raised it stays so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, LocId};

/// Answers after which a calibrated time is trusted. Chosen by feel, as for latencies.
const MIN_ANSWERS: u64 = 20;
/// A calibrated time while there are fewer. Chosen by feel: longer than an answer on the same machine takes, short
/// enough for a first run.
const INITIAL_TIME: Duration = Duration::from_millis(300);
/// The shortest calibrated time. Chosen by feel: a pause of the machine is often that long.
const MIN_TIME: Duration = Duration::from_millis(50);
/// The factor by which a calibrated time exceeds the longest answer. Chosen by feel: a silence that is too short
/// gives a wrong verdict, one that is too long only takes time.
const MARGIN: u32 = 20;
/// The factor by which the quiescence time exceeds the latency of a late answer. Chosen by feel: the next late answer
/// may be later.
const LATE_ANSWER_FACTOR: u32 = 2;

/// Quiescence times.
#[derive(Clone, Debug)]
pub struct Patience {
    default: Duration,
    source: DefaultSource,
    /// The times after a message, by the number of its gate.
    after: Vec<Option<Duration>>,
    /// The times at a location of the specification, by the number of the location.
    within: Vec<Option<Duration>>,
    learnt: Arc<LearntTimes>,
}

/// The origin of the default time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DefaultSource {
    Given,
    Calibrated,
}

/// The number of answers of a system, the longest latency and the raised quiescence time, both in microseconds.
#[derive(Debug, Default)]
struct LearntTimes {
    answers: AtomicU64,
    longest: AtomicU64,
    raised: AtomicU64,
    /// The longest time of a first reply after a start, in microseconds.
    first: AtomicU64,
}

impl From<Duration> for Patience {
    fn from(time: Duration) -> Self {
        Self::new(time)
    }
}

impl Patience {
    /// Returns a patience with the same time everywhere.
    #[must_use]
    pub fn new(default: Duration) -> Self {
        let learnt = Arc::new(LearntTimes::default());
        Self { default, source: DefaultSource::Given, after: Vec::new(), within: Vec::new(), learnt }
    }

    /// Returns a patience whose default time follows from the answers seen.
    #[must_use]
    pub fn new_calibrated() -> Self {
        Self { source: DefaultSource::Calibrated, ..Self::new(INITIAL_TIME) }
    }

    /// Notes an answer that took `latency`.
    pub fn record_answer(&self, latency: Duration) {
        self.learnt.longest.fetch_max(micros(latency), Ordering::Relaxed);
        self.learnt.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Raises the time because an answer came after `latency`, when it had been taken for silence; returns the time
    /// from now on.
    pub fn raise(&self, latency: Duration) -> Duration {
        let raised = micros(latency.saturating_mul(LATE_ANSWER_FACTOR));
        let before = self.learnt.raised.fetch_max(raised, Ordering::Relaxed);
        Duration::from_micros(raised.max(before))
    }

    /// Notes a first reply after a start that took `latency`.
    pub fn note_first_reply(&self, latency: Duration) {
        self.learnt.first.fetch_max(micros(latency), Ordering::Relaxed);
    }

    /// Returns the longest time of a first reply after a start; zero if there was none.
    #[must_use]
    pub fn longest_first_reply(&self) -> Duration {
        Duration::from_micros(self.learnt.first.load(Ordering::Relaxed))
    }

    /// Returns the time to which the patience was raised; `None` if it was not.
    #[must_use]
    pub fn raised_time(&self) -> Option<Duration> {
        let raised = self.learnt.raised.load(Ordering::Relaxed);
        (raised > 0).then(|| Duration::from_micros(raised))
    }

    /// Returns the same patience with `time` after a message at `gate`.
    #[must_use]
    pub fn with_time_after(mut self, gate: GateId, time: Duration) -> Self {
        set_time(&mut self.after, gate.index(), time);
        self
    }

    /// Returns the same patience with `time` at the location.
    #[must_use]
    pub fn with_time_at(mut self, location: LocId, time: Duration) -> Self {
        set_time(&mut self.within, location.index(), time);
        self
    }

    /// Returns the time where no other is given: the given or calibrated one, or the raised one if that is longer.
    #[must_use]
    pub fn default_time(&self) -> Duration {
        let raised = self.raised_time().unwrap_or_default();
        let is_trusted = self.learnt.answers.load(Ordering::Relaxed) >= MIN_ANSWERS;
        match self.source {
            DefaultSource::Calibrated if is_trusted => self.by_answers().max(raised),
            DefaultSource::Given | DefaultSource::Calibrated => self.default.max(raised),
        }
    }

    /// Returns twenty times the longest latency, within 50 and 300 milliseconds, and at least twice the longest
    /// latency.
    fn by_answers(&self) -> Duration {
        let longest = Duration::from_micros(self.learnt.longest.load(Ordering::Relaxed));
        let wished = longest.saturating_mul(MARGIN).clamp(MIN_TIME, INITIAL_TIME);
        wished.max(longest.saturating_mul(LATE_ANSWER_FACTOR))
    }

    /// Returns the same patience with a default time that follows from the answers seen so far, even if one was given:
    /// for tries that are confirmed later.
    #[must_use]
    pub fn by_answers_seen(&self) -> Self {
        let seen = Self { source: DefaultSource::Calibrated, ..self.clone() };
        if seen.default_time() < self.default_time() { seen } else { self.clone() }
    }

    /// Returns whether the default time follows from the answers, because no time was given.
    #[must_use]
    pub fn is_calibrated(&self) -> bool {
        self.source == DefaultSource::Calibrated
    }

    /// Returns the longest time that [`time_here`](Self::time_here) can return.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let given = self.after.iter().chain(&self.within).flatten();
        given.copied().fold(self.default_time(), Duration::max)
    }

    /// Returns the quiescence time in the current situation.
    ///
    /// For one location that is the longer of the times given for it and for the last message, the
    /// default if neither is; for several it is the longest of theirs. Silence and delays are no
    /// messages: `last` is the last input or output, if there was one.
    #[must_use]
    pub fn time_here(&self, last: Option<&Label>, locations: impl IntoIterator<Item = LocId>) -> Duration {
        let after = last.and_then(|label| match label {
            Label::Input(gate, _) | Label::Output(gate, _) => get(&self.after, gate.index()),
            Label::Quiescence | Label::Delay(_) => None,
        });
        let default = self.default_time();
        let raised = self.raised_time().unwrap_or_default();
        if self.within.is_empty() {
            return after.unwrap_or(default).max(raised);
        }
        let at = |location: LocId| after.max(get(&self.within, location.index())).unwrap_or(default);
        locations.into_iter().map(at).max().unwrap_or_else(|| after.unwrap_or(default)).max(raised)
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

fn set_time(times: &mut Vec<Option<Duration>>, at: usize, time: Duration) {
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
        assert_eq!(patience.time_here(last, locations), ms(expected));
    }

    #[test]
    fn a_time_given_for_a_place_replaces_the_default_there_and_nowhere_else() {
        let patience = Patience::new(ms(100))
            .with_time_after(GateId::new(2), ms(500))
            .with_time_at(LocId::new(1), ms(20));
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
        let patience = Patience::new(ms(100))
            .with_time_after(GateId::new(0), ms(10))
            .with_time_at(LocId::new(3), ms(2000));
        check(&patience, Some(&input(0)), &[0], 10);
        check(&patience, Some(&input(0)), &[0, 3], 2000);
        check(&patience, Some(&input(1)), &[0], 100);
    }

    #[test]
    fn a_calibrated_time_follows_the_longest_answer_once_there_are_enough() {
        let patience = Patience::new_calibrated();
        assert_eq!(patience.default_time(), INITIAL_TIME);
        (0..MIN_ANSWERS).for_each(|_| patience.record_answer(ms(1)));
        assert_eq!(patience.default_time(), MIN_TIME);
        patience.record_answer(ms(4));
        assert_eq!(patience.default_time(), ms(80));
        patience.record_answer(ms(200));
        assert_eq!(patience.default_time(), ms(400), "never less than twice the longest");
    }

    #[test]
    fn a_late_answer_raises_the_time_for_every_copy_and_for_good() {
        let patience = Patience::new(ms(100)).with_time_after(GateId::new(0), ms(10));
        let copy = patience.clone();
        assert_eq!(copy.raise(ms(350)), ms(700));
        assert_eq!(copy.raise(ms(5)), ms(700));
        check(&patience, None, &[0], 700);
        check(&patience, Some(&input(0)), &[0], 700);
        assert_eq!(Patience::new(ms(100)).raised_time(), None);
    }
}
