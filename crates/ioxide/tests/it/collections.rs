//! Lists, sets, maps and cases with fields between a model and a system in this process, as plain Rust types.

use std::collections::{BTreeMap, BTreeSet};

use ioxide::{CheckFailure, GivenInput, InProcess, ModelFile, Outputs, check, json};
use serde::{Deserialize, Serialize};

const MODEL: &str = "model Shelf {
    enum Key { left, right }
    enum Order { all, some_of(keys: set<Key>), one(key: Key) }
    input put(values: map<Key, 0..9>, log: list<0..9>)
    input ask(order: Order)
    output told(values: map<Key, 0..9>, missing: set<Key>, log: list<0..9>)
    var held: map<Key, 0..9> = {}
    var seen: list<0..9> = []
    var wanted: set<Key> = {}
    fn only(of: map<Key, 0..9>, keys: set<Key>, key: Key) -> map<Key, 0..9> =
        if keys.has(key) then of else of.without(key)
    state ready {
        put: on put when log.length() <= 3 { held = values, seen = log }
        ask: on ask
            { wanted = match order { all => {left, right}, some_of(keys) => keys, one(key) => {key} } }
            -> telling
    }
    state telling {
        tell: emit told(
                values: only(only(held, wanted, left), wanted, right),
                missing: {k for k in wanted if !held.has(k)},
                log: seen
            )
            -> ready
    }
}";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Key {
    Left,
    Right,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    All,
    SomeOf { keys: BTreeSet<Key> },
    One { key: Key },
}

#[derive(Default)]
struct Shelf {
    held: BTreeMap<Key, i64>,
    log: Vec<i64>,
    /// Of equal numbers in a row it keeps one.
    forgets_repetitions: bool,
}

impl InProcess for Shelf {
    fn take(&mut self, input: &GivenInput<'_>, outputs: &mut Outputs) {
        if input.name() == "put" {
            (self.held, self.log) = (input.get("values"), input.get("log"));
            if self.forgets_repetitions {
                self.log.dedup();
            }
            return;
        }
        let wanted = match input.get("order") {
            Order::All => [Key::Left, Key::Right].into(),
            Order::SomeOf { keys } => keys,
            Order::One { key } => BTreeSet::from([key]),
        };
        let values: BTreeMap<Key, i64> =
            self.held.iter().filter(|(key, _)| wanted.contains(key)).map(|(key, n)| (*key, *n)).collect();
        let missing: BTreeSet<Key> = wanted.iter().filter(|key| !values.contains_key(key)).copied().collect();
        outputs.emit("told", json!({ "values": values, "missing": missing, "log": self.log }));
    }
}

fn run(forgets_repetitions: bool) -> Result<(), CheckFailure> {
    let model = ModelFile::text(MODEL);
    let made = || Shelf { forgets_repetitions, ..Shelf::default() };
    check(&model, made).steps(400).try_run().map(drop)
}

#[test]
fn collections_are_plain_types_on_both_ways() {
    run(false).expect("it is right");
}

#[test]
fn a_repetition_that_is_forgotten_is_found() {
    let failure = run(true).expect_err("it is wrong");
    assert!(failure.to_string().contains("told"), "{failure}");
}
