use super::*;
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

/// The fate of a batch in a test.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Done,
    Half,
    DiesKnown,
    DiesUnknown,
    /// The worker gives one unit up, then dies.
    LeavesAndDies,
}

fn fate(n: u8) -> Fate {
    match n % 10 {
        0 => Fate::Half,
        1 => Fate::DiesKnown,
        2 => Fate::DiesUnknown,
        3 => Fate::LeavesAndDies,
        _ => Fate::Done,
    }
}

fn report<'a>(done: &'a UnitSet, end: &'a BatchEnd) -> BatchReport<'a> {
    BatchReport { done, left: &[], end, worked: None }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Whatever happens to batches, every unit is somewhere, once; in the end all are done or quarantined.
    ///
    /// Defect: a unit that a worker had given up before it died was halved with the others and blamed besides, so it
    /// waited twice.
    #[test]
    fn no_unit_is_lost_and_none_is_twice(
        count in 0u64..200, workers in 1usize..6, fates in proptest::collection::vec(0u8..255, 1..60),
    ) {
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
            let first = batch.units.first();
            let given_up: Vec<(u64, String)> = first.map(|unit| (unit, "no answer".into())).into_iter().collect();
            let (done, left, end) = match fate {
                Fate::Done => (batch.units.clone(), Vec::new(), BatchEnd::Ended),
                Fate::Half => (half, Vec::new(), BatchEnd::Ended),
                Fate::DiesKnown => (half.clone(), Vec::new(), died(batch.units.iter().nth(half.len() as usize))),
                Fate::DiesUnknown => (UnitSet::new(), Vec::new(), died(None)),
                Fate::LeavesAndDies => (UnitSet::new(), given_up, died(None)),
            };
            let report = BatchReport { done: &done, left: &left, end: &end, worked: None };
            let told = schedule.end_batch(batch.id, &report, Duration::from_secs(step as u64 + 1));
            prop_assert_eq!(told.twice, 0);
            prop_assert!(left.iter().all(|(unit, _)| told.blamed.iter().filter(|(it, _)| it == unit).count() == 1));
            let tally = schedule.tally();
            prop_assert_eq!(tally.done + tally.running + tally.open + tally.quarantined, count);
            step += 1;
        }
        prop_assert_eq!(schedule.done_units().len() + schedule.quarantined().len() as u64, count);
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
        schedule.end_batch(batch.id, &report(&done, &end), Duration::ZERO);
    }
    assert_eq!(schedule.quarantined().keys().copied().collect::<Vec<_>>(), [17]);
    assert_eq!(schedule.quarantined()[&17], QuarantinedUnit { tries: 3, why: "signal 9".into() });
    assert_eq!(schedule.done_units().len(), 63);
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
        let ended = BatchReport { worked: Some(worked), ..report(&batch.units, &BatchEnd::Ended) };
        schedule.end_batch(batch.id, &ended, now);
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
        let ended = BatchReport { worked: Some(worked), ..report(&batch.units, &BatchEnd::Ended) };
        schedule.end_batch(batch.id, &ended, now);
    }
    assert!(batches < 40, "{batches}");
}

/// Two batches, of the units 0..8 and 8..14 of 30, are out.
fn two_batches_out() -> (Schedule, [UnitBatch; 2]) {
    let config = ScheduleConfig { workers: 2, ..ScheduleConfig::default() };
    let mut schedule = Schedule::new(config, 30, UnitSet::new(), 1);
    (schedule.unit_seconds, schedule.largest) = (Some(1.0), 1_000);
    let out = [schedule.next(Duration::ZERO), schedule.next(Duration::ZERO)].map(Option::unwrap);
    (schedule, out)
}

fn died(under_way: Option<u64>) -> BatchEnd {
    BatchEnd::Died { under_way, how: "killed".into() }
}

/// Defect: the units that a running batch gave back were open again, however far behind the stop they were.
#[test]
fn units_behind_a_stop_do_not_go_out_when_their_batch_gives_them_back() {
    let ends = [BatchEnd::Ended, died(None), died(Some(9)), died(Some(2))];
    for (end, stop_at) in ends.iter().flat_map(|end| [(end, None), (end, Some(0)), (end, Some(5))]) {
        let (mut schedule, [first, second]) = two_batches_out();
        assert!(first.units.contains(5) && second.units.first() > Some(5));
        match stop_at {
            Some(unit) => schedule.stop_after(unit),
            None => schedule.stop(),
        }
        for batch in [&first, &second] {
            schedule.end_batch(batch.id, &report(&UnitSet::new(), end), Duration::ZERO);
        }
        while let Some(batch) = schedule.next(Duration::ZERO) {
            assert!(batch.units.iter().all(|unit| Some(unit) <= stop_at), "{end:?} {stop_at:?} {batch:?}");
            schedule.end_batch(batch.id, &report(&batch.units, &BatchEnd::Ended), Duration::ZERO);
        }
        let wanted = stop_at.map_or(0, |unit| unit + 1);
        assert_eq!((schedule.done_units().len(), schedule.tally().open), (wanted, 0), "{end:?} {stop_at:?}");
    }
}

/// Defect: a round that began after a stop wanted everything again.
#[test]
fn a_stop_holds_for_units_that_are_wanted_later() {
    let mut schedule = Schedule::new(ScheduleConfig::default(), 0, UnitSet::new(), 1);
    schedule.stop_after(3);
    schedule.stop_after(7);
    schedule.request_units(&UnitSet::range(0, 10));
    assert_eq!((schedule.tally().open, schedule.is_stopped()), (4, false));
    schedule.stop();
    schedule.request_units(&UnitSet::range(0, 10));
    assert!(schedule.is_over() && schedule.is_stopped());
}

/// Defect: with one unit in its batch, a unit that was given up before its worker died failed twice at once.
#[test]
fn a_unit_that_was_given_up_before_its_worker_died_has_failed_once() {
    let mut schedule = Schedule::new(ScheduleConfig::default(), 1, UnitSet::new(), 1);
    let batch = schedule.next(Duration::ZERO).unwrap();
    let left = [(0, "no answer".to_owned())];
    let (done, end) = (UnitSet::new(), died(None));
    let told =
        schedule.end_batch(batch.id, &BatchReport { left: &left, ..report(&done, &end) }, Duration::ZERO);
    assert_eq!((told.blamed.as_slice(), schedule.tries(0)), (&left[..], 1));
    let again = schedule.next(Duration::ZERO).unwrap();
    assert_eq!((again.units, again.tries), (UnitSet::range(0, 1), 1));
    assert_eq!(schedule.next(Duration::ZERO), None);
}
