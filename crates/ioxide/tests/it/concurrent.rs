//! Objects that several threads use: correct ones pass, races are found and explained.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ioxide::concurrent::{self, SharedSystem};
use ioxide::{CheckFailure, GivenInput, ModelFile, Outputs, json};

/// A map of numbers: `add` counts, `put` writes, `get` reads.
pub(crate) fn store() -> ModelFile {
    ModelFile::text(
        "model Store {
            input get(key: string)
            input put(key: string, v: int)
            input add(key: string)
            output value(v: int?)
            output done
            output total(n: int)
            var store: map<string, int> = {}
            var found: int? = none
            var sum: int = 0
            fn next(before: int?) -> int = match before { none => 1, some(n) => n + 1 }
            state idle {
                on get { found = store.get(key) } -> telling
                on put { store[key] = v } -> storing
                on add { store[key] = next(store.get(key)), sum = next(store.get(key)) } -> adding
            }
            state telling { emit value(v: found) -> idle }
            state storing { emit done -> idle }
            state adding { emit total(n: sum) -> idle }
        }",
    )
}

/// A map behind one lock.
#[derive(Default)]
struct LockedMap(Mutex<HashMap<String, i64>>);

impl SharedSystem for LockedMap {
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        let key: String = input.get("key");
        let mut map = self.0.lock().expect("no thread panics");
        match input.name() {
            "get" => outputs.emit("value", json!({ "v": map.get(&key) })),
            "put" => {
                map.insert(key, input.int("v"));
                outputs.emit("done", ());
            }
            _ => {
                let n = map.entry(key).or_insert(0);
                *n += 1;
                outputs.emit("total", json!({ "n": *n }));
            }
        }
    }
}

/// A map that takes its lock twice to count, as a hand-written cache does.
#[derive(Default)]
struct RacyMap(LockedMap);

impl SharedSystem for RacyMap {
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        if input.name() != "add" {
            return self.0.take(input, outputs);
        }
        let key: String = input.get("key");
        let n = self.0.0.lock().expect("no thread panics").get(&key).copied().unwrap_or(0) + 1;
        thread::yield_now();
        self.0.0.lock().expect("no thread panics").insert(key, n);
        outputs.emit("total", json!({ "n": n }));
    }
}

#[test]
fn a_map_behind_a_lock_passes() {
    let passed = concurrent::check(&store(), LockedMap::default).clients(4).runs(50).run();
    assert_eq!((passed.runs(), passed.open(), passed.inconclusive()), (50, 0, 0));
    assert!(passed.operations() > 50 * 30, "{passed:?}");
}

#[test]
fn a_racy_map_fails_and_the_core_is_shown() {
    let checked = concurrent::check(&store(), RacyMap::default).time(Duration::from_secs(60)).try_run();
    let CheckFailure { story, is_verdict, .. } = checked.expect_err("updates are lost");
    assert!(is_verdict, "{story}");
    assert!(story.contains("are not linearizable"), "{story}");
    assert!(story.contains("no order explains"), "{story}");
    assert!(story.contains("the longest order that works"), "{story}");
    assert!(story.contains("by the entry of `store` at `key`"), "{story}");
}

/// A map that panics at its third operation.
#[derive(Default)]
struct PanickingMap {
    map: LockedMap,
    has_panicked: AtomicBool,
}

impl SharedSystem for PanickingMap {
    fn take(&self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        assert!(self.has_panicked.swap(true, Ordering::SeqCst) || input.name() != "put", "no room");
        self.map.take(input, outputs);
    }
}

#[test]
fn a_panic_fails_with_its_message() {
    let failure = concurrent::check(&store(), PanickingMap::default).try_run().expect_err("the check fails");
    assert!(failure.is_verdict && failure.story.contains("it panicked: no room"), "{}", failure.story);
}

/// A system that answers nothing.
struct Silence;

impl SharedSystem for Silence {
    fn take(&self, _input: &GivenInput<'_>, _outputs: &mut Outputs) {}
}

#[test]
fn a_system_that_never_answers_has_no_verdict() {
    let failure = concurrent::check(&store(), || Silence).runs(3).try_run().expect_err("the check fails");
    assert!(!failure.is_verdict && failure.story.contains("no operation was answered"), "{}", failure.story);
}

#[test]
fn one_thread_and_models_that_are_not_sequential_are_refused() {
    let failure = concurrent::check(&store(), || Silence).clients(1).try_run().expect_err("the check fails");
    assert!(failure.story.contains("at least 2 clients"), "{}", failure.story);
    let model = ModelFile::text("model Sink { input go output out state idle { on go } }");
    let failure = concurrent::check(&model, || Silence).try_run().expect_err("the check fails");
    assert!(!failure.is_verdict && failure.story.contains("not sequential"), "{}", failure.story);
}

#[test]
fn a_stale_cache_is_sequentially_consistent_only() {
    /// Each thread reads its own copy, which is refreshed when the thread writes.
    struct Cached {
        shared: std::sync::Arc<LockedMap>,
        copy: HashMap<String, i64>,
    }
    impl ioxide::InProcess for Cached {
        fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
            let key: String = input.get("key");
            if input.name() == "get" {
                outputs.emit("value", json!({ "v": self.copy.get(&key) }));
            } else {
                self.shared.take(input, outputs);
                self.copy = self.shared.0.lock().expect("no thread panics").clone();
            }
        }
    }
    let make = || {
        let shared = std::sync::Arc::new(LockedMap::default());
        move || Cached { shared: std::sync::Arc::clone(&shared), copy: HashMap::new() }
    };
    let store = store();
    let failure = concurrent::check_handles(&store, make).runs(1000).try_run().expect_err("the check fails");
    assert!(failure.is_verdict, "{}", failure.story);
    let check = concurrent::check_handles(&store, make).clients(2).operations(12).runs(5);
    assert_eq!(check.sequentially_consistent().run().runs(), 5);
}
