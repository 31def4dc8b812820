//! A simulated cluster: the rules of [`schedule`](crate::schedule) on many machines, with faults.
//!
//! Events in the order of their time. The driver is one server: it takes a moment to send a batch and to take one in,
//! and results come over one line to it. Machines die at random, with what they were doing, and come back; some units
//! kill whatever runs them. What comes out says where a campaign saturates before anybody pays for machines.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::time::Duration;

use crate::schedule::{BatchEnd, BatchReport, CampaignTally, Schedule, ScheduleConfig};
use crate::units::UnitSet;

/// A cluster and the campaign it is to do.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Workers, each on a machine of its own.
    pub machines: usize,
    /// Units of the campaign.
    pub units: u64,
    /// Seconds a unit takes on average; single ones take up to twice as long, or next to nothing.
    pub unit_seconds: f64,
    /// Seconds a worker takes to start.
    pub start_seconds: f64,
    /// Seconds the driver takes for a batch, to send it and to take it in.
    pub driver_seconds: f64,
    /// Bytes a unit sends back.
    pub unit_bytes: f64,
    /// Bytes the line of the driver takes in a second.
    pub line_bytes: f64,
    /// Seconds a machine lives on average; `None` if machines never die by themselves.
    pub life_seconds: Option<f64>,
    /// Seconds until a dead machine is back.
    pub repair_seconds: f64,
    /// Units that kill their machine.
    pub killers: BTreeSet<u64>,
    /// True if the parts of dead machines can be read.
    pub is_shared: bool,
    /// The time that a batch should take.
    pub batch: Duration,
    /// The seed of all random choices.
    pub seed: u64,
}

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// Seconds until all was done.
    pub seconds: f64,
    /// Seconds of work without any loss, shared by all machines.
    pub ideal_seconds: f64,
    /// The share of the time in which the driver was at work.
    pub driver_load: f64,
    /// Batches that were sent.
    pub batches: u64,
    /// Machines that died.
    pub deaths: u64,
    /// The tally at the end.
    pub tally: CampaignTally,
    /// Units whose result came twice.
    pub twice: u64,
    /// The units that were quarantined.
    pub quarantined: Vec<u64>,
}

/// An event: its time in nanoseconds, its number, the machine.
type SimulatedEvent = Reverse<(u64, u64, usize)>;

/// The state of a machine.
#[derive(Clone, Debug)]
enum SimulatedMachine {
    Idle,
    /// A machine with a batch: the units that it will do, and the end of the batch.
    Busy {
        batch: u64,
        done: UnitSet,
        end: BatchEnd,
        worked: Duration,
    },
    Down,
}

/// Simulates the campaign.
#[must_use]
pub fn simulate(cluster: &Cluster) -> Simulated {
    Simulation::new(cluster).run_to_end()
}

struct Simulation<'c> {
    cluster: &'c Cluster,
    schedule: Schedule,
    machines: Vec<SimulatedMachine>,
    idle: BTreeSet<usize>,
    queue: BinaryHeap<SimulatedEvent>,
    chance: SeededChance,
    happened: u64,
    /// The time at which the driver is free again, in seconds.
    driver_free: f64,
    driver_busy: f64,
    now: f64,
    batches: u64,
    deaths: u64,
    twice: u64,
    /// Seconds each unit takes, once it is known.
    costs: BTreeMap<u64, f64>,
}

impl<'c> Simulation<'c> {
    /// Makes the simulation at time 0: all machines of `cluster` are idle, and no unit is done.
    fn new(cluster: &'c Cluster) -> Self {
        let config = ScheduleConfig { workers: cluster.machines, batch: cluster.batch, tries: 3 };
        Self {
            cluster,
            schedule: Schedule::new(config, cluster.units, UnitSet::new(), 1),
            machines: vec![SimulatedMachine::Idle; cluster.machines],
            idle: (0..cluster.machines).collect(),
            queue: BinaryHeap::new(),
            chance: SeededChance(cluster.seed),
            happened: 0,
            driver_free: 0.0,
            driver_busy: 0.0,
            now: 0.0,
            batches: 0,
            deaths: 0,
            twice: 0,
            costs: BTreeMap::new(),
        }
    }

    /// Simulates event by event, until no machine has work left.
    fn run_to_end(mut self) -> Simulated {
        self.fill_machines();
        while let Some(Reverse((at, _, machine))) = self.queue.pop() {
            self.now = at as f64 / 1e9;
            match std::mem::replace(&mut self.machines[machine], SimulatedMachine::Idle) {
                SimulatedMachine::Busy { batch, done, end, worked } => {
                    self.end_batch(machine, batch, &done, &end, worked)
                }
                SimulatedMachine::Down => {
                    self.idle.insert(machine);
                }
                SimulatedMachine::Idle => (),
            }
            self.fill_machines();
            // Machines that are still down have nothing to come back for.
            if self.schedule.is_over() {
                break;
            }
        }
        let seconds = self.now.max(self.driver_free);
        let work: f64 = (0..self.cluster.units).map(|unit| cost(self.cluster, unit)).sum();
        Simulated {
            seconds,
            ideal_seconds: work / self.cluster.machines as f64,
            driver_load: self.driver_busy / seconds.max(1e-9),
            batches: self.batches,
            deaths: self.deaths,
            tally: self.schedule.tally(),
            twice: self.twice,
            quarantined: self.schedule.quarantined().keys().copied().collect(),
        }
    }

    /// Occupies the driver for `seconds` more; returns the time at which it is done.
    fn drive(&mut self, seconds: f64) -> f64 {
        // One server: work waits until the driver is free, and never begins before now.
        self.driver_free = self.driver_free.max(self.now) + seconds;
        self.driver_busy += seconds;
        self.driver_free
    }

    fn fill_machines(&mut self) {
        while let Some(&machine) = self.idle.first() {
            let Some(batch) = self.schedule.next(Duration::from_secs_f64(self.now)) else { return };
            self.idle.remove(&machine);
            self.batches += 1;
            let sent = self.drive(self.cluster.driver_seconds / 2.0);
            // Drawn anew for every batch: the exponential distribution has no memory, so a machine that has worked for
            // long is as likely to die as a new one.
            let life = self.cluster.life_seconds.map_or(f64::INFINITY, |mean| self.chance.exponential(mean));
            let (mut seconds, mut done, mut under_way) = (self.cluster.start_seconds, UnitSet::new(), None);
            for unit in batch.units.iter() {
                let needs = *self.costs.entry(unit).or_insert_with(|| cost(self.cluster, unit));
                if seconds + needs > life || self.cluster.killers.contains(&unit) {
                    under_way = Some(unit);
                    // A machine dies when its life is over, a killer kills at the end of its unit, whichever is first.
                    seconds = life.min(seconds + needs);
                    break;
                }
                seconds += needs;
                done.insert(unit);
            }
            let is_dead = under_way.is_some();
            let end = if is_dead {
                BatchEnd::Died {
                    under_way: under_way.filter(|_| self.cluster.is_shared),
                    how: "its machine died".into(),
                }
            } else {
                BatchEnd::Ended
            };
            // What a dead machine has done is known only where others can read it.
            let done = if is_dead && !self.cluster.is_shared { UnitSet::new() } else { done };
            let worked = Duration::from_secs_f64((seconds - self.cluster.start_seconds).max(0.0));
            self.machines[machine] = SimulatedMachine::Busy { batch: batch.id, done, end, worked };
            self.schedule_event(sent + seconds, machine);
        }
    }

    fn end_batch(&mut self, machine: usize, batch: u64, done: &UnitSet, end: &BatchEnd, worked: Duration) {
        let bytes = self.cluster.unit_bytes * done.len() as f64;
        let taken = self.drive(self.cluster.driver_seconds / 2.0 + bytes / self.cluster.line_bytes);
        let report = BatchReport { done, left: &[], end, worked: Some(worked) };
        self.twice +=
            self.schedule.end_batch(batch, &report, Duration::from_secs_f64(taken.max(self.now))).twice;
        match end {
            BatchEnd::Ended => {
                self.idle.insert(machine);
            }
            BatchEnd::Died { .. } => {
                self.deaths += 1;
                self.machines[machine] = SimulatedMachine::Down;
                self.schedule_event(self.now + self.cluster.repair_seconds, machine);
            }
        }
    }

    /// Schedules an event on `machine` at `at` seconds; events of the same instant keep their order.
    fn schedule_event(&mut self, at: f64, machine: usize) {
        // The number makes events of the same instant comparable, so that a simulation is the same every time.
        self.happened += 1;
        self.queue.push(Reverse(((at * 1e9) as u64, self.happened, machine)));
    }
}

/// Seconds that `unit` takes, wherever it runs.
fn cost(cluster: &Cluster, unit: u64) -> f64 {
    // By the unit, not by the order in which units are done, so that a unit which is repeated takes as long again.
    let mut chance = SeededChance(cluster.seed ^ unit.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    2.0 * chance.uniform() * cluster.unit_seconds
}

/// A pseudo-random number generator (SplitMix64).
struct SeededChance(u64);

impl SeededChance {
    /// Draws a number from 0 to 1 (SplitMix64), so that simulations need no other crate.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws a number that is exponentially distributed with this mean.
    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> Cluster {
        Cluster {
            machines: 20,
            units: 5_000,
            unit_seconds: 0.5,
            start_seconds: 0.1,
            driver_seconds: 0.001,
            unit_bytes: 1_000.0,
            line_bytes: 1e8,
            life_seconds: None,
            repair_seconds: 30.0,
            killers: BTreeSet::new(),
            is_shared: true,
            batch: Duration::from_secs(10),
            seed: 1,
        }
    }

    #[test]
    fn without_faults_nearly_nothing_is_lost() {
        let told = simulate(&cluster());
        assert_eq!((told.tally.done, told.twice, told.deaths), (5_000, 0, 0));
        assert!(told.seconds >= told.ideal_seconds, "{told:?}");
        assert!(told.seconds < 1.1 * told.ideal_seconds, "{told:?}");
    }

    #[test]
    fn machines_that_die_and_units_that_kill_lose_and_double_nothing() {
        for (seed, is_shared) in (1..=10).flat_map(|seed| [(seed, true), (seed, false)]) {
            let killers: BTreeSet<u64> = [7, 4_000].into();
            let life_seconds = Some(120.0);
            let faulty = Cluster { seed, is_shared, life_seconds, killers: killers.clone(), ..cluster() };
            let told = simulate(&faulty);
            assert_eq!(told.twice, 0);
            assert_eq!(told.tally.done + told.tally.quarantined, 5_000, "{told:?}");
            assert!(killers.iter().all(|unit| told.quarantined.contains(unit)), "{told:?}");
            assert!(told.deaths > 6, "{told:?}");
        }
    }

    #[test]
    fn a_slow_driver_saturates() {
        let told = simulate(&Cluster { driver_seconds: 1.0, machines: 200, ..cluster() });
        assert!(told.driver_load > 0.9, "{told:?}");
    }
}
