use proptest::prelude::*;

use super::*;

const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn nice_times_are_one_two_five() {
    for (time, nice) in [(0, 1), (1, 1), (3, 5), (5, 5), (6, 10), (10, 10), (11, 20), (499, 500), (501, 1000)]
    {
        assert_eq!(rounded_up(ms(time)), ms(nice), "{time}");
    }
    assert_eq!(rounded_up(us(1001)), ms(2));
}

#[test]
fn a_suggestion_leaves_room_for_the_slowest_gate() {
    let mut latencies = Latencies::default();
    assert_eq!(latencies.suggestion(), None);
    for _ in 0..5000 {
        latencies.add(GateId::new(0), us(900), ms(100));
        latencies.add(GateId::new(3), ms(7), ms(100));
    }
    // Three times the usual seven milliseconds.
    assert_eq!(latencies.suggestion(), Some(ms(50)));
    assert_eq!(latencies.tightest(), None);
    // One slow output among thousands: twice that one.
    latencies.add(GateId::new(3), ms(60), ms(100));
    assert_eq!(latencies.suggestion(), Some(ms(200)));
    assert_eq!(latencies.gates().map(|(gate, _)| gate.index()).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn the_tightest_is_the_one_that_used_most_of_its_time() {
    let mut latencies = Latencies::default();
    latencies.add(GateId::new(0), ms(50), ms(100));
    assert_eq!(latencies.tightest(), None);
    latencies.add(GateId::new(0), ms(60), ms(100));
    latencies.add(GateId::new(1), ms(8), ms(10));
    latencies.add(GateId::new(0), ms(70), ms(100));
    let tight = LateOutput { gate: GateId::new(1), latency: ms(8), allowed: ms(10) };
    assert_eq!(latencies.tightest(), Some(tight));
}

#[test]
fn extreme_times_are_counted_too() {
    let mut histogram = Histogram::default();
    for time in [Duration::ZERO, Duration::from_nanos(1), Duration::MAX] {
        histogram.add(time);
    }
    assert_eq!(histogram.quantile(1, 2), Some(Duration::from_nanos(999)));
    assert_eq!(histogram.quantile(1, 1), Some(Duration::MAX));
}

proptest! {
    /// The second opinion: the same quantile by sorting.
    #[test]
    fn a_quantile_is_right_but_for_an_eighth(
        times in proptest::collection::vec(0u64..50_000_000, 1..200), parts in 1u64..=1000,
    ) {
        let mut histogram = Histogram::default();
        times.iter().for_each(|&time| histogram.add(us(time)));
        let mut sorted = times.clone();
        sorted.sort_unstable();
        let rank = (sorted.len() as u64 * parts).div_ceil(1000).max(1);
        let exact = us(sorted[rank as usize - 1]);
        let found = histogram.quantile(parts, 1000).unwrap();
        prop_assert!(found >= exact, "{found:?} < {exact:?}");
        prop_assert!(found <= exact + exact / 8 + us(1), "{found:?} > {exact:?}");
    }

    #[test]
    fn merging_is_adding(
        times in proptest::collection::vec((0usize..3, 0u64..1_000_000), 0..100), cut in 0usize..100,
    ) {
        let add = |times: &[(usize, u64)]| {
            let mut latencies = Latencies::default();
            times.iter().for_each(|&(gate, time)| latencies.add(GateId::new(gate), us(time), ms(900)));
            latencies
        };
        let (one, other) = times.split_at(cut.min(times.len()));
        let (mut merged, other) = (add(one), add(other));
        merged.merge(&other);
        prop_assert_eq!(merged, add(&times));
    }
}

/// A part of a campaign must not promise less in its file than it has seen.
#[test]
fn no_quantile_is_shorter_after_it_was_written_and_read() {
    for nanos in [0, 1, 999, 1_000, 1_001, 1_500, 1_999, 123_456_789] {
        let latency = Duration::from_nanos(nanos);
        let mut latencies = Latencies::default();
        latencies.add(GateId::new(0), latency, ms(100));
        let read = Latencies::from_classes(&latencies.classes(), 1).unwrap();
        let (_, histogram) = read.gates().next().unwrap();
        assert!(histogram.longest() >= latency, "{nanos} ns: {:?}", histogram.longest());
        assert!(histogram.quantile(1, 1).unwrap() >= latency, "{nanos} ns: {:?}", histogram.quantile(1, 1));
        assert_eq!(
            Latencies::from_classes(&read.classes(), 1).unwrap(),
            read,
            "once written, it stays as it is"
        );
    }
}
