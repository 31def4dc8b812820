//! Looks at a system where silence takes time: how many there are, what they find, and what a long hunt keeps.
//!
//! The system is a store behind a connection that confirms nothing. It answers at once and never makes anybody wait, so
//! that the tests do not depend on the machine; times are the nominal ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::RunOutcome;
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_run::campaign::run_seed;
use ioxide_run::coverage::Coverage;
use ioxide_run::run::{RunConfig, RunId, RunSetup, run};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::tester::Tester as _;
use ioxide_testgen::tester::hunt::{HuntConfig, HuntTester};
use ioxide_wire::adapter::{Adapter, AdapterError, ArrivedOutput, InputReceipt, Observation, SentInput};

const STORE: &str = "model Store {
    type Key = 0..15
    type Number = 0..99
    input PUT(k: Key, v: Number)
    input GET(k: Key)
    input DEL(k: Key)
    input NOTE(k: Key)
    output DONE
    output VALUE(v: Number)
    output NONE
    output GONE
    var store: map<Key, Number> = {}
    var wanted: Key = 0
    state ready {
        on PUT { store = store.with(k, v) } -> done
        on GET { wanted = k } -> asked
        on DEL when store.has(k) { store = store.without(k) } -> done
        on DEL when !store.has(k) -> gone
        on NOTE -> ready
    }
    state done { emit DONE -> ready }
    state gone { emit GONE -> ready }
    state asked {
        emit VALUE(v: held) when let some(held) = store.get(wanted) -> ready
        emit NONE when !store.has(wanted) -> ready
    }
}";

/// The fault of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreFault {
    /// With three keys, the answer to deleting one of them is missing.
    MissingReply,
    /// After something was deleted a message comes that nobody asked for, some time later: only a look shows it.
    LateMessage,
}

/// A store that answers at once and confirms nothing.
struct WrittenStore<'m> {
    sts: &'m Sts,
    fault: Option<StoreFault>,
    values: BTreeMap<Value, Value>,
    replies: VecDeque<Label>,
    /// The message that comes if somebody waits for it.
    late: Option<Label>,
}

impl WrittenStore<'_> {
    fn output(&self, name: &str, values: Vec<Value>) -> Label {
        Label::Output(self.sts.gate_named(name).expect("the model has it"), values)
    }

    fn answer(&mut self, name: &str, fields: &[Value]) -> Option<Label> {
        let key = fields[0].clone();
        self.late = None;
        Some(match name {
            "NOTE" => return None,
            "PUT" => {
                self.values.insert(key, fields[1].clone());
                self.output("DONE", Vec::new())
            }
            "GET" => match self.values.get(&key).cloned() {
                Some(value) => self.output("VALUE", vec![value]),
                None => self.output("NONE", Vec::new()),
            },
            _ => {
                let is_missing = self.fault == Some(StoreFault::MissingReply) && self.values.len() == 3;
                let was_held = self.values.remove(&key).is_some();
                if self.fault == Some(StoreFault::LateMessage) {
                    self.late = Some(self.output("GONE", Vec::new()));
                }
                if was_held && is_missing {
                    return None;
                }
                self.output(if was_held { "DONE" } else { "GONE" }, Vec::new())
            }
        })
    }
}

impl Adapter for WrittenStore<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.values.clear();
        self.replies.clear();
        self.late = None;
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        if let Label::Input(gate, values) = input {
            let name = self.sts.gates[*gate].name.to_string();
            let reply = self.answer(&name, values);
            self.replies.extend(reply);
        }
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(self.replies.pop_front().map(ArrivedOutput::from))
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        let next = self.replies.pop_front().or_else(|| self.late.take());
        Ok(next.map_or(Observation::Quiet, |label| Observation::Output(label.into())))
    }

    fn receipt(&self) -> InputReceipt {
        InputReceipt::Written
    }
}

fn store() -> Model {
    let mut sources = Sources::default();
    let file = sources.add("store.iox", STORE.to_owned());
    load(&sources, file, &LoadOptions::default()).model.expect("it is a model")
}

/// The result of a hunt: its traces, whether the last one failed, and the numbers of terms there
/// were after each run.
struct HuntResult {
    traces: Vec<Trace>,
    failed: bool,
    terms: Vec<usize>,
}

fn hunt_store(fault: Option<StoreFault>, steps: usize, seed: u64) -> HuntResult {
    let spec = store();
    let mut own = spec.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut own, &mut solver);
    let mut adapter =
        WrittenStore { sts: &spec.sts, fault, values: BTreeMap::new(), replies: VecDeque::new(), late: None };
    let mut hunt = HuntTester::new(HuntConfig { steps, ..HuntConfig::default() });
    let stop = AtomicBool::new(false);
    let mut setup = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&spec.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    let mut result = HuntResult { traces: Vec::new(), failed: false, terms: Vec::new() };
    while !hunt.is_done() && !result.failed {
        let n = result.traces.len() as u64;
        let id = RunId { run: n, seed: run_seed(seed, n) };
        let finished = run(&mut setup, &mut hunt, &RunConfig::default(), id, &mut coverage, &sink)
            .expect("nothing is written");
        result.failed = finished.end.outcome() == RunOutcome::Fail;
        result.traces.push(finished.trace);
        result.terms.push(setup.cx.pool.len());
    }
    result
}

/// Returns the numbers of silences and of all labels.
fn count_labels(traces: &[Trace]) -> (usize, usize) {
    let labels = || traces.iter().flat_map(|trace| &trace.labels);
    (labels().filter(|label| **label == Label::Quiescence).count(), labels().count())
}

#[test]
fn silence_takes_at_most_a_quarter_of_the_time_of_a_quick_store() {
    for seed in 0..3 {
        let result = hunt_store(None, 10_000, seed);
        assert!(!result.failed, "the store is correct");
        let (silences, labels) = count_labels(&result.traces);
        // The nominal time of a silence is that of 256 other moves.
        assert!(silences * 256 <= (labels + silences * 256) / 4, "seed {seed}: {silences} of {labels}");
        assert!(silences > 0, "silence is looked at");
    }
}

#[test]
fn inputs_without_a_reply_are_settled_by_one_with_a_reply() {
    // More than eight are never under way at once, so without a reply in between the run would wait for silence.
    let result = hunt_store(None, 10_000, 4);
    let labels: Vec<&Label> = result.traces.iter().flat_map(|trace| &trace.labels).collect();
    let note = store().sts.gate_named("NOTE");
    let is_note = |label: &Label| matches!(label, Label::Input(gate, _) if Some(*gate) == note);
    let notes = labels.iter().filter(|label| is_note(label)).count();
    let silences = labels.iter().filter(|label| ***label == Label::Quiescence).count();
    assert!(notes > 500 && silences < notes / 50, "{notes} notes, {silences} silences");
}

#[test]
fn faults_that_only_silence_or_a_look_shows_are_found() {
    for seed in 0..5 {
        let missing = hunt_store(Some(StoreFault::MissingReply), 2_000, seed);
        assert!(missing.failed, "seed {seed}");
        let failing = missing.traces.last().expect("it failed");
        assert_eq!(failing.labels.last(), Some(&Label::Quiescence), "seed {seed}");
        assert!(hunt_store(Some(StoreFault::LateMessage), 10_000, seed).failed, "seed {seed}");
    }
}

#[test]
fn a_long_hunt_keeps_no_terms_of_its_messages() {
    let result = hunt_store(None, 12_000, 1);
    let terms = &result.terms;
    let (half, all) = (terms[terms.len() / 2], terms[terms.len() - 1]);
    assert!(all - half < 200, "{half} terms after half of the runs, {all} after all");
}
