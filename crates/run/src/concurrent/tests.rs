//! Systems in this process whose races are certain.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU32};
use std::sync::{Arc, Barrier, Mutex};

use ioxide_history::{HistoryVerdict, prove_sequential};
use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use ioxide_model::value::Value;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_wire::adapter::{Adapter, ArrivedOutput, Observation, SentInput};

use super::*;

/// A counter: every input is answered by the number of inputs so far.
const COUNTER: &str = "model Counter {
    input add
    output total(n: int)
    var sum: int = 0
    state idle { on add { sum = sum + 1 } -> busy }
    state busy { emit total(n: sum) -> idle }
}";

fn model(text: &str) -> Model {
    let mut sources = Sources::new();
    let file = sources.add("test.iox", text);
    let loaded = load(&sources, file, &LoadOptions::default());
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// The conduct of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conduct {
    Correct,
    /// The first operations of two clients both read before either writes.
    LosesUpdates,
    /// It counts, and does not answer every third time.
    LosesAnswers,
    NeverAnswers,
    /// It sends what nobody asked for.
    Talks,
    Raises,
}

struct Counter {
    conduct: Conduct,
    n: AtomicI64,
    calls: AtomicU32,
    both_have_read: Barrier,
    total: ioxide_model::sts::GateId,
}

impl Counter {
    fn new(model: &Model, conduct: Conduct) -> Arc<Self> {
        let total = model.sts.gate_named("total").unwrap();
        let (n, calls) = (AtomicI64::new(0), AtomicU32::new(0));
        Arc::new(Self { conduct, n, calls, both_have_read: Barrier::new(2), total })
    }

    fn answer(&self, n: i64) -> Label {
        Label::Output(self.total, vec![Value::int(n)])
    }
}

/// A connection to the counter.
struct CounterClient {
    counter: Arc<Counter>,
    is_first: bool,
    waiting: VecDeque<Label>,
}

impl Adapter for CounterClient {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, _input: &Label) -> Result<SentInput, AdapterError> {
        let counter = &self.counter;
        let is_first = std::mem::replace(&mut self.is_first, false);
        let n = match counter.conduct {
            Conduct::LosesUpdates if is_first => {
                let n = counter.n.load(Ordering::SeqCst) + 1;
                counter.both_have_read.wait();
                counter.n.store(n, Ordering::SeqCst);
                n
            }
            Conduct::Raises => {
                let (text, traceback) = ("KeyError".to_owned(), String::new());
                return Err(AdapterError::Exception { text, traceback });
            }
            _ => counter.n.fetch_add(1, Ordering::SeqCst) + 1,
        };
        let is_lost =
            counter.conduct == Conduct::LosesAnswers && counter.calls.fetch_add(1, Ordering::SeqCst) % 3 == 2;
        if is_lost {
            return Err(AdapterError::Closed);
        }
        if counter.conduct != Conduct::NeverAnswers {
            self.waiting.push_back(counter.answer(n));
        }
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok((self.counter.conduct == Conduct::Talks).then(|| self.counter.answer(0).into()))
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.waiting.pop_front().map(ArrivedOutput::from).into())
    }

    fn is_synchronous(&self) -> bool {
        true
    }
}

struct CounterConnector(Arc<Counter>);

impl ClientConnector for CounterConnector {
    fn connect(&self) -> Result<Box<dyn Adapter>, AdapterError> {
        let counter = Arc::clone(&self.0);
        Ok(Box::new(CounterClient { counter, is_first: true, waiting: VecDeque::new() }))
    }
}

/// Control over the counter; notes the faults.
struct CounterControl {
    counter: Arc<Counter>,
    faults: Arc<Mutex<Vec<String>>>,
    /// True if faults cannot be begun completely.
    is_clumsy: bool,
}

impl SystemControl for CounterControl {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.counter.n.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn begin_fault(&mut self, fault: &FaultKind) -> Result<(), AdapterError> {
        self.faults.lock().unwrap().push(format!("begin {fault}"));
        if self.is_clumsy { Err(AdapterError::Broken("half a fault".into())) } else { Ok(()) }
    }

    fn end_fault(&mut self, fault: &FaultKind) -> Result<(), AdapterError> {
        self.faults.lock().unwrap().push(format!("end {fault}"));
        Ok(())
    }
}

/// Tests a counter; returns the outcome and the faults that were begun and ended.
fn test(conduct: Conduct, config: &ConcurrentConfig, is_clumsy: bool) -> (ConcurrentOutcome, Vec<String>) {
    test_until(conduct, config, is_clumsy, &AtomicBool::new(false))
}

fn test_until(
    conduct: Conduct,
    config: &ConcurrentConfig,
    is_clumsy: bool,
    stop: &AtomicBool,
) -> (ConcurrentOutcome, Vec<String>) {
    let mut model = model(COUNTER);
    let counter = Counter::new(&model, conduct);
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    let sequential = prove_sequential(&mut cx).unwrap();
    let faults = Arc::new(Mutex::new(Vec::new()));
    let mut control =
        CounterControl { counter: Arc::clone(&counter), faults: Arc::clone(&faults), is_clumsy };
    let connector = CounterConnector(counter);
    let outcome = {
        let mut setup = ConcurrentSetup {
            cx: &mut cx,
            model: &sequential,
            control: &mut control,
            connector: &connector,
            stop,
        };
        test_clients(&mut setup, config, &mut |_| ())
    };
    let faults = faults.lock().unwrap().clone();
    (outcome, faults)
}

fn runs(n: u64) -> ConcurrentConfig {
    ConcurrentConfig { runs: Some(n), operations: 40, repetitions: 3, ..ConcurrentConfig::default() }
}

#[test]
fn a_counter_that_counts_passes() {
    let config = ConcurrentConfig { clients: 4, ..runs(3) };
    let (outcome, _) = test(Conduct::Correct, &config, false);
    assert_eq!(outcome.count(ClientVerdict::Passed), 3);
    assert!(outcome.failure.is_none() && outcome.error.is_none());
    assert!(outcome.runs.iter().all(|run| run.operations >= 30 && run.open == 0));
}

#[test]
fn a_lost_update_is_found_at_once_and_comes_back_every_time() {
    let (outcome, _) = test(Conduct::LosesUpdates, &runs(5), false);
    let failure = outcome.failure.expect("two clients get the same total");
    assert_eq!((failure.run, failure.reproduced, failure.of), (1, 3, 3));
    let FailureCause::Inconsistent(judged) = failure.cause else { panic!("{:?}", failure.cause) };
    let HistoryVerdict::Inconsistent(core) = judged.verdict else { panic!("{:?}", judged.verdict) };
    assert_eq!(core.operations.len(), 2, "both say that they were the first");
    // The run ended at the cut after which it was certain.
    assert!(failure.history.operations.len() <= 6);
}

#[test]
fn operations_without_an_answer_are_open_and_their_client_gets_a_new_name() {
    let (outcome, _) = test(Conduct::LosesAnswers, &runs(1), false);
    assert_eq!(outcome.count(ClientVerdict::Passed), 1, "{:?}", outcome.runs);
    let history = outcome.last.unwrap();
    assert!(history.count_open() > 5 && history.clients.len() > 7, "{:?}", history.clients);
}

#[test]
fn a_system_that_never_answers_has_not_passed() {
    let (outcome, _) = test(Conduct::NeverAnswers, &runs(2), false);
    assert_eq!(outcome.count(ClientVerdict::Inconclusive), 2);
    assert_eq!(outcome.runs[0].unknown, Some(InconclusiveCause::NoAnswer));
}

#[test]
fn messages_that_answer_nothing_and_exceptions_fail() {
    let (outcome, _) = test(Conduct::Talks, &runs(1), false);
    assert!(matches!(outcome.failure.unwrap().cause, FailureCause::Unasked { .. }));
    let (outcome, _) = test(Conduct::Raises, &runs(1), false);
    assert!(matches!(outcome.failure.unwrap().cause, FailureCause::Misbehaved { .. }));
}

#[test]
fn every_fault_is_ended_also_one_that_could_not_be_begun() {
    let faults = vec![FaultKind::Pause];
    let config = ConcurrentConfig { faults, operations: 120, ..runs(2) };
    for is_clumsy in [false, true] {
        let (outcome, faults) = test(Conduct::Correct, &config, is_clumsy);
        assert_eq!(outcome.error.is_some(), is_clumsy);
        assert!(!faults.is_empty());
        for pair in faults.chunks(2) {
            assert_eq!(pair, ["begin pause", "end pause"]);
        }
    }
}

#[test]
fn a_campaign_that_is_stopped_keeps_what_was_done() {
    let (outcome, _) = test_until(Conduct::Correct, &runs(5), false, &AtomicBool::new(true));
    assert!(outcome.is_interrupted && outcome.runs.len() <= 1 && outcome.failure.is_none());
}

#[test]
fn the_same_seed_plans_the_same_operations() {
    let config = ConcurrentConfig { clients: 2, ..runs(1) };
    let inputs = || {
        let history = test(Conduct::Correct, &config, false).0.last.unwrap();
        let mut inputs = vec![Vec::new(); history.clients.len()];
        for operation in &history.operations {
            inputs[operation.client as usize].push(operation.input.clone());
        }
        let named = history.clients.iter().cloned().zip(inputs);
        named.collect::<std::collections::BTreeMap<_, _>>()
    };
    assert_eq!(inputs(), inputs());
}
