//! Mutants of a nondeterministic model of industrial size: the symbolic decision against enumeration.
//!
//! The constants of the particle counter are set small, so that its messages can be listed. A share of the mutants is
//! compared here; `IOXIDE_MUTANTS=60` compares this many.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::{GateKind, Model};
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::{ConformAnswer, InputCompletion, SearchBounds};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{MutantSelection, Sample, select};

fn counter(constants: &[(&str, &str)]) -> Model {
    load_variant("particle-counter.as", constants)
}

fn load_variant(name: &str, constants: &[(&str, &str)]) -> Model {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/particle-counter");
    let mut sources = Sources::new();
    let file = sources.add(name, std::fs::read_to_string(folder.join(name)).expect("the example is there"));
    let overrides = constants.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let loaded = load(&sources, file, &LoadOptions::with_overrides(overrides));
    loaded.model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

const SMALL: [(&str, &str); 7] = [
    ("MAX_DILUTION", "2"),
    ("MAX_FLOW", "2"),
    ("MAX_ROUNDS", "1"),
    ("MAX_COUNT", "1"),
    ("MAX_CODE", "3"),
    ("SERVICE_CODE", "2"),
    ("IDENTITY", "1"),
];

#[test]
fn it_is_as_large_as_the_industrial_model() {
    let model = counter(&[]);
    let n = |kind| model.sts.gates.iter().filter(|gate| gate.kind == kind).count();
    let internal = model.sts.switches.iter().filter(|it| model.sts.kind_of(it) == GateKind::Internal).count();
    assert!(n(GateKind::Input) >= 69 && n(GateKind::Output) >= 20 && internal >= 10);
    assert!(model.sts.switches.len() > 200, "{} paths", model.sts.switches.len());
}

#[test]
fn the_deterministic_variant_has_the_actions_of_the_paper() {
    let model = load_variant("deterministic.as", &[]);
    let n = |kind| model.sts.gates.iter().filter(|gate| gate.kind == kind).count();
    assert_eq!((n(GateKind::Input), n(GateKind::Output)), (69, 20));
    assert!(model.sts.switches.iter().all(|it| model.sts.kind_of(it) != GateKind::Internal));
}

/// Steps from the start that are looked at.
const DEPTH: u32 = 4;

/// Actions near the start, so that few steps are enough.
const NEAR: [&str; 8] =
    ["power_on", "power_off", "powered_down", "warmed", "ask_mode", "mode_is", "ask_heater", "started"];

#[test]
fn its_mutants_are_decided_as_enumeration_decides_them() {
    let count = test_count("IOXIDE_MUTANTS", 4, 12) as usize;
    let mut model = counter(&SMALL);
    let (sample, places) = (Some(Sample { count, seed: 7 }), NEAR.map(str::to_owned).to_vec());
    let mutants = select(&mut model, &MutantSelection { sample, places, ..MutantSelection::default() })
        .expect("few enough");
    let spec = model.clone();
    let mut solver = build_stack(&SolverConfig::default());
    let mut cx = Ctx::new(&mut model, &mut solver);
    // The invariants of this model take longer than all else here; induction has a test with random models.
    let off = BTreeSet::from([
        Optimisation::Enumeration,
        Optimisation::Precompute,
        Optimisation::Induction,
        Optimisation::Simulation,
    ]);
    let bounds = SearchBounds { max_depth: DEPTH, ..SearchBounds::default() };
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { off, bounds, ..KillConfig::default() });
    let (mut killed, mut other) = (0, 0);
    for mutant in &mutants {
        let answer = analysis.decide(&mut cx, mutant, &mut |_| ControlFlow::Continue(())).answer;
        let imp = mutant.apply(&spec.sts);
        let budget = EnumerationBudget { states: 1_500, steps: 1_000_000 };
        let found = ioco(&spec.pool, &imp, &spec.sts, InputCompletion::Angelic, budget);
        match (&found, &answer) {
            (EnumerationResult::Fails(trace), ConformAnswer::Fails(witness)) => {
                assert_eq!(trace.len(), witness.trace.len(), "{}", mutant.id);
                killed += 1;
            }
            // What lies deeper was not looked at, or not by enumeration.
            (EnumerationResult::Fails(trace), ConformAnswer::Unknown(_)) if trace.len() > DEPTH as usize => {
                other += 1
            }
            (
                EnumerationResult::Conforms | EnumerationResult::GaveUp,
                ConformAnswer::Conforms(_) | ConformAnswer::Unknown(_),
            ) => other += 1,
            _ => panic!("{}: {found:?} but {answer:?}", mutant.id),
        }
    }
    println!("{killed} killed alike, {other} not killed so near");
    assert!(killed * 2 > mutants.len(), "{killed} of {}", mutants.len());
}

/// Measures the gain of every optimisation: `IOXIDE_COUNTER=40` takes this many mutants. It does what `ioxide bench
/// counter` does, in a smaller program. `IOXIDE_COUNTER_MODEL=deterministic.as` takes the other model, and
/// `IOXIDE_COUNTER_WAY="without restricted completion"`, which is what `ioxide kill` does, one configuration alone.
#[test]
fn optimisations_side_by_side() {
    let Some(count) = std::env::var("IOXIDE_COUNTER").ok().and_then(|n| n.parse().ok()) else { return };
    let name = std::env::var("IOXIDE_COUNTER_MODEL").unwrap_or_else(|_| "particle-counter.as".into());
    let mut model = load_variant(&name, &[]);
    let sample = Some(Sample { count, seed: 1 });
    let mutants =
        select(&mut model, &MutantSelection { sample, ..MutantSelection::default() }).expect("few enough");
    let paper = KillConfig { completion: InputCompletion::Restricted, ..KillConfig::default() };
    let mut ways = vec![("everything".to_owned(), paper.clone())];
    for it in Optimisation::ALL {
        ways.push((
            format!("without {}", it.name()),
            KillConfig { off: BTreeSet::from([it]), ..paper.clone() },
        ));
    }
    ways.push(("without restricted completion".into(), KillConfig::default()));
    ways.push(("without any".into(), KillConfig { off: BTreeSet::from(Optimisation::ALL), ..paper }));
    if let Ok(only) = std::env::var("IOXIDE_COUNTER_WAY") {
        ways.retain(|(name, _)| *name == only);
    }
    for (name, config) in ways {
        let (mut model, spec) = (model.clone(), model.clone());
        let mut solver = build_stack(&SolverConfig::default());
        let mut cx = Ctx::new(&mut model, &mut solver);
        let start = Instant::now();
        let analysis = MutationAnalysis::new(&mut cx, &config);
        let first = start.elapsed();
        let (mut killed, mut equivalent, mut open, mut depth, mut longest) = (0, 0, 0, 0, 0);
        let mut times = Vec::new();
        for mutant in &mutants {
            let start = Instant::now();
            let verdict = analysis.decide(&mut cx, mutant, &mut |_| match start.elapsed() {
                long if long > Duration::from_secs(3) => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            });
            times.push(start.elapsed());
            println!("{} {:.3?}", mutant.id, start.elapsed());
            depth = depth.max(verdict.effort.depth);
            match verdict.answer {
                ConformAnswer::Fails(witness) => {
                    (killed, longest) = (killed + 1, longest.max(witness.trace.len()))
                }
                ConformAnswer::Conforms(_) => equivalent += 1,
                ConformAnswer::Unknown(why) => {
                    open += 1;
                    println!("open: {}{why}", mutant.show_diff(&spec));
                }
            }
        }
        times.sort();
        let (mean, median) = (times.iter().sum::<Duration>() / times.len() as u32, times[times.len() / 2]);
        println!(
            "{name}: {killed} killed, {equivalent} equivalent, {open} open; first {first:.2?}, mean \
             {mean:.2?}, median {median:.2?}, max {:.2?}; longest {longest}, depth {depth}",
            times[times.len() - 1]
        );
    }
}
