//! The latencies of outputs, and the quiescence time that follows from them.
//!
//! One histogram per output gate, its classes a fixed number per doubling of the time, so
//! memory does not grow with the run and a quantile is at most an eighth too long.
//!
//! *Promises.* A quantile is never too short, and never longer than the longest time seen; what is written in whole
//! microseconds is rounded up, so it is not too short either.

use std::time::Duration;

use ioxide_model::index::Idx;
use ioxide_model::sts::GateId;

/// Classes per doubling. Chosen by feel: quantiles are then right within an eighth.
const PER_DOUBLING: usize = 8;
/// The number of doublings that are distinguished, from one microsecond on; the last class holds all longer times
/// (weeks).
const DOUBLINGS: usize = 40;

/// Answers below which nothing follows from them. Chosen by feel: the longest of twenty says something of the next.
const MIN_ANSWERS: u64 = 20;

/// The latencies of one kind of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    classes: Vec<u64>,
    total: u64,
    longest: Duration,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { classes: vec![0; PER_DOUBLING * DOUBLINGS], total: 0, longest: Duration::ZERO }
    }
}

impl Histogram {
    /// Counts one more.
    pub fn add(&mut self, latency: Duration) {
        self.classes[class_of(latency)] += 1;
        self.total += 1;
        self.longest = self.longest.max(latency);
    }

    /// Returns the number of latencies counted.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Returns the longest latency.
    #[must_use]
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns a time that at least `parts` of `whole` of the latencies do not exceed; `None` if none was counted.
    #[must_use]
    pub fn quantile(&self, parts: u64, whole: u64) -> Option<Duration> {
        if self.total == 0 {
            return None;
        }
        // Rounded up, and the upper end of its class below: a quantile may be too long, never too short.
        let rank = (u128::from(self.total) * u128::from(parts)).div_ceil(u128::from(whole.max(1)));
        let mut seen = 0u128;
        for (class, &count) in self.classes.iter().enumerate() {
            seen += u128::from(count);
            if seen >= rank.max(1) {
                return Some(upper_end(class).min(self.longest));
            }
        }
        Some(self.longest)
    }
}

/// The class of a time.
fn class_of(latency: Duration) -> usize {
    let micros = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
    let first = PER_DOUBLING as u64;
    // Below eight microseconds a class is one microsecond.
    if micros < first {
        return micros as usize;
    }
    // The leading one says which doubling it is, the three bits after it which part.
    let doubling = micros.ilog2() as usize - PER_DOUBLING.ilog2() as usize;
    let part = (micros >> doubling) as usize - PER_DOUBLING;
    ((doubling + 1) * PER_DOUBLING + part).min(PER_DOUBLING * DOUBLINGS - 1)
}

/// The longest time of a class.
fn upper_end(class: usize) -> Duration {
    if class == PER_DOUBLING * DOUBLINGS - 1 {
        return Duration::MAX;
    }
    let next = class + 1;
    // The inverse of `class_of`: where the next class begins, this one ends.
    let micros = match next.checked_sub(PER_DOUBLING) {
        None => next as u64,
        Some(above) => ((above % PER_DOUBLING + PER_DOUBLING) as u64) << (above / PER_DOUBLING),
    };
    Duration::from_micros(micros) - Duration::from_nanos(1)
}

/// The latencies of a gate: its number, the longest in microseconds, and how many are in which class.
pub type LatencyClasses = (usize, u64, Vec<(usize, u64)>);

/// An output that arrived when more than half of its quiescence time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LateOutput {
    /// The gate of the output.
    pub gate: GateId,
    /// The latency of the output.
    pub latency: Duration,
    /// The quiescence time: after it, the system would have been considered quiescent.
    pub allowed: Duration,
}

/// The latencies of all outputs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    /// The histograms, by the number of the gate.
    gates: Vec<Histogram>,
    tightest: Option<LateOutput>,
}

impl Latencies {
    /// Counts an output at `gate` that took `latency`; after `allowed` it would have been silence.
    pub fn add(&mut self, gate: GateId, latency: Duration, allowed: Duration) {
        if self.gates.len() <= gate.index() {
            self.gates.resize_with(gate.index() + 1, Histogram::default);
        }
        self.gates[gate.index()].add(latency);
        let tight = LateOutput { gate, latency, allowed };
        if latency.saturating_mul(2) > allowed && self.tightest.is_none_or(|other| is_tighter(&tight, &other))
        {
            self.tightest = Some(tight);
        }
    }

    /// Adds what another campaign, or another instance, has seen.
    pub fn merge(&mut self, other: &Self) {
        if self.gates.len() < other.gates.len() {
            self.gates.resize_with(other.gates.len(), Histogram::default);
        }
        for (mine, theirs) in self.gates.iter_mut().zip(&other.gates) {
            mine.classes.iter_mut().zip(&theirs.classes).for_each(|(mine, theirs)| *mine += theirs);
            mine.total += theirs.total;
            mine.longest = mine.longest.max(theirs.longest);
        }
        if let Some(theirs) = other.tightest
            && self.tightest.is_none_or(|mine| is_tighter(&theirs, &mine))
        {
            self.tightest = Some(theirs);
        }
    }

    /// The gates with an output, and their latencies.
    pub fn gates(&self) -> impl Iterator<Item = (GateId, &Histogram)> {
        let numbered = self.gates.iter().enumerate().filter(|(_, histogram)| histogram.total > 0);
        numbered.map(|(at, histogram)| (GateId::new(at), histogram))
    }

    /// The output that came closest to being missed, if one took more than half of its quiescence time.
    #[must_use]
    pub const fn tightest(&self) -> Option<LateOutput> {
        self.tightest
    }

    /// Returns the latencies as plain data: the gate, the longest time in microseconds, and the number of times in each
    /// class.
    #[must_use]
    pub fn classes(&self) -> Vec<LatencyClasses> {
        let classes = |histogram: &Histogram| {
            histogram.classes.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(at, &n)| (at, n)).collect()
        };
        self.gates().map(|(gate, it)| (gate.index(), whole_micros(it.longest), classes(it))).collect()
    }

    /// Returns the latencies that [`classes`](Self::classes) wrote for a model with `n_gates` gates; `None` if a gate
    /// or a class does not exist. The tightest output is not among the data.
    #[must_use]
    pub fn from_classes(told: &[LatencyClasses], n_gates: usize) -> Option<Self> {
        let mut latencies = Self::default();
        latencies.gates.resize_with(n_gates, Histogram::default);
        for (gate, longest, classes) in told {
            let histogram = latencies.gates.get_mut(*gate)?;
            histogram.longest = Duration::from_micros(*longest);
            for &(class, n) in classes {
                *histogram.classes.get_mut(class)? += n;
                histogram.total += n;
            }
        }
        Some(latencies)
    }

    /// Returns the number of outputs counted.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.gates().map(|(_, histogram)| histogram.total).sum()
    }

    /// A quiescence time that leaves room: for every gate three times the latency that one output in a
    /// thousand exceeds, and twice the longest, rounded up. `None` if there were too few answers to say.
    #[must_use]
    pub fn suggestion(&self) -> Option<Duration> {
        if self.total() < MIN_ANSWERS {
            return None;
        }
        self.gates().map(|(_, histogram)| room_for(histogram)).max().map(rounded_up)
    }
}

/// Returns the time in microseconds, rounded up.
pub(crate) fn whole_micros(time: Duration) -> u64 {
    u64::try_from(time.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX)
}

/// Returns whether `one` used a larger share of its quiescence time than `other`.
fn is_tighter(one: &LateOutput, other: &LateOutput) -> bool {
    let share = |part: &LateOutput, whole: &LateOutput| {
        // Shares are compared crosswise, without a division.
        part.latency.as_micros().saturating_mul(whole.allowed.as_micros().max(1))
    };
    share(one, other) > share(other, one)
}

fn room_for(histogram: &Histogram) -> Duration {
    let most = histogram.quantile(999, 1000).unwrap_or_default();
    // Three and two are chosen by feel: room for an answer slower than any seen so far.
    most.saturating_mul(3).max(histogram.longest.saturating_mul(2))
}

/// The next of 1, 2, 5, 10, 20, 50 … milliseconds.
fn rounded_up(time: Duration) -> Duration {
    let mut unit = Duration::from_millis(1);
    while unit.saturating_mul(10) < time {
        unit = unit.saturating_mul(10);
    }
    let steps = [1, 2, 5, 10].map(|times| unit.saturating_mul(times));
    steps.into_iter().find(|&step| step >= time).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests;
