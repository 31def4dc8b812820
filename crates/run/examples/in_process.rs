//! Tests a Rust struct in this process, without any protocol.
//!
//! `cargo run -p ioxide-run --example in_process` tests a correct queue; with `-- --fault` it
//! tests one that forgets its order, and shows the failing run.

use std::collections::VecDeque;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ioxide_lang::{LoadOptions, load};
use ioxide_model::label::Label;
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};
use ioxide_record::reporter::{EventSink, SilentReporter};
use ioxide_record::value::{WireMessage, label_from_json, label_to_json};
use ioxide_run::campaign::{CampaignConfig, campaign};
use ioxide_run::clock::MonotonicClock;
use ioxide_run::run::RunSetup;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use ioxide_wire::adapter::{Adapter, AdapterError, ArrivedOutput, Observation, SentInput};
use serde_json::{Value as Json, json};

/// The specification of the queue.
const MODEL: &str = "model Queue {
    input push(n: 0..9)
    input pop
    output ok
    output full
    output empty
    output value(n: int)

    var len: int = 0
    var first: int = 0
    var second: int = 0

    state ready {
        push1: on push when len == 0 { first = n, len = 1 } -> pushed
        push2: on push when len == 1 { second = n, len = 2 } -> pushed
        push3: on push when len == 2 -> refused
        pop: on pop when len > 0 -> popped
        pop_none: on pop when len == 0 -> nothing
    }
    state pushed { ok: emit ok -> ready }
    state refused { full: emit full -> ready }
    state nothing { empty: emit empty -> ready }
    state popped { value: emit value(n: first) { first = second, len = len - 1 } -> ready }
}";

/// The system under test: a queue with room for two.
struct Queue {
    items: Vec<i64>,
    fault: bool,
}

impl Queue {
    fn push(&mut self, n: i64) -> bool {
        let has_room = self.items.len() < 2;
        if has_room {
            self.items.push(n);
        }
        has_room
    }

    fn pop(&mut self) -> Option<i64> {
        // The fault: last in, first out.
        if self.fault {
            return self.items.pop();
        }
        (!self.items.is_empty()).then(|| self.items.remove(0))
    }
}

/// The queue as the tester sees it.
struct QueueAdapter {
    model: Model,
    queue: Queue,
    /// The outputs of the queue that the tester has not taken yet.
    said: VecDeque<Label>,
}

impl QueueAdapter {
    /// Queues an output; names and values are those of the model.
    fn say(&mut self, label: &str, args: Json) -> Result<(), AdapterError> {
        let args = args.as_object().cloned().unwrap_or_default();
        let message = WireMessage { label: label.to_owned(), args };
        let label = label_from_json(&self.model, &message, |kind| kind == GateKind::Output);
        self.said.push_back(label.map_err(|error| AdapterError::Broken(error.to_string()))?);
        Ok(())
    }
}

impl Adapter for QueueAdapter {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.queue.items.clear();
        self.said.clear();
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let refused = || AdapterError::Refused("no such input".into());
        let message = label_to_json(&self.model.pool, &self.model.sts, input).ok_or_else(refused)?;
        match message.label.as_str() {
            "push" => {
                let n = message.args["n"].as_i64().ok_or_else(refused)?;
                let answer = if self.queue.push(n) { "ok" } else { "full" };
                self.say(answer, json!({}))?;
            }
            "pop" => match self.queue.pop() {
                Some(n) => self.say("value", json!({ "n": n }))?,
                None => self.say("empty", json!({}))?,
            },
            _ => return Err(refused()),
        }
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(self.said.pop_front().map(Into::into))
    }

    /// Never waits: every output is queued while the input is given.
    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.said.pop_front().map(ArrivedOutput::from).into())
    }
}

fn main() -> ExitCode {
    let mut sources = Sources::new();
    let file = sources.add("queue.iox", MODEL);
    let mut model = load(&sources, file, &LoadOptions::default()).model.expect("the model is correct");
    let queue = Queue { items: Vec::new(), fault: std::env::args().any(|arg| arg == "--fault") };
    let mut adapter = QueueAdapter { model: model.clone(), queue, said: VecDeque::new() };

    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut tester = RandomTester::new(RandomConfig::default(), 1);
    let config = CampaignConfig { runs: 20, seed: 1, ..CampaignConfig::default() };
    let (mut reporter, mut clock) = (SilentReporter, MonotonicClock::start());
    let sink = EventSink::new(&mut reporter, &mut clock);
    let outcome = campaign(&mut bench, &mut tester, &config, &sink).expect("nothing is written");

    println!("{} runs passed, {} failed", outcome.counts.passed, outcome.counts.failed);
    let Some(failure) = outcome.failures.first() else { return ExitCode::SUCCESS };
    let trace = failure.shrunk.as_ref().map_or(&failure.trace, |shrunk| &shrunk.trace);
    for label in &trace.labels {
        println!("  {}", label.show(bench.cx.pool, bench.cx.sts));
    }
    ExitCode::FAILURE
}
