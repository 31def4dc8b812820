//! The schedule of a campaign: the units that go next, and the retries of those whose worker died.
//!
//! Units go out in batches: short units together, so that starting a worker costs little, and ever fewer towards the
//! end, so that all workers end at the same time (guided self-scheduling). A worker reports the time it was at work;
//! what its batch took besides (a queue, a start) is its cost, and a batch is made to take at least a few times as
//! long. A unit that was under way when its worker died is tried again, alone; if it is not known which it was, the
//! batch is halved until it is. A unit whose workers die [`ScheduleConfig::tries`] times is quarantined.
//!
//! Time is a parameter, so that [`simulate`](crate::simulate) can run the same rules on machines that do not exist.
//!
//! *Promises.* Every unit that is wanted is done, open, running or quarantined, and exactly one of these. A unit that
//! is not wanted any more never goes out again, also where it comes back from a batch that was running.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::units::UnitSet;

/// The least length of a batch, in multiples of the time its worker takes to start. Chosen by feel: a fifth of the
/// time is then spent on starting, at most.
const MIN_BATCH_IN_STARTS: f64 = 4.0;
/// The most units of a batch, in multiples of the largest batch before. Chosen by feel: fast enough to reach the
/// wanted length in a few batches, slow enough that one guess does no harm.
const GROWTH: u64 = 4;

/// The settings of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleConfig {
    /// Batches that run at once.
    pub workers: usize,
    /// The time that a batch should take.
    pub batch: Duration,
    /// The number of failed tries after which a unit is quarantined.
    pub tries: u32,
}

impl Default for ScheduleConfig {
    fn default() -> Self {
        Self { workers: 1, batch: Duration::from_secs(10), tries: 3 }
    }
}

/// Units that go out together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitBatch {
    /// Its number, from 1.
    pub id: u64,
    /// Its units.
    pub units: UnitSet,
    /// The number of batches with its units that ended badly before; 0 for units that go out for the first time.
    pub tries: u32,
}

/// The end of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BatchEnd {
    /// The worker came to its end and wrote so.
    Ended,
    /// The worker died, or its machine was lost.
    Died {
        /// The unit that was under way, if that is known.
        under_way: Option<u64>,
        /// The cause, as far as it is known.
        how: String,
    },
}

/// The report of a batch that has ended.
#[derive(Clone, Copy, Debug)]
pub struct BatchReport<'a> {
    /// The units that are done.
    pub done: &'a UnitSet,
    /// The units that its worker gave up and lived on, with the reason.
    pub left: &'a [(u64, String)],
    /// The end of the batch.
    pub end: &'a BatchEnd,
    /// The time its worker was at work, if that is known.
    pub worked: Option<Duration>,
}

/// The consequences of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchBlame {
    /// The number of units that were reported as done and had been done before.
    pub twice: u64,
    /// The units that failed, each once, with the reason.
    pub blamed: Vec<(u64, String)>,
}

/// The reason why a unit is not tried any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuarantinedUnit {
    /// The number of failed tries.
    pub tries: u32,
    /// The cause of the last failure.
    pub why: String,
}

/// The progress of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CampaignTally {
    /// Units that are done.
    pub done: u64,
    /// Units of batches that are running.
    pub running: u64,
    /// Units that wait, suspects included.
    pub open: u64,
    /// Units that are not tried any more.
    pub quarantined: u64,
    /// Units that went out again after a batch that ended badly, each time counted.
    pub retried: u64,
    /// Batches that ended badly.
    pub failed: u64,
}

/// The units of a campaign under way.
#[derive(Clone, Debug)]
pub struct Schedule {
    config: ScheduleConfig,
    open: UnitSet,
    /// Units that a worker has died of, or may have, with the number of tries; they go first.
    suspects: VecDeque<(UnitSet, u32)>,
    running: BTreeMap<u64, (UnitBatch, Duration)>,
    done: UnitSet,
    quarantined: BTreeMap<u64, QuarantinedUnit>,
    /// The first unit that is not wanted any more, with all after it; `None` if all are wanted.
    unwanted: Option<u64>,
    /// For each unit the number of failed tries.
    tries: BTreeMap<u64, u32>,
    /// Seconds a unit takes beside the start of its worker, as far as it was seen.
    unit_seconds: Option<f64>,
    /// Seconds a batch takes besides: until its worker is at work, and until its end is seen.
    start_seconds: f64,
    /// Units of the largest batch that ended well.
    largest: u64,
    next: u64,
    retried: u64,
    failed: u64,
}

impl Schedule {
    /// A campaign of `count` units of which `done` are done; batches are numbered from `next` on.
    #[must_use]
    pub fn new(config: ScheduleConfig, count: u64, done: UnitSet, next: u64) -> Self {
        let mut open = UnitSet::range(0, count);
        open.subtract(&done);
        Self {
            config,
            open,
            suspects: VecDeque::new(),
            running: BTreeMap::new(),
            done,
            quarantined: BTreeMap::new(),
            unwanted: None,
            tries: BTreeMap::new(),
            unit_seconds: None,
            start_seconds: 0.0,
            largest: 0,
            next,
            retried: 0,
            failed: 0,
        }
    }

    /// Adds units to those that are wanted; those that are done or quarantined are not done again, and those after a
    /// stop stay unwanted.
    pub fn request_units(&mut self, units: &UnitSet) {
        let is_new = |unit: &u64| !self.done.contains(*unit) && !self.quarantined.contains_key(unit);
        let new: UnitSet = units.iter().filter(is_new).collect();
        self.reopen(&new);
    }

    fn is_wanted(&self, unit: u64) -> bool {
        self.unwanted.is_none_or(|end| unit < end)
    }

    /// Returns the units of `set` that are still wanted.
    fn retain_wanted(&self, set: &UnitSet) -> UnitSet {
        set.iter().take_while(|&unit| self.is_wanted(unit)).collect()
    }

    /// Puts units back among those that anyone may take.
    fn reopen(&mut self, units: &UnitSet) {
        let wanted = self.retain_wanted(units);
        self.open.extend(&wanted);
    }

    /// Puts units aside that were under way when a worker died; they are tried again in a batch of their own.
    fn suspect(&mut self, units: &UnitSet, tries: u32) {
        let wanted = self.retain_wanted(units);
        if !wanted.is_empty() {
            self.suspects.push_back((wanted, tries));
        }
    }

    /// Takes over the failed tries of a unit from an earlier process; sets it aside if they are too many.
    pub fn remember(&mut self, unit: u64, tries: u32, why: &str) {
        if !self.open.remove(unit) {
            return;
        }
        self.tries.insert(unit, tries);
        if tries >= self.config.tries {
            self.quarantined.insert(unit, QuarantinedUnit { tries, why: why.to_owned() });
        } else {
            self.suspect(&UnitSet::range(unit, unit + 1), tries);
        }
    }

    /// Returns the next batch, suspects first; `None` if no worker is free or nothing is left.
    pub fn next(&mut self, now: Duration) -> Option<UnitBatch> {
        if self.running.len() >= self.config.workers {
            return None;
        }
        let (units, tries) = match self.suspects.pop_front() {
            Some(suspects) => suspects,
            None if self.open.is_empty() => return None,
            None => (self.open.split_off(self.batch_size()), 0),
        };
        if tries > 0 {
            self.retried += units.len();
        }
        let batch = UnitBatch { id: self.next, units, tries };
        self.next += 1;
        self.running.insert(batch.id, (batch.clone(), now));
        Some(batch)
    }

    /// Returns the number of units of the next batch: 1 until the time of a unit is known.
    fn batch_size(&self) -> u64 {
        // Guided self-scheduling: half of an even share of the open units, so batches shrink towards the end and the
        // workers end at about the same time.
        let fair = self.open.len().div_ceil(2 * self.config.workers as u64).max(1);
        let Some(seconds) = self.unit_seconds else { return 1 };
        let batch = self.config.batch.as_secs_f64().max(MIN_BATCH_IN_STARTS * self.start_seconds);
        // What little is known of short units is no reason to send very many of them.
        let most = self.largest.saturating_mul(GROWTH).max(1);
        fair.min(most).min((batch / seconds.max(1e-9)).clamp(1.0, 1e12) as u64)
    }

    /// Updates the estimates by a batch of `n` units that took `seconds`, in `worked` of which its worker was at
    /// work.
    fn note_unit_time(&mut self, n: u64, seconds: f64, worked: f64) {
        let (each, besides) = (worked / n as f64, (seconds - worked).max(0.0));
        let known = self.unit_seconds.is_some();
        // Moving averages that weigh the latest batch by a half: they follow a machine that becomes busy, and forget an
        // outlier after a few batches.
        self.start_seconds = if known { (self.start_seconds + besides) / 2.0 } else { besides };
        self.unit_seconds = Some(self.unit_seconds.map_or(each, |before| (before + each) / 2.0));
        self.largest = self.largest.max(n);
    }

    /// Takes in the end of a batch; returns what it blames units for.
    pub fn end_batch(&mut self, id: u64, report: &BatchReport<'_>, now: Duration) -> BatchBlame {
        let Some((batch, begun)) = self.running.remove(&id) else { return BatchBlame::default() };
        let mut rest = batch.units;
        let mut told = BatchBlame::default();
        for unit in report.done.iter() {
            rest.remove(unit);
            told.twice += u64::from(!self.done.insert(unit));
        }
        if !report.done.is_empty() {
            let took = now.saturating_sub(begun);
            let worked = report.worked.unwrap_or(took);
            self.note_unit_time(report.done.len(), took.as_secs_f64(), worked.as_secs_f64());
        }
        // What the worker gave up is known, so it is no suspect if the worker died afterwards.
        told.blamed.extend(report.left.iter().filter(|(unit, _)| rest.remove(*unit)).cloned());
        match report.end {
            BatchEnd::Ended => self.reopen(&rest),
            BatchEnd::Died { under_way, how } => {
                self.failed += 1;
                told.blamed.extend(self.died(rest, *under_way, batch.tries).map(|unit| (unit, how.clone())));
            }
        }
        told.blamed.iter().for_each(|(unit, why)| self.blame(*unit, why));
        told
    }

    /// Puts back the `rest` of a batch whose worker died; returns the unit that it died of, which is not put back, if
    /// that is known.
    fn died(&mut self, mut rest: UnitSet, under_way: Option<u64>, tries: u32) -> Option<u64> {
        let culprit = under_way.filter(|&unit| rest.contains(unit));
        // A batch of one unit has only one suspect, also if the worker left no trace.
        let culprit = culprit.or_else(|| rest.first().filter(|_| rest.len() == 1));
        if let Some(unit) = culprit {
            rest.remove(unit);
            self.reopen(&rest);
        } else {
            // Not known which one it was: each half goes out alone, so a further crash halves the suspects again.
            let half = rest.split_off(rest.len() / 2);
            self.suspect(&half, tries + 1);
            self.suspect(&rest, tries + 1);
        }
        culprit
    }

    /// Counts a failed try of a unit that waits nowhere; it goes out again alone or is quarantined, if it is
    /// wanted.
    fn blame(&mut self, unit: u64, why: &str) {
        let tries = self.tries.entry(unit).or_default();
        *tries += 1;
        let tries = *tries;
        if !self.is_wanted(unit) {
            return;
        }
        if tries >= self.config.tries {
            self.quarantined.insert(unit, QuarantinedUnit { tries, why: why.to_owned() });
        } else {
            self.suspect(&UnitSet::range(unit, unit + 1), tries);
        }
    }

    /// Drops the units after `unit`: those that wait at once, those of running batches if they come back.
    pub fn stop_after(&mut self, unit: u64) {
        self.stop_before(unit.saturating_add(1));
    }

    /// Drops all units: those that wait at once, those of running batches if they come back.
    pub fn stop(&mut self) {
        self.stop_before(0);
    }

    fn stop_before(&mut self, end: u64) {
        self.unwanted = Some(self.unwanted.map_or(end, |before| before.min(end)));
        self.open = self.retain_wanted(&self.open);
        for (set, tries) in std::mem::take(&mut self.suspects) {
            self.suspect(&set, tries);
        }
    }

    /// Returns whether no unit at all is wanted any more.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.unwanted == Some(0)
    }

    /// Returns whether no batch is running and no unit waits.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.running.is_empty() && self.open.is_empty() && self.suspects.is_empty()
    }

    /// The units that are done.
    #[must_use]
    pub const fn done_units(&self) -> &UnitSet {
        &self.done
    }

    /// The units that are not tried any more.
    #[must_use]
    pub const fn quarantined(&self) -> &BTreeMap<u64, QuarantinedUnit> {
        &self.quarantined
    }

    /// Returns the number of failed tries of a unit.
    #[must_use]
    pub fn tries(&self, unit: u64) -> u32 {
        self.tries.get(&unit).copied().unwrap_or_default()
    }

    /// Returns the progress of the campaign.
    #[must_use]
    pub fn tally(&self) -> CampaignTally {
        let suspects: u64 = self.suspects.iter().map(|(set, _)| set.len()).sum();
        CampaignTally {
            done: self.done.len(),
            running: self.running.values().map(|(batch, _)| batch.units.len()).sum(),
            open: self.open.len() + suspects,
            quarantined: self.quarantined.len() as u64,
            retried: self.retried,
            failed: self.failed,
        }
    }
}

#[cfg(test)]
mod tests;
