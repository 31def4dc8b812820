//! Systems that choose names by themselves: other ones in every run, also after a reset.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;

use ioxide_record::reporter::EventSink;
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use ioxide_wire::adapter::{Adapter, ArrivedOutput, Observation, SentInput};

use super::*;
use crate::campaign::campaign;

/// A store whose system chooses the keys.
const STORE: &str = "
model Store {
    input create(n: 0..3)
    input get(key: KEY)
    output created(key: KEY)
    output found(n: int)
    output missing
    var items: map<KEY, int> = {}
    var asked: KEY = NONE
    var given: int = 0
    state idle {
        on create { given = n } -> creating
        on get { asked = key } -> getting
    }
    state creating { emit created when !items.has(key) { items = items.with(key, given) } -> idle }
    state getting {
        emit found when items.has(asked) && n == items[asked] -> idle
        emit missing when !items.has(asked) -> idle
    }
}";

/// The way in which the system makes up its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keys {
    /// Numbers that go on after a reset.
    Counter,
    /// Texts that never come again.
    Texts,
}

/// The store; it answers a wrong number once it has this many items.
struct Store<'m> {
    spec: &'m Model,
    keys: Keys,
    faulty_from: usize,
    items: BTreeMap<Value, i64>,
    next: i64,
    said: VecDeque<ArrivedOutput>,
}

impl Store<'_> {
    fn say(&mut self, gate: &str, values: Vec<Value>) {
        let gate = self.spec.sts.gate_named(gate).expect("a gate");
        self.said.push_back(Label::Output(gate, values).into());
    }
}

impl Adapter for Store<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.items.clear();
        self.said.clear();
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let Label::Input(gate, values) = input else { panic!("only inputs are sent") };
        if *self.spec.sts.gates[*gate].name == *"create" {
            self.next += 1;
            let key = match self.keys {
                Keys::Counter => Value::int(self.next),
                Keys::Texts => Value::str(&format!("{:08x}-made-up", self.next * 0x9e37_79b9 % 0xffff_ffff)),
            };
            let n = values[0].as_int().and_then(|n| n.to_i64()).expect("a number");
            self.items.insert(key.clone(), n);
            self.say("created", vec![key]);
        } else {
            match self.items.get(&values[0]).copied() {
                Some(n) => {
                    let off = i64::from(self.items.len() >= self.faulty_from);
                    self.say("found", vec![Value::int(n + off)]);
                }
                None => self.say("missing", Vec::new()),
            }
        }
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(self.said.pop_front())
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.said.pop_front().into())
    }
}

/// The first failure of a campaign on the store, and the labels of its smallest run.
fn failure(keys: Keys, faulty_from: usize, seed: u64) -> (FailureGroup, Vec<String>) {
    let (sort, none) = match keys {
        Keys::Counter => ("int", "0"),
        Keys::Texts => ("string", "\"\""),
    };
    let spec = model(&STORE.replace("KEY", sort).replace("NONE", none));
    let mut own = spec.clone();
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(&mut own, &mut solver);
    let (items, said) = (BTreeMap::new(), VecDeque::new());
    let mut adapter = Store { spec: &spec, keys, faulty_from, items, next: 0, said };
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut tester = RandomTester::new(RandomConfig { steps: 80, ..RandomConfig::default() }, seed);
    let config = CampaignConfig { runs: 50, seed, ..CampaignConfig::default() };
    let (mut events, mut clock): (Vec<ioxide_record::event::Event>, _) =
        (Vec::new(), ioxide_record::clock::StoppedClock);
    let sink = EventSink::new(&mut events, &mut clock);
    let outcome = campaign(&mut bench, &mut tester, &config, &sink).unwrap();
    let failure = outcome.failures.first().expect("a failure").clone();
    let smallest = failure.shrunk.as_ref().expect("it was made smaller");
    let shown = smallest.trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect();
    (failure, shown)
}

#[test]
fn a_run_with_names_that_the_system_chooses_fails_again_and_becomes_minimal() {
    for keys in [Keys::Counter, Keys::Texts] {
        for (faulty_from, n_steps) in [(1, 4), (3, 8)] {
            for seed in 0..3 {
                let (failure, shown) = failure(keys, faulty_from, seed);
                assert_eq!((failure.reproduced, failure.of), (3, 3), "{keys:?}");
                assert_eq!(shown.len(), n_steps, "{keys:?} {faulty_from}: {shown:?}");
                let shrunk = failure.shrunk.expect("it was made smaller");
                assert_eq!((shrunk.reproduced, shrunk.of), (5, 5), "{shown:?}");
            }
        }
    }
}

/// Defect: a text with a key in it was taken for the key, so that a run with the key alone was not tried.
#[test]
fn a_text_around_a_reference_is_part_of_the_meaning() {
    let (failure, shown) = failure(Keys::Texts, 1, 7);
    assert_eq!(shown.len(), 4, "{shown:?}");
    assert!(failure.shrunk.expect("it was made smaller").minimal);
}
