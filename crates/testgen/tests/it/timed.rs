//! Cases of random small timed models against enumeration in discrete time, and on conforming runs.
//!
//! Guards compare clocks with whole numbers, not strictly, and everything happens at multiples of half a
//! second: then whatever can happen at some real instant can happen at such a multiple, and enumeration is
//! exact. Data and the value unknown at start have three values each. `IOXIDE_CASES` sets how many models.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

pub mod enumerated;
pub mod oracle;
pub mod random;

use crate::common::{named, seconds, solver};
use ioxide_model::goal::PathStep;
use ioxide_model::sts::{GateKind, Model, SwitchId};
use ioxide_symex::{Ctx, SymState, take_step};
use ioxide_test_support::test_count;
use ioxide_testgen::case::{
    CaseConfig, CaseError, CaseEvent, CaseExecution, CaseMoved, CaseVerdict, TestCase, Timeout, generate,
};
use oracle::{Expected, Oracle};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The time-out in tenths of a second.
const TIMEOUT: i64 = 40;

fn n_models() -> u64 {
    test_count("IOXIDE_CASES", 50, 1_000)
}

/// The result of making a case for a random model.
enum Made {
    Case(Model, Vec<PathStep>, Box<TestCase>),
    Ambiguous(Model, Vec<PathStep>, usize, SwitchId),
}

/// A random model with a path that can be followed and ends with an output or silence, and its case. One path in three
/// has silences.
fn made(seed: u64) -> Option<Made> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut model = named("random.iox", &random::text(&mut rng));
    let path = random::path(&mut rng, &model)?;
    let mut solver = solver();
    let mut cx = Ctx::new(&mut model, &mut solver);
    let has_silence = seed.is_multiple_of(3);
    let path = if has_silence { random::with_silences(&mut rng, &path) } else { PathStep::taking(&path) };
    let mut state = SymState::initial(&mut cx);
    for &step in &path {
        state = take_step(&mut cx, &state, step).into_state()?;
    }
    let config = CaseConfig { timeout: Timeout::Fixed(seconds(TIMEOUT)), ..CaseConfig::default() };
    match generate(&mut cx, &path, &config) {
        Ok(case) => Some(Made::Case(model, path, Box::new(case))),
        Err(CaseError::NotDeterministic { step, other, .. }) => {
            Some(Made::Ambiguous(model, path, step, other))
        }
        // After silence as long as the time-out it may be too late for the rest.
        Err(CaseError::Unsatisfiable { .. }) if has_silence => None,
        Err(error) => panic!("seed {seed}: {error:?}"),
    }
}

#[test]
fn every_event_takes_the_arc_that_enumeration_expects() {
    let (mut cases, mut events, mut ambiguous) = (0, 0, 0);
    let mut seen = [0usize; 9];
    for seed in 0..n_models() {
        match made(seed) {
            None => (),
            Some(Made::Ambiguous(model, path, step, other)) => {
                ambiguous += 1;
                let oracle = Oracle::new(&model, &path, TIMEOUT);
                assert!(oracle.has_common_trace(step, other), "seed {seed}");
            }
            Some(Made::Case(mut model, path, case)) => {
                cases += 1;
                for walk in 0..6 {
                    events += compare(seed * 100 + walk, &mut model, &path, &case, &mut seen);
                }
            }
        }
    }
    println!("{cases} cases, {ambiguous} ambiguous, {events} events, by outcome {seen:?}");
    assert!(cases >= n_models() / 5 && events >= 5 * cases);
    // Every outcome was met: the comparison is not empty anywhere.
    assert!(n_models() < 100 || seen.iter().all(|&count| count > 0), "{seen:?}");
}

/// Walks along the path and compares every possible event on the way; how many.
fn compare(seed: u64, model: &mut Model, path: &[PathStep], case: &TestCase, seen: &mut [usize; 9]) -> u64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let copy = model.clone();
    let mut oracle = Oracle::new(&copy, path, TIMEOUT);
    let mut solver = solver();
    let mut cx = Ctx::new(model, &mut solver);
    let mut execution = CaseExecution::new(case, &seconds(TIMEOUT));
    let mut events = 0;
    loop {
        let mut onwards = Vec::new();
        for (delay, event) in oracle.events() {
            let expected = oracle.expected(delay, &event);
            let mut copy = execution.clone();
            let moved = copy.observe(&mut cx, &seconds(delay), &event);
            assert_eq!(outcome(&moved), expected, "seed {seed}: {delay} {event:?}\n{}", cx.sts.name);
            events += 1;
            seen[expected as usize] += 1;
            if expected == Expected::Onwards {
                onwards.push((delay, event));
            }
        }
        // The last step of the path ends the case, and a state may be a dead end for this prefix.
        let Some(choice) = onwards.len().checked_sub(1).map(|last| rng.random_range(0..=last)) else {
            return events;
        };
        let (delay, event) = onwards.swap_remove(choice);
        execution.observe(&mut cx, &seconds(delay), &event);
        oracle.advance(delay, &event);
    }
}

fn outcome(moved: &CaseMoved) -> Expected {
    match moved {
        CaseMoved::To(_) => Expected::Onwards,
        CaseMoved::Nowhere => Expected::Nowhere,
        CaseMoved::Ended(verdict, _) => match verdict {
            CaseVerdict::Pass => Expected::Pass,
            CaseVerdict::IncOffPath => Expected::OffPath,
            CaseVerdict::FailOut => Expected::FailOut,
            CaseVerdict::FailDur => Expected::FailDur,
            CaseVerdict::IncDur => Expected::IncDur,
            CaseVerdict::IncOut | CaseVerdict::IncInputSpec => Expected::Specified,
            CaseVerdict::IncInputUnspec => Expected::Unspecified,
        },
    }
}

/// Theorem 1 of \[BLLN23], for the corrected rules: a system that does what the model allows never fails.
#[test]
fn conforming_systems_never_fail() {
    let (mut runs, mut passed) = (0, 0);
    for seed in 0..n_models() {
        let Some(Made::Case(mut model, path, case)) = made(seed) else { continue };
        let (system, mut solver) = (model.clone(), solver());
        let mut cx = Ctx::new(&mut model, &mut solver);
        for run in 0..20 {
            let verdict = run_on(seed * 1000 + run, &system, &mut cx, &path, &case);
            assert!(!verdict.is_some_and(CaseVerdict::is_fail), "seed {seed} run {run}: {verdict:?}");
            runs += 1;
            passed += u64::from(verdict == Some(CaseVerdict::Pass));
        }
    }
    println!("{runs} runs, {passed} passed");
    assert!(passed > 0 && runs > 0);
}

/// One run of a system that plays the model `played`, with a value at start of its own.
fn run_on(
    seed: u64,
    played: &Model,
    cx: &mut Ctx<'_>,
    path: &[PathStep],
    case: &TestCase,
) -> Option<CaseVerdict> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut system = oracle::System::new(played, rng.random_range(0..3));
    let mut execution = CaseExecution::new(case, &seconds(TIMEOUT));
    for (n, step) in path.iter().enumerate() {
        let input = step.switch().map(|id| &played.sts.switches[id]);
        let input = input.filter(|switch| played.sts.kind_of(switch) == GateKind::Input);
        let stimulus = case.states[n].arcs.iter().find_map(|arc| arc.witness.clone());
        // Now and then the tester dawdles, and the system may come first.
        let input = input.filter(|_| rng.random_range(0..4) > 0);
        let (delay, event) = match stimulus.zip(input) {
            Some((stimulus, switch)) => (stimulus.delay, CaseEvent::Message(switch.gate, stimulus.values)),
            None => {
                let (tenths, event) = system.spontaneous(&mut rng, TIMEOUT);
                (seconds(tenths), event)
            }
        };
        match execution.observe(cx, &delay, &event) {
            CaseMoved::Ended(verdict, _) => return Some(verdict),
            CaseMoved::Nowhere => return None,
            CaseMoved::To(_) => system.take(&delay, &event)?,
        }
    }
    None
}

/// Systems with one timing fault each are found now and then; the rate is printed.
#[test]
fn timing_faults_are_found() {
    let mut rates = Vec::new();
    for fault in random::FAULTS {
        let (mut systems, mut found) = (0u32, 0u32);
        for seed in 0..n_models() {
            let Some(Made::Case(mut model, path, case)) = made(seed) else { continue };
            let text = random::text(&mut ChaCha8Rng::seed_from_u64(seed));
            let switches: Vec<SwitchId> = path.iter().filter_map(|step| step.switch()).collect();
            let Some(faulty) = random::with_fault(&text, fault, &model, &switches) else { continue };
            let faulty = named("faulty.iox", &faulty);
            systems += 1;
            let mut solver = solver();
            let mut cx = Ctx::new(&mut model, &mut solver);
            let is_fail = |run| {
                let verdict = run_on(seed * 1000 + run, &faulty, &mut cx, &path, &case);
                verdict.is_some_and(CaseVerdict::is_fail)
            };
            found += u32::from((0..30).any(is_fail));
        }
        println!("{fault:?}: {found} of {systems} systems found in 30 runs each");
        rates.push((fault, found, systems));
    }
    // A system that hurries conforms unless it must wait; the other faults show.
    for (fault, found, systems) in rates {
        assert!(systems > 0, "{fault:?}");
        assert!(found > 0 || fault == random::Fault::Earlier, "{fault:?}");
    }
}
