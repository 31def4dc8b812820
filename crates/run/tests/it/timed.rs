//! Whole campaigns in virtual time: random timed models against random systems that conform to them, and
//! against systems with one timing fault.
//!
//! A conforming system is the model played with choices of its own, the value unknown at start fixed, loose values
//! of outputs fixed or not: each of these only leaves out what the model leaves open. `IOXIDE_RUNS` sets how many runs
//! there are.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

#[path = "../../../testgen/tests/it/timed/enumerated.rs"]
mod enumerated;
#[path = "../../../testgen/tests/it/timed/oracle.rs"]
mod oracle;
#[path = "../../../testgen/tests/it/timed/random.rs"]
mod random;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ioxide_record::clock::{StoppedClock, duration, seconds};
use ioxide_record::event::{Event, EventKind};
use ioxide_record::reporter::EventSink;
use ioxide_run::campaign::{CampaignConfig, CampaignOutcome, OnFailure, campaign};
use ioxide_run::run::RunSetup;
use ioxide_wire::adapter::{Adapter, AdapterError, ArrivedOutput, Observation, SentInput, VirtualDelay};
use ioxide_wire::player::{InputFate, ModelPlayer};

use crate::common::{named, solver};
use enumerated::{Enumerated, all_messages};
use ioxide_model::concrete::ConcreteState;
use ioxide_model::goal::PathStep;
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, Model};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_test_support::test_count;
use ioxide_testgen::case::{CaseConfig, generate};
use ioxide_testgen::purpose::{Criterion, coverage};
use ioxide_testgen::tester::Tester;
use ioxide_testgen::tester::case::CaseGuided;
use ioxide_testgen::tester::cover::{CoverRounds, CoverTester, PurposeOrder};
use ioxide_testgen::tester::random::{RandomConfig, RandomTester};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Runs of one tester on one system.
const RUNS: u64 = 5;
const LIMITS: ExploreLimits = ExploreLimits { max_states: 200, max_depth: 12 };

fn n_runs() -> u64 {
    test_count("IOXIDE_RUNS", 250, 7_500)
}

fn text(seed: u64) -> String {
    let verbs: &[&str] = match seed % 4 {
        0 => &["on a", "on o", "emit y", "emit y", "emit z", "internal"],
        _ => &["on a", "on o", "emit y", "emit y", "emit z"],
    };
    random::text_with(&mut ChaCha8Rng::seed_from_u64(seed), verbs)
}

/// A system that conforms to the model in `text`.
fn conforming(text: &str, rng: &mut ChaCha8Rng) -> String {
    let mut system = text.replace("var u: D", &format!("var u: D = {}", rng.random_range(0..3)));
    if rng.random() {
        let fixed = |line: &str| {
            if line.contains("emit y") {
                line.replace("p >= u", "p == u").replace("p <= x", "p == x")
            } else {
                line.to_owned()
            }
        };
        system = system.lines().map(fixed).collect::<Vec<_>>().join("\n");
    }
    system
}

/// The testers that can test a timed model, and the model with the terms they need.
fn testers(spec: &mut Model, seed: u64) -> Vec<(&'static str, Box<dyn Tester>)> {
    let mut testers: Vec<(&'static str, Box<dyn Tester>)> = Vec::new();
    let config = RandomConfig { steps: 12, ..RandomConfig::default() };
    testers.push(("random", Box::new(RandomTester::new(config, seed))));
    let mut solver = solver();
    let path = random::path(&mut ChaCha8Rng::seed_from_u64(seed), spec);
    let mut cx = Ctx::new(spec, &mut solver);
    let set = coverage(&mut cx, Criterion::Switches, LIMITS, &mut |_| ControlFlow::Continue(()));
    testers.push(("cover", Box::new(CoverTester::new(&set, CoverRounds::Endless, PurposeOrder::default()))));
    // Not every path can be followed, and not every one is trace-deterministic.
    if let Some(path) = path
        && let Ok(case) = generate(&mut cx, &PathStep::taking(&path), &CaseConfig::default())
    {
        testers.push(("case", Box::new(CaseGuided::new(case, "case", Rational::ONE))));
    }
    testers
}

/// A played model that refuses an input it does not accept: one that ignored it would not conform where the
/// model accepts it in another state it may be in.
struct Strict<'m>(ModelPlayer<'m>);

impl Adapter for Strict<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(self.0.reset()?)
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        match self.0.input(input)? {
            InputFate::Accepted(_) => Ok(SentInput::default()),
            InputFate::Ignored => Err(AdapterError::Refused("not in this state".into())),
        }
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        Ok(None)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        let until = self.0.now() + seconds(patience);
        Ok(self.0.pass_until(&until)?.map(ArrivedOutput::from).into())
    }

    fn has_virtual_time(&self) -> bool {
        true
    }

    fn advance(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let message = self.0.pass_until(&seconds(until))?.map(Into::into);
        Ok(VirtualDelay { now: duration(self.0.now()), message })
    }
}

/// A campaign against the model `sut`, played.
fn tested(
    spec: &mut Model,
    sut: &Model,
    tester: &mut dyn Tester,
    config: &CampaignConfig,
) -> (Vec<Event>, CampaignOutcome) {
    let mut sut = sut.clone();
    let (mut spec_solver, mut sut_solver) = (solver(), solver());
    let player = ModelPlayer::new(Ctx::new(&mut sut, &mut sut_solver), config.seed).unwrap();
    let mut adapter = Strict(player);
    let mut cx = Ctx::new(spec, &mut spec_solver);
    let stop = AtomicBool::new(false);
    let mut events: Vec<Event> = Vec::new();
    let mut clock = StoppedClock;
    let sink = EventSink::new(&mut events, &mut clock);
    let mut bench = RunSetup { cx: &mut cx, adapter: &mut adapter, stop: &stop };
    let outcome = campaign(&mut bench, tester, config, &sink).unwrap();
    (events, outcome)
}

fn config(seed: u64, runs: u64) -> CampaignConfig {
    CampaignConfig {
        runs,
        seed,
        replays: 0,
        shrink: None,
        on_failure: OnFailure::Stop,
        ..CampaignConfig::default()
    }
}

#[test]
fn no_tester_blames_a_conforming_system() {
    let mut done: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let (mut seed, mut systems, mut total, mut refusals) = (0, 0, 0, 0);
    while total < n_runs() {
        seed += 1;
        let text = text(seed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for _ in 0..2 {
            let system = named("system.iox", &conforming(&text, &mut rng));
            systems += 1;
            let mut spec = named("random.iox", &text);
            for (name, mut tester) in testers(&mut spec, seed) {
                let (events, outcome) = tested(&mut spec, &system, &mut *tester, &config(seed, RUNS));
                assert_eq!(outcome.counts.failed, 0, "seed {seed}, {name}: {:#?}\n{text}", last(&events));
                let refused = |error: &AdapterError| matches!(error, AdapterError::Refused(_));
                assert!(
                    outcome.error.as_ref().is_none_or(refused),
                    "seed {seed}, {name}: {:?}",
                    outcome.error
                );
                refusals += outcome.counts.errors;
                let (runs, passed) = done.entry(name).or_default();
                (*runs, *passed) = (*runs + outcome.counts.total(), *passed + outcome.counts.passed);
                total += outcome.counts.total();
            }
        }
    }
    println!(
        "{total} runs against {systems} conforming systems of {seed} models, {refusals} ended by a refused input"
    );
    println!("(runs, passed) by tester: {done:?}");
    assert!(done.len() == 3 && done.values().all(|(runs, passed)| *passed > 0 && passed <= runs));
}

/// Returns the last events.
fn last(events: &[Event]) -> Vec<&EventKind> {
    events.iter().rev().take(16).map(|event| &event.event).rev().collect()
}

/// Pairs of beliefs and states looked at to see that a system is wrong.
const MAX_PAIRS: usize = 100;
/// Instants looked at, in tenths of a second.
const INSTANTS: [i64; 8] = [0, 5, 10, 15, 20, 25, 30, 35];

/// Returns whether `system` has a trace that `spec` does not have, by enumeration of the first pairs.
fn is_wrong(spec: &Model, system: &Model) -> bool {
    let first: Vec<ConcreteState> = Enumerated::new(system).entry.into_iter().collect();
    let mut seen: BTreeSet<(BTreeSet<ConcreteState>, ConcreteState)> = BTreeSet::new();
    let mut todo: VecDeque<_> = first.into_iter().map(|state| (Enumerated::new(spec).entry, state)).collect();
    while let Some((belief, state)) = todo.pop_front() {
        if seen.len() >= MAX_PAIRS || !seen.insert((belief.clone(), state.clone())) {
            continue;
        }
        let (mut here, mut there) = (Enumerated::new(spec), Enumerated::new(system));
        (here.entry, there.entry) = (belief, [state].into());
        for tenths in INSTANTS {
            let waits = there.may_wait(tenths);
            if waits && !here.may_wait(tenths) {
                return true;
            }
            for label in all_messages(spec) {
                let (allowed, possible) = (here.after(tenths, &label), there.after(tenths, &label));
                match label {
                    _ if possible.is_empty() => continue,
                    Label::Output(..) if allowed.is_empty() => return true,
                    _ if allowed.is_empty() => continue,
                    Label::Input(gate, _) if spec.sts.gates[gate].kind == GateKind::Input && !waits => {
                        continue;
                    }
                    _ => (),
                }
                todo.extend(possible.into_iter().map(|next| (allowed.clone(), next)));
            }
        }
    }
    false
}

#[test]
fn systems_with_timing_faults_are_found() {
    let models = n_runs() / 50;
    let (mut all_wrong, mut all_found) = (0, 0);
    for fault in random::FAULTS {
        let mut by: BTreeMap<&str, u64> = BTreeMap::new();
        let (mut wrong, mut found, mut unproven) = (0u64, 0u64, 0u64);
        for seed in 1..=models {
            let text = text(seed);
            let mut spec = named("random.iox", &text);
            let all: Vec<_> = spec.sts.switches.iter_enumerated().map(|(id, _)| id).collect();
            let Some(faulty) = random::with_fault(&text, fault, &spec, &all) else { continue };
            let faulty = named("faulty.iox", &faulty);
            if !is_wrong(&spec, &faulty) {
                unproven += 1;
                continue;
            }
            wrong += 1;
            let mut is_found = false;
            for (name, mut tester) in testers(&mut spec, seed) {
                let (_, outcome) = tested(&mut spec, &faulty, &mut *tester, &config(seed, 20));
                *by.entry(name).or_default() += outcome.counts.failed;
                is_found |= outcome.counts.failed > 0;
            }
            found += u64::from(is_found);
        }
        println!(
            "{fault:?}: {found} of {wrong} wrong systems found in 20 runs a tester, by tester {by:?}; \
             {unproven} not shown to be wrong"
        );
        // A system that hurries conforms unless it must wait; the other faults show.
        assert!(wrong > 0 || fault == random::Fault::Earlier, "{fault:?}");
        all_wrong += wrong;
        all_found += found;
    }
    assert!(all_found * 2 >= all_wrong, "{all_found} of {all_wrong}");
}
