//! The quiescence times: the length of silence that counts as quiescence, by last message and location.
//!
//! \[BT19] and \[FTW05] observe quiescence by a time-out. One time for a whole system is either slow or wrong where
//! some answers take much longer than others, so times can be given for the last message and for locations of the
//! specification. Where none is given it is calibrated: long at first, then a multiple of the longest of the latest
//! answers, by the kind of input once it was answered often enough. An answer that comes after the time raises it for
//! its kind of input, and the raise halves with every `WINDOW` further answers: a machine that was busy for a moment
//! does not slow down the rest of the night. Copies of a patience share what was learnt.
//!
//! *Promises.* Where the monitor believes in several locations the longest of their times is
//! taken: a time given for one place shortens no other. What was learnt once is never forgotten where it matters:
//! [`confirming_time`](Patience::confirming_time), by which a silence is confirmed before it is a failure, follows the
//! longest answer there ever was.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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
/// The shortest time of a search. Chosen by feel: what a search misses is found when its result is confirmed.
const MIN_SEARCH_TIME: Duration = Duration::from_millis(20);
/// The factor to which [`MARGIN`] decays in a search, as answers to a message are seen. Chosen by feel, like
/// the time above.
const MIN_SEARCH_MARGIN: u32 = 4;
/// The factor by which the quiescence time exceeds the latency of a late answer. Chosen by feel: the next late answer
/// may be later.
const LATE_ANSWER_FACTOR: u32 = 2;
/// The number of answers over which the longest one counts, at least; at most twice as many. Fewer would forget an
/// answer that is slow one time in a hundred, more would let a slow second cost a minute.
const WINDOW: u64 = 256;

/// Quiescence times.
#[derive(Clone, Debug)]
pub struct Patience {
    default: Duration,
    source: DefaultSource,
    /// True if nothing is waited for longer than the answers to the last message take.
    is_for_search: bool,
    /// The times after a message, by the number of its gate.
    after: Vec<Option<Duration>>,
    /// The times at a location of the specification, by the number of the location.
    within: Vec<Option<Duration>>,
    learnt: Arc<Mutex<LearntTimes>>,
}

/// The origin of the default time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DefaultSource {
    Given,
    Calibrated,
}

/// The latencies of the answers of a system.
#[derive(Debug, Default)]
struct LearntTimes {
    overall: AnswerTimes,
    /// The same for the answers to each kind of input.
    by_input: BTreeMap<GateId, AnswerTimes>,
    /// The longest time of a first reply after a start.
    first: Duration,
}

/// The latencies of answers, of which the latest count.
#[derive(Clone, Copy, Debug, Default)]
struct AnswerTimes {
    answers: u64,
    /// The longest latencies of the window under way and of the one before it.
    current: Duration,
    previous: Duration,
    /// The longest latency there ever was.
    longest: Duration,
    /// The last raise, and the number of answers at that time.
    raise: Option<(Duration, u64)>,
    /// The longest time it was ever raised to.
    longest_raise: Duration,
}

/// The answers that count: the latest ones, or all there ever were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerMemory {
    Latest,
    All,
}

impl AnswerTimes {
    /// Counts an answer; the longest are kept for the current and the previous window.
    fn record_latency(&mut self, latency: Duration) {
        // Two windows: dropping the older one when the newer is full keeps between `WINDOW` and twice as many
        // answers.
        if self.answers.is_multiple_of(WINDOW) {
            self.previous = std::mem::take(&mut self.current);
        }
        self.answers += 1;
        self.current = self.current.max(latency);
        self.longest = self.longest.max(latency);
    }

    /// Raises the time to wait, because an answer came after silence was called.
    fn raise(&mut self, time: Duration) {
        self.raise = Some((time.max(self.raised_time(AnswerMemory::Latest)), self.answers));
        self.longest_raise = self.longest_raise.max(time);
    }

    /// Returns the time to which it is raised; zero if it is not, or not any more.
    fn raised_time(&self, memory: AnswerMemory) -> Duration {
        match (memory, self.raise) {
            (AnswerMemory::All, _) => self.longest_raise,
            (AnswerMemory::Latest, None) => Duration::ZERO,
            (AnswerMemory::Latest, Some((time, at))) => {
                // Halved for every full window since the raise; a shift too far is a divisor that leaves next to
                // nothing.
                let windows = u32::try_from((self.answers - at) / WINDOW).unwrap_or(u32::MAX);
                time / 1_u32.checked_shl(windows).unwrap_or(u32::MAX)
            }
        }
    }

    /// Returns the time that follows from the answers: twenty times the longest latency, within 50 and 300
    /// milliseconds, and at least twice the longest latency; `None` if there were too few.
    fn calibrate(&self, memory: AnswerMemory) -> Option<Duration> {
        let longest = match memory {
            AnswerMemory::Latest => self.current.max(self.previous),
            AnswerMemory::All => self.longest,
        };
        let time = longest.saturating_mul(MARGIN).clamp(MIN_TIME, INITIAL_TIME);
        (self.answers >= MIN_ANSWERS).then(|| time.max(longest.saturating_mul(LATE_ANSWER_FACTOR)))
    }

    /// Returns the time that a search waits: a factor times the longest latency there ever was, which decays from 20 to
    /// 4 as answers are seen; `None` if there were none.
    fn search_time(&self) -> Option<Duration> {
        let doublings = u32::try_from(self.answers).unwrap_or(u32::MAX).checked_ilog2()?;
        // The longest of many answers says more about the next one than that of a few.
        let margin = (MARGIN / (1 + doublings)).max(MIN_SEARCH_MARGIN);
        Some(self.longest.saturating_mul(margin).max(MIN_SEARCH_TIME))
    }
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
        let learnt = Arc::default();
        let source = DefaultSource::Given;
        Self { default, source, is_for_search: false, after: Vec::new(), within: Vec::new(), learnt }
    }

    /// Returns a patience whose default time follows from the answers seen.
    #[must_use]
    pub fn new_calibrated() -> Self {
        Self { source: DefaultSource::Calibrated, ..Self::new(INITIAL_TIME) }
    }

    /// Locks the times that were learnt.
    fn learnt(&self) -> MutexGuard<'_, LearntTimes> {
        // Every update leaves it whole, so a panic elsewhere does not spoil it.
        self.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an answer to an input of kind `input`, if it is known, that took `latency`.
    pub fn record_answer(&self, input: Option<GateId>, latency: Duration) {
        let mut learnt = self.learnt();
        learnt.overall.record_latency(latency);
        if let Some(input) = input {
            learnt.by_input.entry(input).or_default().record_latency(latency);
        }
    }

    /// Raises the time after inputs of kind `input`, everywhere if that is `None`, because an answer came after
    /// `latency`, when it had been taken for silence; returns the time there from now on.
    pub fn raise(&self, input: Option<GateId>, latency: Duration) -> Duration {
        let time = latency.saturating_mul(LATE_ANSWER_FACTOR);
        let mut learnt = self.learnt();
        let raised = match input {
            Some(input) => learnt.by_input.entry(input).or_default(),
            None => &mut learnt.overall,
        };
        raised.raise(time);
        raised.raised_time(AnswerMemory::Latest)
    }

    /// Notes a first reply after a start that took `latency`.
    pub fn note_first_reply(&self, latency: Duration) {
        let mut learnt = self.learnt();
        learnt.first = learnt.first.max(latency);
    }

    /// Returns the longest time of a first reply after a start; zero if there was none.
    #[must_use]
    pub fn longest_first_reply(&self) -> Duration {
        self.learnt().first
    }

    /// Returns the longest time to which the patience was raised for any kind of input; `None` if it was not.
    #[must_use]
    pub fn raised_time(&self) -> Option<Duration> {
        let learnt = self.learnt();
        let all = learnt.by_input.values().chain([&learnt.overall]);
        all.map(|times| times.longest_raise).max().filter(|time| !time.is_zero())
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
        self.default_after(None, AnswerMemory::Latest)
    }

    /// Returns the time after an input of kind `input` where none was given for it.
    fn default_after(&self, input: Option<GateId>, memory: AnswerMemory) -> Duration {
        let learnt = self.learnt();
        let of_input = input.and_then(|input| learnt.by_input.get(&input));
        let default = match self.source {
            DefaultSource::Given => self.default,
            // The most specific time that enough answers support: of this input, of all inputs, the initial one.
            DefaultSource::Calibrated => of_input
                .and_then(|times| times.calibrate(memory))
                .or_else(|| learnt.overall.calibrate(memory))
                .unwrap_or(self.default),
        };
        // Raised last: a late answer counts more than what the punctual ones suggest.
        default.max(learnt.raised_after(of_input, memory))
    }

    /// Returns the patience of a search, whose results are confirmed with this one: nothing is waited for longer than
    /// the answers to the last message took so far, times a factor.
    #[must_use]
    pub fn for_search(&self) -> Self {
        Self { is_for_search: true, ..self.clone() }
    }

    /// Returns whether the default time follows from the answers, because no time was given.
    #[must_use]
    pub fn is_calibrated(&self) -> bool {
        self.source == DefaultSource::Calibrated
    }

    /// Returns the longest time that [`time_here`](Self::time_here) can return as long as nothing more is learnt.
    #[must_use]
    pub fn longest(&self) -> Duration {
        let given = self.after.iter().chain(&self.within).flatten().copied();
        let inputs: Vec<GateId> = self.learnt().by_input.keys().copied().collect();
        let learnt = inputs.into_iter().map(|input| self.default_after(Some(input), AnswerMemory::Latest));
        given.chain(learnt).fold(self.default_time(), Duration::max)
    }

    /// Returns the quiescence time in the current situation.
    ///
    /// For one location that is the longer of the times given for it and for the last message, the
    /// default if neither is; for several it is the longest of theirs. Silence and delays are no
    /// messages: `last` is the last input or output, if there was one.
    #[must_use]
    pub fn time_here(&self, last: Option<&Label>, locations: impl IntoIterator<Item = LocId>) -> Duration {
        self.shorten_in_search(last, self.time_by(AnswerMemory::Latest, last, locations))
    }

    /// Returns the quiescence time in the current situation as if no answer had been forgotten: before silence is a
    /// failure it must have lasted several times as long.
    #[must_use]
    pub fn confirming_time(
        &self,
        last: Option<&Label>,
        locations: impl IntoIterator<Item = LocId>,
    ) -> Duration {
        let ever = self.learnt().overall;
        let time = self.time_by(AnswerMemory::All, last, locations);
        // Whatever kind of input it was: before a failure nothing is taken for quicker than the slowest answer.
        let time = match self.source {
            DefaultSource::Calibrated => time.max(ever.calibrate(AnswerMemory::All).unwrap_or_default()),
            DefaultSource::Given => time,
        };
        self.shorten_in_search(last, time.max(self.raised_time().unwrap_or_default()))
    }

    /// Returns `time`, or in a search the time that answers to the input `last` take, if that is shorter. An answer
    /// that is known to be late is waited for in a search, too.
    fn shorten_in_search(&self, last: Option<&Label>, time: Duration) -> Duration {
        let Some(Label::Input(gate, _)) = last.filter(|_| self.is_for_search) else { return time };
        let learnt = self.learnt();
        let of_input = learnt.by_input.get(gate);
        let raised = learnt.raised_after(of_input, AnswerMemory::All);
        of_input.and_then(AnswerTimes::search_time).map_or(time, |short| short.max(raised).min(time))
    }

    fn time_by(
        &self,
        memory: AnswerMemory,
        last: Option<&Label>,
        locations: impl IntoIterator<Item = LocId>,
    ) -> Duration {
        let (gate, input) = match last {
            Some(Label::Input(gate, _)) => (Some(*gate), Some(*gate)),
            Some(Label::Output(gate, _)) => (Some(*gate), None),
            Some(Label::Quiescence | Label::Delay(_)) | None => (None, None),
        };
        let after = gate.and_then(|gate| time_at(&self.after, gate.index()));
        let default = self.default_after(input, memory);
        let raised = {
            let learnt = self.learnt();
            learnt.raised_after(input.and_then(|input| learnt.by_input.get(&input)), memory)
        };
        // No location has a time of its own, which is the usual case: they need not be looked at.
        if self.within.is_empty() {
            return after.unwrap_or(default).max(raised);
        }
        let at = |location: LocId| after.max(time_at(&self.within, location.index())).unwrap_or(default);
        locations.into_iter().map(at).max().unwrap_or_else(|| after.unwrap_or(default)).max(raised)
    }
}

impl LearntTimes {
    /// Returns the time to which the patience is raised after an input with the times `of_input`.
    fn raised_after(&self, of_input: Option<&AnswerTimes>, memory: AnswerMemory) -> Duration {
        let of_input = of_input.map_or(Duration::ZERO, |times| times.raised_time(memory));
        self.overall.raised_time(memory).max(of_input)
    }
}

fn set_time(times: &mut Vec<Option<Duration>>, at: usize, time: Duration) {
    if times.len() <= at {
        times.resize(at + 1, None);
    }
    times[at] = Some(time);
}

/// Returns the time at a position; a position beyond the list has none.
fn time_at(times: &[Option<Duration>], at: usize) -> Option<Duration> {
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
        (0..MIN_ANSWERS).for_each(|_| patience.record_answer(None, ms(1)));
        assert_eq!(patience.default_time(), MIN_TIME);
        patience.record_answer(None, ms(4));
        assert_eq!(patience.default_time(), ms(80));
        patience.record_answer(None, ms(200));
        assert_eq!(patience.default_time(), ms(400), "never less than twice the longest");
    }

    #[test]
    fn a_search_waits_as_long_as_answers_to_the_message_take_and_a_factor_that_decays() {
        let patience = Patience::new(ms(2_000)).with_time_after(GateId::new(3), ms(5_000));
        let search = patience.for_search();
        let answer = |gate: usize, latency: u64, n: u64| {
            (0..n).for_each(|_| patience.record_answer(Some(GateId::new(gate)), ms(latency)));
        };
        check(&search, Some(&input(1)), &[0], 2_000);
        answer(1, 10, 1);
        check(&search, Some(&input(1)), &[0], 200);
        check(&search, Some(&input(2)), &[0], 2_000);
        check(&patience, Some(&input(1)), &[0], 2_000);
        answer(1, 10, 30);
        check(&search, Some(&input(1)), &[0], 40);
        assert_eq!(search.confirming_time(Some(&input(1)), []), ms(40));
        assert_eq!(patience.confirming_time(Some(&input(1)), []), ms(2_000));
        answer(3, 900, 1);
        check(&search, Some(&input(3)), &[0], 5_000);
        answer(3, 900, 30);
        check(&search, Some(&input(3)), &[0], 3_600);
        // An answer that is known to be late is awaited in a search, too.
        patience.raise(Some(GateId::new(1)), ms(60));
        check(&search, Some(&input(1)), &[0], 120);
    }

    #[test]
    fn a_late_answer_raises_the_time_after_its_input_for_every_copy() {
        let patience = Patience::new(ms(100)).with_time_after(GateId::new(0), ms(10));
        let copy = patience.clone();
        let (raised, other) = (GateId::new(0), input(1));
        assert_eq!(copy.raise(Some(raised), ms(350)), ms(700));
        assert_eq!(copy.raise(Some(raised), ms(5)), ms(700));
        check(&patience, Some(&input(0)), &[0], 700);
        check(&patience, Some(&other), &[0], 100);
        assert_eq!(patience.raise(None, ms(100)), ms(200));
        check(&patience, Some(&other), &[0], 200);
        assert_eq!((patience.raised_time(), patience.longest()), (Some(ms(700)), ms(700)));
        assert_eq!(Patience::new(ms(100)).raised_time(), None);
    }

    #[test]
    fn a_slow_moment_is_forgotten_but_not_where_a_failure_is_confirmed() {
        let patience = Patience::new_calibrated();
        let quick = |n: u64| (0..n).for_each(|_| patience.record_answer(Some(GateId::new(0)), ms(1)));
        quick(MIN_ANSWERS);
        patience.record_answer(Some(GateId::new(0)), ms(45));
        patience.raise(Some(GateId::new(0)), ms(800));
        check(&patience, Some(&input(0)), &[], 1600);
        quick(WINDOW);
        check(&patience, Some(&input(0)), &[], 800);
        quick(WINDOW * 8);
        check(&patience, Some(&input(0)), &[], 50);
        assert_eq!(patience.default_time(), MIN_TIME);
        assert_eq!(patience.confirming_time(Some(&input(0)), []), ms(1600));
        assert_eq!(patience.confirming_time(Some(&input(1)), []), ms(1600), "whatever was sent");
        assert_eq!(patience.raised_time(), Some(ms(1600)));
    }

    #[test]
    fn a_slow_kind_of_input_does_not_slow_down_the_others() {
        let patience = Patience::new_calibrated();
        for _ in 0..MIN_ANSWERS {
            patience.record_answer(Some(GateId::new(0)), ms(1));
            patience.record_answer(Some(GateId::new(1)), ms(200));
        }
        check(&patience, Some(&input(0)), &[], 50);
        check(&patience, Some(&input(1)), &[], 400);
        check(&patience, Some(&input(2)), &[], 400);
        assert_eq!(patience.confirming_time(Some(&input(0)), []), ms(400));
    }
}
