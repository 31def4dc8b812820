//! Interleavings that the scheduler of `shuttle` chooses: the seed decides everything.

use std::collections::HashMap;

use ioxide::concurrent::{self, SharedSystem};
use ioxide::{CheckFailure, GivenInput, Outputs, json};
use shuttle::sync::Mutex;

use super::concurrent::store;

/// A map of numbers; counting is one step, or two.
struct ScheduledMap {
    map: Mutex<HashMap<String, i64>>,
    is_racy: bool,
}

impl ScheduledMap {
    fn correct() -> Self {
        Self { map: Mutex::default(), is_racy: false }
    }

    fn racy() -> Self {
        Self { map: Mutex::default(), is_racy: true }
    }
}

impl SharedSystem for ScheduledMap {
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        let key: String = input.get("key");
        let mut map = self.map.lock().expect("no thread panics");
        match input.name() {
            "get" => outputs.emit("value", json!({ "v": map.get(&key) })),
            "put" => {
                map.insert(key, input.int("v"));
                outputs.emit("done", ());
            }
            _ => {
                let n = map.get(&key).copied().unwrap_or(0) + 1;
                if self.is_racy {
                    drop(map);
                    map = self.map.lock().expect("no thread panics");
                }
                map.insert(key, n);
                outputs.emit("total", json!({ "n": n }));
            }
        }
    }
}

#[test]
fn a_map_behind_a_lock_passes_every_interleaving_tried() {
    let passed = concurrent::check(&store(), ScheduledMap::correct).run_with_shuttle();
    assert_eq!((passed.runs(), passed.open(), passed.inconclusive()), (100, 0, 0));
}

#[test]
fn a_race_is_found_with_every_one_of_20_seeds_and_again_with_the_same_one() {
    let find = |seed: u64| -> CheckFailure {
        let checked = concurrent::check(&store(), ScheduledMap::racy).seed(seed).try_run_with_shuttle();
        checked.expect_err("updates are lost")
    };
    for seed in 1..=20 {
        let failure = find(seed);
        assert!(failure.is_verdict && failure.story.contains("are not linearizable"), "{}", failure.story);
        assert_eq!(failure, find(seed));
    }
}

/// Two locks that threads take in different orders.
#[derive(Default)]
struct Deadlocking(Mutex<()>, Mutex<()>);

impl SharedSystem for Deadlocking {
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        let (first, second) = if input.name() == "add" { (&self.0, &self.1) } else { (&self.1, &self.0) };
        let _held = (first.lock().expect("no thread panics"), second.lock().expect("no thread panics"));
        match input.name() {
            "get" => outputs.emit("value", json!({ "v": null })),
            "put" => outputs.emit("done", ()),
            _ => outputs.emit("total", json!({ "n": 1 })),
        }
    }
}

#[test]
fn a_deadlock_is_a_failure() {
    let failure = concurrent::check(&store(), Deadlocking::default)
        .try_run_with_shuttle()
        .expect_err("the check fails");
    assert!(failure.is_verdict && failure.story.contains("deadlock"), "{}", failure.story);
}

/// A map whose `put` waits in a loop for what never happens.
struct SpinningMap(ScheduledMap);

impl SharedSystem for SpinningMap {
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        while input.name() == "put" {
            shuttle::thread::yield_now();
        }
        self.0.take(input, outputs);
    }
}

#[test]
fn an_execution_without_end_is_cut_off_and_has_no_verdict() {
    let make = || SpinningMap(ScheduledMap::correct());
    let checked = concurrent::check(&store(), make).runs(2).try_run_with_shuttle();
    let failure = checked.expect_err("nothing is known of a system that does not return");
    assert!(!failure.is_verdict && failure.story.contains("was cut off"), "{}", failure.story);
}
