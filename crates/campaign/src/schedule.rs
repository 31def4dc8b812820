//! The schedule of a campaign: the units that go next, and the retries of those whose worker died.
//!
//! Units go out in batches: short units together, so that starting a worker costs little, and ever fewer towards the
//! end, so that all workers end at the same time (guided self-scheduling). A worker reports the time it was at work;
//! what its batch took besides (a queue, a start) is its cost, and a batch is made to take at least a few times as
//! long. A unit that was under way when its worker died is tried again, alone; if it is not known which it was, the
//! batch is halved until it is. A unit whose workers die [`ScheduleConfig::tries`] times is set aside.
//!
//! Time is a parameter, so that [`simulate`](crate::simulate) can run the same rules on machines that do not exist.
//!
//! *Promises.* Every unit is done, open, running or set aside, and exactly one of these.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crate::units::UnitSet;

/// The least length of a batch, in multiples of the time its worker takes to start.
const STARTS: f64 = 4.0;
/// The most units of a batch, in multiples of the largest batch before.
const GROWTH: u64 = 4;

/// The settings of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleConfig {
    /// Batches that run at once.
    pub workers: usize,
    /// The time that a batch should take.
    pub batch: Duration,
    /// The number of failed tries after which a unit is set aside.
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

/// The reason why a unit is not tried any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
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
    pub aside: u64,
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
    aside: BTreeMap<u64, SetAside>,
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
            aside: BTreeMap::new(),
            tries: BTreeMap::new(),
            unit_seconds: None,
            start_seconds: 0.0,
            largest: 0,
            next,
            retried: 0,
            failed: 0,
        }
    }

    /// Adds units to those that are wanted; those that are done or set aside are not done again.
    pub fn want(&mut self, units: &UnitSet) {
        let is_new = |unit: &u64| !self.done.contains(*unit) && !self.aside.contains_key(unit);
        self.open.extend(&units.iter().filter(is_new).collect());
    }

    /// Takes over the failed tries of a unit from an earlier process; sets it aside if they are too many.
    pub fn remember(&mut self, unit: u64, tries: u32, why: &str) {
        if !self.open.remove(unit) {
            return;
        }
        self.tries.insert(unit, tries);
        if tries >= self.config.tries {
            self.aside.insert(unit, SetAside { tries, why: why.to_owned() });
        } else {
            self.suspects.push_back((UnitSet::range(unit, unit + 1), tries));
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
            None => (self.open.split_off(self.size()), 0),
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
    fn size(&self) -> u64 {
        let fair = self.open.len().div_ceil(2 * self.config.workers as u64).max(1);
        let Some(seconds) = self.unit_seconds else { return 1 };
        let batch = self.config.batch.as_secs_f64().max(STARTS * self.start_seconds);
        // What little is known of short units is no reason to send very many of them.
        let most = self.largest.saturating_mul(GROWTH).max(1);
        fair.min(most).min((batch / seconds.max(1e-9)).clamp(1.0, 1e12) as u64)
    }

    /// Updates the estimates by a batch of `n` units that took `seconds`, in `worked` of which its worker was at
    /// work.
    fn learn(&mut self, n: u64, seconds: f64, worked: f64) {
        let (each, besides) = (worked / n as f64, (seconds - worked).max(0.0));
        let known = self.unit_seconds.is_some();
        self.start_seconds = if known { (self.start_seconds + besides) / 2.0 } else { besides };
        self.unit_seconds = Some(self.unit_seconds.map_or(each, |before| (before + each) / 2.0));
        self.largest = self.largest.max(n);
    }

    /// Takes in the end of a batch, with the units that are done and the time its worker was at work, if that is
    /// known; returns the number of these units that were done before.
    pub fn ended(
        &mut self,
        id: u64,
        done: &UnitSet,
        end: &BatchEnd,
        worked: Option<Duration>,
        now: Duration,
    ) -> u64 {
        let Some((batch, begun)) = self.running.remove(&id) else { return 0 };
        let mut left = batch.units;
        let mut twice = 0;
        for unit in done.iter() {
            left.remove(unit);
            twice += u64::from(!self.done.insert(unit));
        }
        if !done.is_empty() {
            let took = now.saturating_sub(begun);
            self.learn(done.len(), took.as_secs_f64(), worked.unwrap_or(took).as_secs_f64());
        }
        match end {
            BatchEnd::Ended => self.open.extend(&left),
            BatchEnd::Died { under_way, how } => {
                self.failed += 1;
                self.died(left, *under_way, batch.tries, how);
            }
        }
        twice
    }

    fn died(&mut self, mut left: UnitSet, under_way: Option<u64>, tries: u32, how: &str) {
        match under_way {
            Some(unit) if left.remove(unit) => {
                self.open.extend(&left);
                self.blame(unit, how);
            }
            _ if left.len() == 1 => left.iter().for_each(|unit| self.blame(unit, how)),
            _ if left.is_empty() => (),
            _ => {
                let half = left.split_off(left.len() / 2);
                self.suspects.push_back((half, tries + 1));
                self.suspects.push_back((left, tries + 1));
            }
        }
    }

    /// Counts a failed try of a unit, which goes out again alone or is set aside.
    pub fn blame(&mut self, unit: u64, why: &str) {
        let tries = self.tries.entry(unit).or_default();
        *tries += 1;
        self.open.remove(unit);
        if *tries >= self.config.tries {
            self.aside.insert(unit, SetAside { tries: *tries, why: why.to_owned() });
        } else {
            self.suspects.push_back((UnitSet::range(unit, unit + 1), *tries));
        }
    }

    /// Drops the waiting units after `unit`; batches that are running go on.
    pub fn stop_after(&mut self, unit: u64) {
        let keep = |set: &UnitSet| set.iter().take_while(|&it| it <= unit).collect::<UnitSet>();
        self.open = keep(&self.open);
        self.suspects = self.suspects.iter().map(|(set, tries)| (keep(set), *tries)).collect();
        self.suspects.retain(|(set, _)| !set.is_empty());
    }

    /// Drops all waiting units; batches that are running go on.
    pub fn stop(&mut self) {
        self.open = UnitSet::new();
        self.suspects.clear();
    }

    /// Returns whether no batch is running and no unit waits.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.running.is_empty() && self.open.is_empty() && self.suspects.is_empty()
    }

    /// The units that are done.
    #[must_use]
    pub const fn done(&self) -> &UnitSet {
        &self.done
    }

    /// The units that are not tried any more.
    #[must_use]
    pub const fn aside(&self) -> &BTreeMap<u64, SetAside> {
        &self.aside
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
            aside: self.aside.len() as u64,
            retried: self.retried,
            failed: self.failed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

    /// The fate of a batch in a test.
    #[derive(Clone, Copy, Debug)]
    enum Fate {
        Done,
        Half,
        DiesKnown,
        DiesUnknown,
    }

    fn fate(n: u8) -> Fate {
        match n % 8 {
            0 => Fate::Half,
            1 => Fate::DiesKnown,
            2 => Fate::DiesUnknown,
            _ => Fate::Done,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        /// Whatever happens to batches, every unit is somewhere, once; in the end all are done or set aside.
        #[test]
        fn no_unit_is_lost_and_none_is_twice(count in 0u64..200, workers in 1usize..6, fates in proptest::collection::vec(0u8..255, 1..60)) {
            let config = ScheduleConfig { workers, ..ScheduleConfig::default() };
            let mut schedule = Schedule::new(config, count, UnitSet::new(), 1);
            let mut out: Vec<UnitBatch> = Vec::new();
            let mut step = 0usize;
            while !schedule.is_over() {
                while let Some(batch) = schedule.next(Duration::from_secs(step as u64)) {
                    prop_assert!(out.iter().all(|other| other.units.iter().all(|unit| !batch.units.contains(unit))));
                    out.push(batch);
                }
                prop_assert!(out.len() <= workers);
                let batch = out.swap_remove(step % out.len());
                let half: UnitSet = batch.units.iter().take(batch.units.len() as usize / 2).collect();
                let died = |under_way| BatchEnd::Died { under_way, how: "killed".into() };
                // After a while everything goes well, or a campaign of faults alone would have no end.
                let fate = if step > 2000 { Fate::Done } else { fate(fates[step % fates.len()]) };
                let (done, end) = match fate {
                    Fate::Done => (batch.units.clone(), BatchEnd::Ended),
                    Fate::Half => (half, BatchEnd::Ended),
                    Fate::DiesKnown => (half.clone(), died(batch.units.iter().nth(half.len() as usize))),
                    Fate::DiesUnknown => (UnitSet::new(), died(None)),
                };
                let twice = schedule.ended(batch.id, &done, &end, None, Duration::from_secs(step as u64 + 1));
                prop_assert_eq!(twice, 0);
                let tally = schedule.tally();
                prop_assert_eq!(tally.done + tally.running + tally.open + tally.aside, count);
                step += 1;
            }
            prop_assert_eq!(schedule.done().len() + schedule.aside().len() as u64, count);
        }
    }

    #[test]
    fn a_unit_that_kills_workers_is_found_by_halving_and_set_aside() {
        let mut schedule = Schedule::new(ScheduleConfig::default(), 64, UnitSet::new(), 1);
        (schedule.unit_seconds, schedule.largest) = (Some(0.001), 1_000);
        let mut deaths = 0;
        while let Some(batch) = schedule.next(Duration::ZERO) {
            let (done, end) = if batch.units.contains(17) {
                (UnitSet::new(), BatchEnd::Died { under_way: None, how: "signal 9".into() })
            } else {
                (batch.units.clone(), BatchEnd::Ended)
            };
            deaths += u32::from(batch.units.contains(17));
            schedule.ended(batch.id, &done, &end, None, Duration::ZERO);
        }
        assert_eq!(schedule.aside().keys().copied().collect::<Vec<_>>(), [17]);
        assert_eq!(schedule.aside()[&17], SetAside { tries: 3, why: "signal 9".into() });
        assert_eq!(schedule.done().len(), 63);
        // 32, 16, 8, 4, 2 units, then three times alone.
        assert_eq!(deaths, 8);
    }

    #[test]
    fn short_units_go_together_and_the_last_batches_are_small() {
        let config = ScheduleConfig { workers: 4, ..ScheduleConfig::default() };
        let mut schedule = Schedule::new(config, 100_000, UnitSet::new(), 1);
        let (mut now, mut sizes) = (Duration::ZERO, Vec::new());
        while let Some(batch) = schedule.next(now) {
            let worked = Duration::from_millis(batch.units.len());
            now += worked + Duration::from_millis(50);
            sizes.push(batch.units.len());
            schedule.ended(batch.id, &batch.units, &BatchEnd::Ended, Some(worked), now);
        }
        assert_eq!(sizes.iter().sum::<u64>(), 100_000);
        assert_eq!(sizes.first(), Some(&1), "nothing is known of the first");
        assert!(sizes.iter().max().is_some_and(|&most| (5_000..=10_000).contains(&most)), "{sizes:?}");
        assert_eq!(sizes.last(), Some(&1));
        assert!(sizes.len() < 100, "{}", sizes.len());
    }

    /// Defect: where a worker took longer to start than a batch should take, every unit had a worker of its own.
    #[test]
    fn workers_that_start_slowly_get_larger_batches() {
        let config = ScheduleConfig { workers: 3, batch: Duration::from_secs(1), tries: 3 };
        let mut schedule = Schedule::new(config, 400, UnitSet::new(), 1);
        let (mut now, mut batches) = (Duration::ZERO, 0);
        while let Some(batch) = schedule.next(now) {
            let worked = Duration::from_millis(30 * batch.units.len());
            // The queue takes longer and longer.
            now += worked + Duration::from_millis(1_000 + 3_000 * (batches % 4));
            batches += 1;
            schedule.ended(batch.id, &batch.units, &BatchEnd::Ended, Some(worked), now);
        }
        assert!(batches < 40, "{batches}");
    }
}
