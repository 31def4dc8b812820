//! The blamed message on three connections: the one that nothing explains, not the one that happened to come last.

use std::collections::VecDeque;

use ioxide_model::sts::GateId;
use ioxide_record::clock::StoppedClock;
use ioxide_record::event::{Event, VerdictWord};
use ioxide_record::format::Record;
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::{ConnectionWiring, Crossing, MessageRoute};
use ioxide_testgen::tester::replay::{PlannedMove, ReplayTester, Unmentioned};
use ioxide_wire::adapter::{InputReceipt, SentInput};

use super::*;
use crate::campaign::{CampaignOutcome, campaign};
use crate::clock::patience::Patience;
use crate::judge::{Inputs, JudgeConfig, judge};
use crate::samples::message;
use crate::shrink::FailureSign;

/// Three clients draw numbers from one roll.
const ROLL: &str = "model Roll {
    input ask_a  output got_a(n: 0..200)
    input ask_b  output got_b(n: 0..200)
    input ask_c  output got_c(n: 0..200)
    var a: bool = false
    var b: bool = false
    var c: bool = false
    var next: int = 1
    state s {
        on ask_a when !a { a = true } -> s
        on ask_b when !b { b = true } -> s
        on ask_c when !c { c = true } -> s
        emit got_a(n: next) when a { a = false, next = next + 1 } -> s
        emit got_b(n: next) when b { b = false, next = next + 1 } -> s
        emit got_c(n: next) when c { c = false, next = next + 1 } -> s
    }
}";

/// The fault of a roll.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RollFault {
    /// Client b gets a number that is not on the roll.
    WrongNumber,
    /// Client b gets no answer, though a number is drawn for it.
    NoAnswer,
}

/// The roll with one connection for each client; what is said to `b` arrives before anything else.
struct RollSystem {
    model: Arc<Model>,
    wiring: Arc<ConnectionWiring>,
    fault: RollFault,
    next: i64,
    to_tester: [VecDeque<Label>; 3],
    /// The time that passes before a message is delivered.
    pause: Duration,
}

impl RollSystem {
    fn new(model: &Model, fault: RollFault, pause: Duration) -> Self {
        let of =
            |gate: GateId| client(model, gate).map_or(MessageRoute::Any, |at| MessageRoute::One(at as u32));
        let wiring = Arc::new(ConnectionWiring::new(&model.pool, &model.sts, 3, of));
        Self { model: Arc::new(model.clone()), wiring, fault, next: 1, to_tester: Default::default(), pause }
    }

    fn hear(&mut self) -> Option<ArrivedOutput> {
        let at = [1, 0, 2].into_iter().find(|at| !self.to_tester[*at].is_empty())?;
        let label = self.to_tester[at].pop_front()?;
        let (connection, lane) = (at as u32, at as u32);
        let crossing = Crossing { connection, lane, is_answer: false, others: 0, is_end: false };
        std::thread::sleep(self.pause);
        Some(ArrivedOutput { way: Arrival::Crossing(crossing), ..label.into() })
    }
}

/// The client of a message, by its last letter.
fn client(model: &Model, gate: GateId) -> Option<usize> {
    let (_, letter) = model.sts.gates[gate].name.split_once('_')?;
    "abc".find(letter)
}

impl Adapter for RollSystem {
    fn reset(&mut self) -> Result<(), AdapterError> {
        (self.next, self.to_tester) = (1, Default::default());
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let Label::Input(gate, _) = input else { return Err(AdapterError::Closed) };
        let at = client(&self.model, *gate).expect("a message of a client");
        let wrong = if at == 1 && self.fault == RollFault::WrongNumber { 100 } else { 0 };
        if at != 1 || self.fault != RollFault::NoAnswer {
            let answer = ["got_a", "got_b", "got_c"][at];
            self.to_tester[at].push_back(message(&self.model, answer, &[self.next + wrong]));
        }
        self.next += 1;
        Ok(SentInput { lane: at as u32, ..SentInput::default() })
    }

    fn receipt(&self) -> InputReceipt {
        InputReceipt::Written
    }

    fn wiring(&self) -> Option<Arc<ConnectionWiring>> {
        Some(Arc::clone(&self.wiring))
    }

    fn is_synchronous(&self) -> bool {
        true
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.hear().into())
    }
}

/// A campaign of one run with these moves: the name of an input, or `look`.
fn run_moves(fault: RollFault, moves: &str, pause: Duration) -> (Model, Vec<Event>, CampaignOutcome) {
    let spec = model(ROLL);
    let planned = |word: &str| match word {
        "look" => PlannedMove::Observe,
        input => PlannedMove::Send(message(&spec, input, &[]).into()),
    };
    let plan = moves.split_whitespace().map(planned).collect();
    let mut tester = ReplayTester::new(plan, Unmentioned::Stop);
    let (mut own, mut solver) = (spec.clone(), BruteSolver::new());
    let mut adapter = RollSystem::new(&spec, fault, pause);
    let stop = AtomicBool::new(false);
    let mut cx = Ctx::new(&mut own, &mut solver);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    // What a message may have overtaken arrives within a millisecond.
    let run =
        RunConfig { patience: Patience::new(Duration::from_millis(1)), confirm: 1, ..RunConfig::default() };
    let config = CampaignConfig { run, ..CampaignConfig::default() };
    let (mut events, mut clock) = (Vec::new(), StoppedClock);
    let sink = EventSink::new(&mut events, &mut clock);
    let outcome = campaign(&mut bench, &mut tester, &config, &sink).expect("events are told");
    (spec, events, outcome)
}

/// The forbidden label of a trace, and the last one.
fn ends(spec: &Model, trace: &Trace) -> (String, String) {
    let shown =
        |label: Option<&Label>| label.map(|label| label.show(&spec.pool, &spec.sts)).unwrap_or_default();
    (shown(trace.forbidden_label()), shown(trace.labels.last()))
}

/// The labels of a trace, in a line.
fn line(spec: &Model, trace: &Trace) -> String {
    trace.labels.iter().map(|label| label.show(&spec.pool, &spec.sts)).collect::<Vec<_>>().join(" ")
}

/// Far longer than what may still explain a message: as long as messages are awaited.
const LONG: Duration = Duration::from_millis(20);

#[test]
fn a_held_message_that_nothing_explains_is_blamed_and_not_a_right_answer_after_it() {
    // a's number comes last, is right, and explains nothing.
    let moves = "ask_a ask_b look look look";
    let (spec, events, outcome) = run_moves(RollFault::WrongNumber, moves, Duration::ZERO);
    let failure = &outcome.failures[0];
    assert_eq!(ends(&spec, &failure.trace), ("!got_b(n: 102)".into(), "δ".into()));
    assert!(failure.signature.starts_with("!got_b in s"), "{}", failure.signature);
    let got_b = spec.sts.gate_named("got_b").expect("there");
    assert_eq!(FailureSign::of_failing(&failure.trace), Some(FailureSign::Message(got_b)));
    let verdict = events.iter().find_map(|event| match &event.event {
        EventKind::Verdict(told) if told.verdict == VerdictWord::Fail => Some(told),
        _ => None,
    });
    let verdict = verdict.expect("a verdict");
    assert_eq!(verdict.step, Some(3), "{verdict:?}");
    assert_eq!(verdict.explanation.as_ref().map(|told| &*told.observed), Some("!got_b(n: 102)"));
    let record = Record { events, is_cut: false };
    assert_eq!(record.trace(&spec, 0).expect("it fits"), failure.trace, "the record names the same step");
}

#[test]
fn a_failure_on_one_of_three_connections_is_repeated_and_shrunk_by_its_message() {
    let moves = "ask_c ask_a ask_b look look look ask_c look look";
    let (spec, _, outcome) = run_moves(RollFault::WrongNumber, moves, Duration::ZERO);
    let failure = &outcome.failures[0];
    assert_eq!((failure.reproduced, failure.of), (3, 3));
    let shrunk = failure.shrunk.as_ref().expect("it was made smaller");
    assert_eq!(line(&spec, &shrunk.trace), "?ask_b !got_b(n: 101)");
    assert_eq!((shrunk.reproduced, shrunk.of), (5, 5));
}

#[test]
fn a_message_is_blamed_whose_time_to_be_explained_ran_out_and_not_the_input_after_it() {
    // The number of c shows that b's is not held any longer, before it is judged itself.
    let moves = "ask_a ask_b look ask_c look look look";
    let (spec, _, outcome) = run_moves(RollFault::WrongNumber, moves, LONG);
    let (blamed, last) = ends(&spec, &outcome.failures[0].trace);
    assert_eq!((blamed.as_str(), last.as_str()), ("!got_b(n: 102)", "?ask_c"));
}

#[test]
fn silence_is_blamed_where_the_missing_message_would_have_explained_the_held_one() {
    let moves = "ask_b ask_a look look";
    let (spec, _, outcome) = run_moves(RollFault::NoAnswer, moves, Duration::ZERO);
    let failure = &outcome.failures[0];
    assert_eq!(ends(&spec, &failure.trace), ("δ".into(), "δ".into()));
    assert_eq!(line(&spec, &failure.trace), "?ask_b ?ask_a !got_a(n: 2) δ");
    assert_eq!(FailureSign::of_failing(&failure.trace), Some(FailureSign::Silence));
}

#[test]
fn a_record_of_a_message_whose_time_ran_out_is_judged_as_it_was() {
    let moves = "ask_a ask_b look ask_c look look look";
    let (spec, events, outcome) = run_moves(RollFault::WrongNumber, moves, LONG);
    let record = Record { events, is_cut: false };
    let (trace, ways) = record.trace_and_ways(&spec, 0).expect("it fits");
    let connection = |name: &str, client: &str| ioxide_record::event::ConnectionRecord {
        name: name.into(),
        messages: vec![format!("ask_{client}"), format!("got_{client}")],
        index: None,
    };
    let connections = vec![connection("first", "a"), connection("second", "b"), connection("third", "c")];
    let config = JudgeConfig { ways, connections, inputs: Inputs::Sent, ..JudgeConfig::default() };
    let judged =
        |trace: &Trace| crate::samples::with_cx(spec.clone(), |mut cx| judge(&mut cx, trace, &config));
    let told = judged(&trace);
    assert_eq!(told.forbidden_at, outcome.failures[0].trace.forbidden_at);
    assert_eq!(told.forbidden.map(|told| told.observed), Some("!got_b(n: 102)".into()));
    // Without the verdict of the record the message that explains it may have come later: that is no pass.
    let unjudged = judged(&Trace { forbidden_at: None, ..trace });
    assert!(unjudged.forbidden.is_none() && unjudged.unknown.is_some(), "{unjudged:?}");
}
