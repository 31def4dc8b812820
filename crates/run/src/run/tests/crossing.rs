//! Soundness on two connections: messages of different connections overtake each other, in both directions.

use std::collections::{BTreeMap, VecDeque};

use ioxide_model::index::Idx;
use ioxide_model::sts::GateId;
use ioxide_record::clock::StoppedClock;
use ioxide_symex::{ConnectionWiring, Crossing, MessageRoute};
use ioxide_test_support::test_count;
use ioxide_wire::adapter::model::ModelAdapter;
use ioxide_wire::adapter::{ArrivedOutput, InputReceipt, SentInput};

use super::*;

const CONNECTIONS: usize = 2;

/// The connection of a message.
fn connection(label: &Label) -> usize {
    match label {
        Label::Input(gate, _) | Label::Output(gate, _) => gate.index() % CONNECTIONS,
        Label::Quiescence | Label::Delay(_) => unreachable!("no message"),
    }
}

/// A played model at the other end of two connections, each with a queue for every direction.
struct Crossed<'m> {
    inner: ModelAdapter<'m>,
    wiring: Arc<ConnectionWiring>,
    to_system: [VecDeque<Label>; CONNECTIONS],
    to_tester: [VecDeque<Label>; CONNECTIONS],
    /// A short wait may end while something is under way.
    is_hasty: bool,
    rng: ChaCha8Rng,
}

impl Crossed<'_> {
    fn say(&mut self) -> Result<bool, AdapterError> {
        let Observation::Output(output) = self.inner.observe(Duration::ZERO)? else { return Ok(false) };
        let label = output.label;
        self.to_tester[connection(&label)].push_back(label);
        Ok(true)
    }

    fn take(&mut self) -> Result<bool, AdapterError> {
        let first = self.rng.random_range(0..CONNECTIONS);
        let input = (0..CONNECTIONS).find_map(|n| self.to_system[(first + n) % CONNECTIONS].pop_front());
        input.map_or(Ok(false), |input| self.inner.send(&input).map(|_| true))
    }

    /// Something moves: an input arrives, or the system says something.
    fn go_on(&mut self) -> Result<(), AdapterError> {
        match self.rng.random_range(0..4u32) {
            0 | 1 => self.take().map(drop),
            2 => self.say().map(drop),
            _ => Ok(()),
        }
    }

    /// Everything arrives, and the system says some of what it has to say.
    fn settle(&mut self) -> Result<(), AdapterError> {
        while self.take()? {
            while self.rng.random_ratio(1, 2) && self.say()? {}
        }
        while self.to_tester.iter().all(VecDeque::is_empty) && self.say()? {}
        while self.rng.random_ratio(1, 2) && self.say()? {}
        Ok(())
    }

    fn hear(&mut self) -> Option<ArrivedOutput> {
        let first = self.rng.random_range(0..CONNECTIONS);
        let some = |at: &usize| !self.to_tester[*at].is_empty();
        let last = (0..CONNECTIONS).map(|n| (first + n) % CONNECTIONS).find(some)?;
        let at = last as u32;
        let crossing = Crossing { connection: at, lane: at, is_answer: false, others: 0, is_end: false };
        let label = self.to_tester[last].pop_front()?;
        Some(ArrivedOutput { way: Arrival::Crossing(crossing), ..label.into() })
    }
}

impl Adapter for Crossed<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        (self.to_system, self.to_tester) = Default::default();
        self.inner.reset()
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let at = connection(input);
        self.to_system[at].push_back(input.clone());
        self.go_on()?;
        Ok(SentInput { lane: at as u32, ..SentInput::default() })
    }

    fn receipt(&self) -> InputReceipt {
        InputReceipt::Written
    }

    fn wiring(&self) -> Option<Arc<ConnectionWiring>> {
        Some(Arc::clone(&self.wiring))
    }

    fn is_synchronous(&self) -> bool {
        !self.is_hasty
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        self.go_on()?;
        Ok(if self.rng.random_ratio(1, 3) { self.hear() } else { None })
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        for _ in 0..self.rng.random_range(0..4u32) {
            self.go_on()?;
        }
        let is_short = patience <= RunConfig::default().patience.default_time();
        if self.to_tester.iter().all(VecDeque::is_empty) {
            if self.is_hasty && is_short && self.rng.random_ratio(1, 3) {
                return Ok(Observation::Quiet);
            }
            self.settle()?;
        }
        Ok(self.hear().into())
    }
}

/// Some runs of `tester` against `sut` on two connections; the traces that fail.
fn failures(spec: &Model, sut: &Model, tester: &mut dyn Tester, seed: u64) -> (u64, Vec<Trace>) {
    let (mut spec_own, mut sut_own) = (spec.clone(), sut.clone());
    let (mut a, mut b) = (ioxide_smt::brute::BruteSolver::new(), ioxide_smt::brute::BruteSolver::new());
    let mut cx = Ctx::new(&mut spec_own, &mut a);
    let inner = ModelAdapter::new(spec, Ctx::new(&mut sut_own, &mut b), seed).unwrap();
    let of = |gate: GateId| MessageRoute::One((gate.index() % CONNECTIONS) as u32);
    let wiring = Arc::new(ConnectionWiring::new(&spec.pool, &spec.sts, CONNECTIONS as u32, of));
    let (to_system, to_tester) = Default::default();
    let (rng, is_hasty) = (ChaCha8Rng::seed_from_u64(seed), seed % 2 == 1);
    let mut adapter = Crossed { inner, wiring, to_system, to_tester, is_hasty, rng };
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let (mut failed, mut runs) = (Vec::new(), 0);
    while runs < 10 && !tester.is_done() {
        let (mut silent, mut clock) = (SilentReporter, StoppedClock);
        let sink = EventSink::new(&mut silent, &mut clock);
        let mut coverage = Coverage::new(&spec.sts);
        let id = RunId { run: runs, seed: seed.wrapping_add(runs) };
        // However slow this machine is, a silence can be taken back.
        let config = RunConfig { confirm: 100_000, ..RunConfig::default() };
        let finished = run(&mut bench, tester, &config, id, &mut coverage, &sink).unwrap();
        match finished.end {
            RunEnd::Verdict(Verdict::Fail, _) => failed.push(finished.trace),
            RunEnd::Verdict(..) => (),
            other => panic!("seed {seed}: {other:?}"),
        }
        runs += 1;
    }
    (runs, failed)
}

/// The progress within a stretch without silence, by connection: the number of inputs and of outputs that have
/// happened, and whether a message was sent that was not seen.
type Done = ([usize; CONNECTIONS], [usize; CONNECTIONS], [bool; CONNECTIONS]);

/// A stretch without silence.
#[derive(Default)]
struct Stretch {
    /// The inputs, each with the number of outputs of every connection that were seen before it was given.
    inputs: [Vec<(Label, [usize; CONNECTIONS])>; CONNECTIONS],
    outputs: [Vec<Label>; CONNECTIONS],
}

impl Stretch {
    fn of(labels: &[Label]) -> Self {
        let mut stretch = Self::default();
        for label in labels {
            let at = connection(label);
            match label {
                Label::Input(..) => {
                    let seen = [0, 1].map(|at: usize| stretch.outputs[at].len());
                    stretch.inputs[at].push((label.clone(), seen));
                }
                _ => stretch.outputs[at].push(label.clone()),
            }
        }
        stretch
    }

    /// Returns the labels that may happen next, each with the progress after it.
    fn next(&self, model: &Model, done: Done, may_owe: bool) -> Vec<(Label, Done)> {
        let mut next = Vec::new();
        for at in 0..CONNECTIONS {
            if let Some((label, seen)) = self.inputs[at].get(done.0[at])
                && (0..CONNECTIONS).all(|other| seen[other] <= done.1[other])
            {
                let mut then = done;
                then.0[at] += 1;
                next.push((label.clone(), then));
            }
            if let (Some(label), false) = (self.outputs[at].get(done.1[at]), done.2[at]) {
                let mut then = done;
                then.1[at] += 1;
                next.push((label.clone(), then));
            }
            // After the first message that was not seen come only others.
            if may_owe && done.1[at] == self.outputs[at].len() {
                let mut then = done;
                then.2[at] = true;
                let owed = all_labels(model).into_iter();
                let owed = owed.filter(|label| matches!(label, Label::Output(..)) && connection(label) == at);
                next.extend(owed.map(|label| (label, then)));
            }
        }
        next
    }

    /// The states after all orders in which it can have happened; at the end of a trace messages may be under way.
    fn after(
        &self,
        model: &Model,
        start: &BTreeSet<ConcreteState>,
        is_last: bool,
    ) -> BTreeSet<ConcreteState> {
        let mut reached: BTreeMap<Done, BTreeSet<ConcreteState>> = BTreeMap::new();
        let mut todo = vec![(Done::default(), start.clone())];
        while let Some((done, states)) = todo.pop() {
            let known = reached.entry(done).or_default();
            if states.is_subset(known) {
                continue;
            }
            known.extend(states.iter().cloned());
            for (label, then) in self.next(model, done, is_last) {
                todo.push((then, step(model, &states, &label)));
            }
        }
        let is_over = |done: &Done| {
            (0..CONNECTIONS).all(|at| {
                done.1[at] == self.outputs[at].len() && (is_last || done.0[at] == self.inputs[at].len())
            })
        };
        reached.into_iter().filter(|(done, _)| is_over(done)).flat_map(|(_, states)| states).collect()
    }
}

/// Returns whether `model` has the trace `trace` in some order that two connections allow.
fn explains(model: &Model, trace: &Trace) -> bool {
    let mut states = closed(model, [initial_state(&model.pool, &model.sts).unwrap()]);
    let stretches: Vec<&[Label]> = trace.labels.split(|label| *label == Label::Quiescence).collect();
    for (n, labels) in stretches.iter().enumerate() {
        let is_last = n + 1 == stretches.len();
        states = Stretch::of(labels).after(model, &states, is_last);
        if !is_last {
            states = step(model, &states, &Label::Quiescence);
        }
    }
    !states.is_empty()
}

#[test]
fn no_tester_fails_a_system_that_conforms_and_sits_behind_two_connections() {
    let wanted = test_count("IOXIDE_RUNS", 40, 4_000);
    let (mut runs, mut right, mut wrong, mut found) = (0, 0u64, 0u64, 0u64);
    let (mut late, mut hopeless) = (0u64, 0u64);
    for seed in 5_000.. {
        let recipe = Recipe::random(seed);
        let sut = [recipe.clone(), recipe.mutated(seed), recipe.mutated(seed).mutated(seed + 1)];
        let (spec, sut) = (model(&recipe.text()), model(&sut[seed as usize % 3].text()));
        let is_right = conforms(&sut, &spec);
        let (mut tester, spec) = any_tester(&spec, seed);
        let (n, failed) = failures(&spec, &sut, &mut *tester, seed);
        for trace in &failed {
            assert!(!is_right, "seed {seed}: a conforming system failed: {trace:?}");
            assert!(!explains(&spec, trace), "seed {seed}: some order is allowed: {trace:?}");
            let at = trace.forbidden_at.expect("a label is to blame");
            let up_to = |n: usize| trace.labels[..n].iter().cloned().collect::<Trace>();
            assert!(explains(&spec, &up_to(at)), "seed {seed}: an earlier label is to blame: {trace:?}");
            let is_late = at + 1 < trace.len();
            late += u64::from(is_late);
            hopeless += u64::from(is_late && !explains(&spec, &up_to(at + 1)));
        }
        runs += n;
        right += u64::from(is_right);
        wrong += u64::from(!is_right);
        found += u64::from(!failed.is_empty());
        if runs >= wanted {
            break;
        }
    }
    println!(
        "{runs} runs, {right} conforming systems, {found} of {wrong} wrong ones found on two connections; an earlier \
         label than the last is to blame {late} times, {hopeless} times whatever comes after it"
    );
    assert!(8 * right > wrong && 8 * wrong > right, "{right} {wrong}");
    assert!(8 * found > wrong, "{found} of {wrong} wrong systems were found");
}

/// Alice is told that bob was told, before or after he hears it.
const BOARD: &str = "model Board { input POST output POSTED output NOTE output closed_bob input LEAVE
    state idle { on POST -> noting  on LEAVE -> leaving } state noting { emit NOTE -> posted }
    state posted { emit POSTED -> idle } state leaving { emit closed_bob -> alone }
    state alone { on LEAVE -> strange  on POST -> unread } state unread { emit POSTED -> alone }
    state strange { emit NOTE -> alone } }";

/// Returns which events on the two connections are allowed: `?` is given, `!` is seen, `~` is the end of a connection,
/// `d` silence; with `mark`, also whether expiring it is.
fn allowed_events(events: &[&str], mark: Option<u64>) -> Vec<bool> {
    let model = model(BOARD);
    crate::samples::with_cx(model.clone(), |mut cx| {
        let is_bob = |gate: GateId| matches!(&*model.sts.gates[gate].name, "NOTE" | "LEAVE" | "closed_bob");
        let of = |gate: GateId| MessageRoute::One(u32::from(is_bob(gate)));
        let wiring = Arc::new(ConnectionWiring::new(&model.pool, &model.sts, 2, of));
        let mut monitor = Monitor::new(&mut cx).with_wiring(Some(Arc::clone(&wiring)));
        let mut allowed = Vec::new();
        for event in events {
            let (sign, name) = event.split_at(1);
            let message = || {
                let gate = model.sts.gate_named(name).expect("the model has it");
                let label = Label::message(&model.sts, gate, Vec::new()).expect("a message");
                let at = wiring.connection_of_label(&label).expect("it has a connection");
                (label, at)
            };
            allowed.push(match sign {
                "d" => monitor.observe(&mut cx, &Label::Quiescence).is_ok(),
                "?" => {
                    let (label, at) = message();
                    monitor.record_sent(&mut cx, &label, at);
                    true
                }
                _ => {
                    let (label, at) = message();
                    let crossing = Crossing {
                        connection: at,
                        lane: at,
                        is_answer: false,
                        others: 0,
                        is_end: sign == "~",
                    };
                    monitor.observe_arrival(&mut cx, &label, Arrival::Crossing(crossing)).is_ok()
                }
            });
        }
        if let Some(mark) = mark {
            allowed.push(monitor.expire_held(&mut cx, mark).is_ok());
        }
        allowed
    })
}

#[test]
fn a_message_is_held_until_another_connection_explains_it_or_all_is_silent() {
    assert_eq!(allowed_events(&["?POST", "!POSTED", "!NOTE", "d"], None), [true; 4]);
    assert_eq!(allowed_events(&["?POST", "!POSTED", "d"], None), [true, true, false]);
    // Nothing else can come first: it is wrong at once.
    assert_eq!(allowed_events(&["?POST", "!NOTE", "!POSTED", "!POSTED"], None), [true, true, true, false]);
}

#[test]
fn what_came_long_ago_is_not_held_any_longer() {
    assert_eq!(allowed_events(&["?POST", "!POSTED"], Some(2)), [true, true, false]);
    assert_eq!(allowed_events(&["?POST", "!POSTED"], Some(1)), [true, true, true]);
    assert_eq!(allowed_events(&["?POST", "!POSTED", "!NOTE"], Some(3)), [true; 4]);
}

#[test]
fn an_input_on_a_connection_that_was_closed_may_be_lost_and_others_may_not() {
    // The second one was taken, and something must come; or it was never read.
    assert_eq!(allowed_events(&["?LEAVE", "?LEAVE", "~closed_bob", "d"], None), [true; 4]);
    assert_eq!(allowed_events(&["?LEAVE", "~closed_bob", "?POST", "d"], None), [true, true, true, false]);
}
