//! Soundness, held against a second opinion: explicit sets of states, every value enumerated.

mod blame;
mod crossing;
mod latency;
mod slow;
mod waits;

use std::collections::BTreeSet;

use ioxide_model::concrete::{ConcreteState, initial_state, successors, tau_closure};
use ioxide_model::sts::{GateKind, Model};
use ioxide_model::value::Value;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_record::reporter::SilentReporter;
use ioxide_test_support::test_count;
use ioxide_testgen::tester::cover::CoverRounds;
use ioxide_wire::adapter::{ArrivedOutput, Observation};

use super::*;
use crate::campaign::CampaignConfig;
use crate::samples::{cover, model, test, test_by, test_into, tour};

#[test]
fn input_enabled_models_never_fail_against_themselves() {
    for seed in 0..120 {
        let model = model(&Recipe::random(seed).text());
        let config = CampaignConfig { runs: 4, seed, ..CampaignConfig::default() };
        let (_, outcome) = test(&model, &model, 40, &config);
        assert_eq!(outcome.counts.failed, 0, "{}\n{:?}", Recipe::random(seed).text(), outcome.failures);
        assert_eq!(outcome.counts.errors, 0, "{:?}", outcome.error);
    }
}

/// Complete in the limit: the budget is far above what the rarest of these needs.
#[test]
fn mutants_fail_if_and_only_if_they_are_wrong() {
    let (mut found, mut wrong) = (0, 0);
    let n_models = test_count("IOXIDE_MODELS", 50, 150);
    for seed in 0..n_models {
        let recipe = Recipe::random(seed);
        let (spec, sut) = (model(&recipe.text()), model(&recipe.mutated(seed).text()));
        let config = CampaignConfig { runs: 6, seed, ..CampaignConfig::default() };
        let is_wrong = !conforms(&sut, &spec);
        let config = CampaignConfig { runs: if is_wrong { 20_000 } else { 6 }, ..config };
        let outcome = test_into(&spec, &sut, 20, &config, &mut SilentReporter).unwrap();
        assert!(is_wrong || outcome.failures.is_empty(), "a conforming system failed");
        wrong += u64::from(is_wrong);
        for failure in &outcome.failures {
            let shrunk = failure.shrunk.iter().map(|shrunk| &shrunk.trace);
            for trace in [&failure.trace].into_iter().chain(shrunk) {
                assert!(allows(&sut, trace), "not a trace of the system: {trace:?}");
                assert!(!allows(&spec, trace), "the specification allows it: {trace:?}");
                let before = trace.labels[..trace.len() - 1].iter().cloned().collect();
                assert!(allows(&spec, &before), "it failed too late: {trace:?}");
            }
            found += 1;
        }
    }
    assert!(5 * wrong > n_models, "only {wrong} mutants are wrong");
    assert_eq!(found, wrong, "a wrong mutant was never found");
}

#[test]
fn purposes_never_fail_a_system_that_conforms() {
    let (mut conforming, mut passed, mut missed, mut found, mut wrong) = (0, 0, 0, 0, 0);
    let n_models = test_count("IOXIDE_MODELS", 50, 150);
    for seed in 0..n_models {
        let recipe = Recipe::random(seed);
        let spec = model(&recipe.text());
        let (mut tester, spec) = cover(&spec, CoverRounds::Bounded(4));
        for sut in [recipe.clone(), recipe.mutated(seed)] {
            let sut = model(&sut.text());
            let is_right = conforms(&sut, &spec);
            let config = CampaignConfig { runs: 200, seed, ..CampaignConfig::default() };
            let outcome = test_by(&spec, &sut, &mut tester, &config, &mut SilentReporter).unwrap();
            assert_eq!(outcome.counts.errors, 0, "{:?}", outcome.error);
            assert!(!is_right || outcome.failures.is_empty(), "a conforming system failed");
            for failure in &outcome.failures {
                assert!(allows(&sut, &failure.trace) && !allows(&spec, &failure.trace));
            }
            conforming += u64::from(is_right);
            wrong += usize::from(!is_right);
            found += outcome.failures.len();
            passed += outcome.counts.passed;
            missed += outcome.counts.inconclusive;
            tester = cover(&spec, CoverRounds::Bounded(4)).0;
        }
    }
    assert!(
        conforming > n_models && passed > 3 * n_models && 3 * missed > n_models,
        "{conforming} {passed} {missed}"
    );
    assert!(2 * found > wrong, "purposes find {found} of {wrong} wrong systems");
}

/// Every tester against random systems, right and wrong: no failure of a right one, and every failure is
/// a trace of the system that the specification forbids with its last label and not before.
#[test]
fn no_tester_fails_a_system_that_conforms() {
    let wanted = test_count("IOXIDE_RUNS", 800, 20_000);
    let (mut runs, mut right, mut wrong, mut found) = (0, 0, 0, 0);
    for seed in 1_000.. {
        let recipe = Recipe::random(seed);
        let sut = [recipe.clone(), recipe.mutated(seed), recipe.mutated(seed).mutated(seed + 1)];
        let (spec, sut) = (model(&recipe.text()), model(&sut[seed as usize % 3].text()));
        let is_right = conforms(&sut, &spec);
        let (mut tester, spec) = any_tester(&spec, seed);
        let config = CampaignConfig { runs: 10, seed, replays: 0, shrink: None, ..CampaignConfig::default() };
        let outcome = test_by(&spec, &sut, &mut *tester, &config, &mut SilentReporter).unwrap();
        assert_eq!(outcome.counts.errors, 0, "{:?}", outcome.error);
        for failure in &outcome.failures {
            assert!(!is_right, "seed {seed}: a conforming system failed");
            let before = failure.trace.labels[..failure.trace.len() - 1].iter().cloned().collect();
            assert!(allows(&sut, &failure.trace) && !allows(&spec, &failure.trace) && allows(&spec, &before));
        }
        runs += outcome.counts.total();
        right += u64::from(is_right);
        wrong += u64::from(!is_right);
        found += u64::from(!outcome.failures.is_empty());
        if runs >= wanted {
            break;
        }
    }
    println!("{runs} runs, {right} conforming systems, {found} of {wrong} wrong ones found");
    assert!(8 * right > wrong && 8 * wrong > right, "{right} {wrong}");
    assert!(2 * found > wrong, "{found} of {wrong} wrong systems were found");
}

/// One of the testers, and `spec` with the terms it needs.
fn any_tester(spec: &Model, seed: u64) -> (Box<dyn Tester>, Model) {
    use ioxide_testgen::tester::random::{Interaction, RandomConfig, RandomTester};
    let random = |interaction| Box::new(RandomTester::new(RandomConfig { steps: 25, interaction }, seed));
    match seed / 3 % 4 {
        0 => (random(Interaction::Fair), spec.clone()),
        1 => (random(Interaction::InputEager), spec.clone()),
        2 => {
            let (tester, spec) = cover(spec, CoverRounds::Endless);
            (Box::new(tester), spec)
        }
        _ => {
            let (tester, spec) = tour(spec, CoverRounds::Endless);
            (Box::new(tester), spec)
        }
    }
}

/// Returns whether every output and silence of `sut` is allowed by `spec`, after every trace of `spec`.
///
/// Explicit sets of states, followed side by side through every label there is.
fn conforms(sut: &Model, spec: &Model) -> bool {
    let start = |model: &Model| closed(model, [initial_state(&model.pool, &model.sts).unwrap()]);
    let mut todo = vec![(start(sut), start(spec))];
    let mut seen: BTreeSet<_> = todo.iter().cloned().collect();
    while let Some((sut_states, spec_states)) = todo.pop() {
        for label in all_labels(spec) {
            let next = (step(sut, &sut_states, &label), step(spec, &spec_states, &label));
            match (next.0.is_empty(), next.1.is_empty()) {
                (true, _) => (),
                (false, true) if matches!(label, Label::Input(..)) => (),
                (false, true) => return false,
                (false, false) => {
                    if seen.insert(next.clone()) {
                        todo.push(next);
                    }
                }
            }
        }
    }
    true
}

/// Every label of the small models here: fields range over 0..2.
fn all_labels(model: &Model) -> Vec<Label> {
    let gates = model.sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind != GateKind::Internal);
    let values = |n_fields: usize| match n_fields {
        0 => vec![vec![]],
        _ => (0..=2).map(|n| vec![Value::int(n)]).collect(),
    };
    let messages = gates.flat_map(|(id, gate)| {
        values(gate.fields.len()).into_iter().filter_map(move |values| Label::message(&model.sts, id, values))
    });
    messages.chain([Label::Quiescence]).collect()
}

/// The states after `label`.
fn step(model: &Model, states: &BTreeSet<ConcreteState>, label: &Label) -> BTreeSet<ConcreteState> {
    let next: Vec<ConcreteState> = match label {
        Label::Quiescence => states.iter().filter(|state| is_quiet(model, state)).cloned().collect(),
        _ => states.iter().flat_map(|state| after(model, state, label)).collect(),
    };
    closed(model, next)
}

/// Returns whether `model`, which accepts every input, has the trace `trace`.
fn allows(model: &Model, trace: &Trace) -> bool {
    let mut states = closed(model, [initial_state(&model.pool, &model.sts).unwrap()]);
    for label in &trace.labels {
        states = step(model, &states, label);
    }
    !states.is_empty()
}

fn closed(model: &Model, states: impl IntoIterator<Item = ConcreteState>) -> BTreeSet<ConcreteState> {
    tau_closure(&model.pool, &model.sts, states, 1000).unwrap().states
}

fn after(model: &Model, state: &ConcreteState, label: &Label) -> Vec<ConcreteState> {
    let all = successors(&model.pool, &model.sts, state, label).unwrap();
    all.into_iter().map(|successor| successor.state).collect()
}

/// No internal step, and no output whatever its value.
fn is_quiet(model: &Model, state: &ConcreteState) -> bool {
    let has_internal = closed(model, [state.clone()]).len() > 1;
    let mut outputs = all_labels(model).into_iter().filter(|label| matches!(label, Label::Output(..)));
    !has_internal && outputs.all(|label| after(model, state, &label).is_empty())
}

/// A small model that accepts every input everywhere; internal steps only go forward.
#[derive(Clone)]
struct Recipe {
    states: Vec<Vec<Line>>,
}

#[derive(Clone)]
struct Line {
    verb: &'static str,
    guard: String,
    update: &'static str,
    target: usize,
}

const UPDATES: [&str; 4] = ["", "{ v = 0 }", "{ v = 1 }", "{ v = 2 - v }"];

impl Recipe {
    fn random(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let n = rng.random_range(2..5usize);
        let states = (0..n).map(|i| lines(&mut rng, i, n)).collect();
        Self { states }
    }

    /// One line changed: another target, update or bound, or an output left out.
    fn mutated(&self, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ 0x5eed);
        let mut mutant = self.clone();
        let n = mutant.states.len();
        let state = rng.random_range(0..n);
        let at = rng.random_range(0..mutant.states[state].len());
        let is_input = mutant.states[state][at].verb.starts_with("on");
        match rng.random_range(0..3u32) {
            0 if mutant.states[state][at].verb != "internal" => {
                mutant.states[state][at].target = rng.random_range(0..n);
            }
            1 if !is_input => drop(mutant.states[state].remove(at)),
            _ => mutant.states[state][at].update = UPDATES[rng.random_range(0..4usize)],
        }
        mutant
    }

    fn text(&self) -> String {
        let mut text =
            String::from("model M { input a(x: 0..2) input b output p(y: 0..2) output q var v: 0..2 = 0\n");
        for (i, lines) in self.states.iter().enumerate() {
            text += &format!("state s{i} {{\n");
            for Line { verb, guard, update, target } in lines {
                text += &format!("  {verb} {guard} {update} -> s{target}\n");
            }
            text += "}\n";
        }
        text + "}"
    }
}

fn lines(rng: &mut ChaCha8Rng, i: usize, n: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |rng: &mut ChaCha8Rng, verb, guard: String, target| {
        lines.push(Line { verb, guard, update: UPDATES[rng.random_range(0..4usize)], target });
    };
    for verb in ["on a", "on b"] {
        let bound = rng.random_range(0..3);
        for relation in ["<=", ">"] {
            let target = rng.random_range(0..n);
            add(rng, verb, format!("when v {relation} {bound}"), target);
        }
        if rng.random_ratio(1, 3) {
            let target = rng.random_range(0..n);
            add(rng, verb, String::new(), target);
        }
    }
    for (verb, guards) in [
        ("emit p(y: v)", ["", "when v > 0"]),
        ("emit p", ["when y <= v", "when y != v"]),
        ("emit q", ["", "when v < 2"]),
    ] {
        if rng.random_ratio(1, 3) {
            let (guard, target) = (guards[rng.random_range(0..2usize)], rng.random_range(0..n));
            add(rng, verb, guard.to_owned(), target);
        }
    }
    if i + 1 < n && rng.random_ratio(1, 3) {
        let (target, value) = (rng.random_range(i + 1..n), rng.random_range(0..3));
        add(rng, "internal", format!("when v == {value}"), target);
    }
    lines
}

#[test]
fn a_run_that_is_stopped_tells_so_and_has_no_verdict() {
    use ioxide_record::clock::StoppedClock;
    use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
    use ioxide_wire::adapter::model::ModelAdapter;
    let spec = model(crate::samples::VENDING);
    let (mut spec_own, mut sut_own) = (spec.clone(), spec.clone());
    let (mut a, mut b) = (ioxide_smt::brute::BruteSolver::new(), ioxide_smt::brute::BruteSolver::new());
    let mut cx = Ctx::new(&mut spec_own, &mut a);
    let mut adapter = ModelAdapter::new(&spec, Ctx::new(&mut sut_own, &mut b), 1).unwrap();
    let stop = AtomicBool::new(true);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&spec.sts);
    let (mut events, mut clock): (Vec<ioxide_record::event::Event>, _) = (Vec::new(), StoppedClock);
    let sink = EventSink::new(&mut events, &mut clock);
    let mut tester = RandomTester::new(RandomConfig::default(), 1);
    let config = RunConfig::default();
    let finished = run(&mut bench, &mut tester, &config, RunId::default(), &mut coverage, &sink).unwrap();
    assert!(matches!(finished.end, RunEnd::Interrupted));
    assert_eq!(events.len(), 2);
}

/// A system that answers before it confirms an input, and may break at an input.
struct Hasty<'m> {
    inner: ioxide_wire::adapter::model::ModelAdapter<'m>,
    inputs_left: usize,
}

impl Adapter for Hasty<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.inner.reset()
    }

    fn send(&mut self, input: &Label) -> Result<ioxide_wire::adapter::SentInput, AdapterError> {
        if self.inputs_left == 0 {
            return Err(AdapterError::Ended { status: "signal 11".into() });
        }
        self.inputs_left -= 1;
        self.inner.send(input)?;
        let earlier = match self.inner.observe(Duration::ZERO)? {
            Observation::Output(output) => vec![output],
            Observation::Quiet => Vec::new(),
        };
        Ok(ioxide_wire::adapter::SentInput { earlier, ..ioxide_wire::adapter::SentInput::default() })
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        self.inner.poll()
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        self.inner.observe(patience)
    }
}

/// One run of a random tester against `spec` played hastily.
fn hasty_run(spec: &Model, seed: u64, inputs: usize) -> RunResult {
    use ioxide_record::clock::StoppedClock;
    use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
    use ioxide_wire::adapter::model::ModelAdapter;
    let (mut spec_own, mut sut_own) = (spec.clone(), spec.clone());
    let (mut a, mut b) = (ioxide_smt::brute::BruteSolver::new(), ioxide_smt::brute::BruteSolver::new());
    let mut cx = Ctx::new(&mut spec_own, &mut a);
    let inner = ModelAdapter::new(spec, Ctx::new(&mut sut_own, &mut b), seed).unwrap();
    let mut adapter = Hasty { inner, inputs_left: inputs };
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&spec.sts);
    let (mut silent, mut clock) = (SilentReporter, StoppedClock);
    let sink = EventSink::new(&mut silent, &mut clock);
    let mut tester = RandomTester::new(RandomConfig { steps: 40, ..RandomConfig::default() }, seed);
    let id = RunId { run: 0, seed };
    run(&mut bench, &mut tester, &RunConfig::default(), id, &mut coverage, &sink).unwrap()
}

#[test]
fn an_answer_that_overtakes_the_receipt_of_its_input_is_no_failure() {
    for seed in 0..60 {
        let spec = model(&Recipe::random(seed).text());
        let finished = hasty_run(&spec, seed, usize::MAX);
        let RunEnd::Verdict(verdict, reason) = &finished.end else { panic!("{:?}", finished.end) };
        assert_ne!(*verdict, Verdict::Fail, "seed {seed}: {reason}");
    }
}

#[test]
fn the_input_that_breaks_the_system_is_part_of_the_trace() {
    let spec = model(crate::samples::VENDING);
    let finished = hasty_run(&spec, 1, 2);
    assert!(matches!(finished.end, RunEnd::Verdict(Verdict::Fail, _)));
    assert_eq!(finished.trace.breakdown, Some(ioxide_model::trace::Breakdown::Ended));
    let signature = finished.signature.unwrap_or_default();
    assert!(signature.starts_with("crash (ended) after ?coin in paid_up"), "{signature}");
    let inputs = finished.trace.labels.iter().filter(|label| matches!(label, Label::Input(..))).count();
    assert_eq!(inputs, 3);
}

/// A system whose bytes are known.
struct Wired<'m>(ioxide_wire::adapter::model::ModelAdapter<'m>);

impl Adapter for Wired<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.0.reset()
    }

    fn send(&mut self, input: &Label) -> Result<ioxide_wire::adapter::SentInput, AdapterError> {
        let raw = Some("sent\r\n".into());
        Ok(ioxide_wire::adapter::SentInput { raw, ..self.0.send(input)? })
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        self.0.poll()
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        let raw = Some("seen\r\n".into());
        Ok(match self.0.observe(patience)? {
            Observation::Output(output) => Observation::Output(ArrivedOutput { raw, ..output }),
            Observation::Quiet => Observation::Quiet,
        })
    }
}

#[test]
fn messages_are_told_as_they_were_on_the_wire_and_silence_has_no_bytes() {
    use ioxide_record::clock::StoppedClock;
    use ioxide_record::event::LabelKind;
    use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
    use ioxide_wire::adapter::model::ModelAdapter;
    let spec = model(crate::samples::VENDING);
    let (mut spec_own, mut sut_own) = (spec.clone(), spec.clone());
    let (mut a, mut b) = (ioxide_smt::brute::BruteSolver::new(), ioxide_smt::brute::BruteSolver::new());
    let mut cx = Ctx::new(&mut spec_own, &mut a);
    let mut adapter = Wired(ModelAdapter::new(&spec, Ctx::new(&mut sut_own, &mut b), 1).unwrap());
    let stop = AtomicBool::new(false);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let mut coverage = Coverage::new(&spec.sts);
    let (mut events, mut clock): (Vec<ioxide_record::event::Event>, _) = (Vec::new(), StoppedClock);
    let sink = EventSink::new(&mut events, &mut clock);
    let mut tester = RandomTester::new(RandomConfig { steps: 30, ..RandomConfig::default() }, 1);
    run(&mut bench, &mut tester, &RunConfig::default(), RunId::default(), &mut coverage, &sink).unwrap();
    let mut seen = BTreeSet::new();
    for event in &events {
        if let EventKind::Stimulus(step) | EventKind::Observation(step) = &event.event {
            let expected = match step.label.kind {
                LabelKind::Input => Some("sent\r\n"),
                LabelKind::Output | LabelKind::Observed => Some("seen\r\n"),
                _ => None,
            };
            assert_eq!(step.label.raw.as_deref(), expected);
            seen.insert(expected);
        }
    }
    assert_eq!(seen.len(), 3, "every kind was met");
}

#[test]
fn a_run_has_no_more_labels_than_its_limit() {
    for seed in 0..60 {
        let model = model(&Recipe::random(seed).text());
        for steps in [1, 2, 5, 13] {
            let config = CampaignConfig { runs: 2, seed, ..CampaignConfig::default() };
            let (events, outcome) = test(&model, &model, steps, &config);
            assert!(outcome.steps <= 2 * steps as u64, "seed {seed}: {} steps of 2 x {steps}", outcome.steps);
            assert!(outcome.counts.passed > 0, "seed {seed}: {events:?}");
        }
    }
}
