//! Mutants of random models: the decision with all its shortcuts against enumeration, and the suites.
//!
//! `IOXIDE_PAIRS` sets the number of models.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_model::sts::{Model, Sts};
use ioxide_model::trace::Trace;
use ioxide_smt::brute::BruteSolver;
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::{ConformAnswer, InputCompletion};
use ioxide_testgen::kill::known_witnesses::KnownWitnesses;
use ioxide_testgen::kill::mutant_runner::{MutantRunner, MutantSystem};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{Mutant, MutationOperator, mutants};

use crate::pairs::Pairs;

fn n_models() -> u64 {
    test_count("IOXIDE_PAIRS", 60, 1_000)
}

/// A random model and some of its mutants.
fn sampled(seed: u64) -> (Model, Vec<Mutant>) {
    let pair = Pairs::new(seed).pair();
    let sts = if seed.is_multiple_of(2) { pair.one } else { pair.other };
    let mut model = Model { pool: pair.pool, sts };
    let all = mutants(&mut model, &MutationOperator::ALL);
    (model, all.into_iter().skip(usize::try_from(seed % 7).unwrap_or(0)).step_by(7).collect())
}

fn answers(model: &mut Model, mutants: &[Mutant], off: BTreeSet<Optimisation>) -> Vec<ConformAnswer> {
    let mut solver = BruteSolver::new();
    let mut cx = Ctx::new(model, &mut solver);
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { off, ..KillConfig::default() });
    let mut watch = |_: &_| ControlFlow::Continue(());
    mutants.iter().map(|mutant| analysis.decide(&mut cx, mutant, &mut watch).answer).collect()
}

fn trace(answer: &ConformAnswer) -> Option<&Trace> {
    if let ConformAnswer::Fails(witness) = answer { Some(&witness.trace) } else { None }
}

fn enumerated(model: &Model, mutant: &Mutant) -> EnumerationResult {
    let imp = mutant.apply(&model.sts);
    ioco(&model.pool, &imp, &model.sts, InputCompletion::Angelic, EnumerationBudget::default())
}

#[test]
fn mutants_of_random_models_are_decided_as_enumeration_decides_them() {
    let (mut killed, mut equivalent, mut open) = (0, 0, 0);
    for seed in 0..n_models() {
        let (mut model, mutants) = sampled(seed);
        let answers = answers(&mut model, &mutants, BTreeSet::new());
        for (mutant, answer) in mutants.iter().zip(&answers) {
            match (enumerated(&model, mutant), answer) {
                (EnumerationResult::Conforms, ConformAnswer::Conforms(_)) => equivalent += 1,
                (EnumerationResult::Fails(trace), ConformAnswer::Fails(witness)) => {
                    killed += 1;
                    assert_eq!(trace.len(), witness.trace.len(), "seed {seed}, {}", mutant.id);
                }
                // Too many cases in one step: said, and rare.
                (_, ConformAnswer::Unknown(_)) => open += 1,
                (found, answer) => panic!("seed {seed}, {}: {found:?} but {answer:?}", mutant.id),
            }
        }
    }
    assert!(killed > n_models() && equivalent > n_models(), "{killed} {equivalent}");
    assert!(open * 500 <= killed + equivalent, "{open} left open");
}

#[test]
fn no_optimisation_changes_an_answer() {
    for seed in 0..n_models() / 4 {
        let (mut model, mutants) = sampled(seed);
        let all = answers(&mut model, &mutants, BTreeSet::new());
        let kind = |answer: &ConformAnswer| match answer {
            ConformAnswer::Fails(witness) => Some(witness.trace.len()),
            ConformAnswer::Conforms(_) => None,
            ConformAnswer::Unknown(doubt) => panic!("seed {seed}: {doubt}"),
        };
        for off in [
            Optimisation::Precompute,
            Optimisation::MutationAnalysis,
            Optimisation::InputWeakening,
            Optimisation::CheapFilters,
            Optimisation::Enumeration,
        ] {
            // What is found near reached places need not be the nearest difference.
            let without = answers(&mut model, &mutants, BTreeSet::from([off, Optimisation::ReachedPlaces]));
            for ((mutant, one), other) in mutants.iter().zip(&all).zip(&without) {
                assert_eq!(kind(one), kind(other), "seed {seed}, {}, without {}", mutant.id, off.name());
            }
        }
        // Without the graph, differences are looked for near reached places first.
        let near = answers(&mut model, &mutants, BTreeSet::from([Optimisation::Precompute]));
        for ((mutant, one), other) in mutants.iter().zip(&all).zip(&near) {
            assert_eq!(kind(one).is_some(), kind(other).is_some(), "seed {seed}, {}", mutant.id);
        }
    }
}

/// A mutant that a trace of another mutant kills is killed by enumeration too, and every mutant shows its own trace.
#[test]
fn traces_of_others_kill_only_what_enumeration_kills() {
    let (mut own, mut others, mut left) = (0, 0, 0);
    for seed in 0..n_models() {
        let (mut model, mutants) = sampled(seed);
        let answers = answers(&mut model, &mutants, BTreeSet::new());
        let spec = model.clone();
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        for (at, mutant) in mutants.iter().enumerate() {
            let mine = KnownWitnesses::new(trace(&answers[at]));
            assert_eq!(
                mine.killing(&mut cx, mutant, InputCompletion::Angelic),
                trace(&answers[at]),
                "seed {seed}"
            );
            own += usize::from(trace(&answers[at]).is_some());
            let but_mine = (0..mutants.len()).filter(|&it| it != at).filter_map(|it| trace(&answers[it]));
            match KnownWitnesses::new(but_mine).killing(&mut cx, mutant, InputCompletion::Angelic) {
                Some(_) => {
                    others += 1;
                    let found = enumerated(&spec, mutant);
                    assert!(
                        matches!(found, EnumerationResult::Fails(_)),
                        "seed {seed}, {}: {found:?}",
                        mutant.id
                    );
                }
                None => left += 1,
            }
        }
    }
    assert!(own > n_models() as usize && others > 0 && left > 0, "{own} {others} {left}");
}

/// A killed mutant is killed by enumeration too, and a suite kills whatever has a trace.
#[test]
fn suites_kill_every_mutant_with_a_trace() {
    for seed in 0..n_models() / 2 {
        let (mut model, mutants) = sampled(seed);
        let answers = answers(&mut model, &mutants, BTreeSet::new());
        let spec = model.sts.clone();
        let systems: Vec<Sts> = mutants.iter().map(|mutant| mutant.apply(&spec)).collect();
        let specimens: Vec<MutantSystem<'_>> = mutants
            .iter()
            .zip(&systems)
            .map(|(mutant, system)| MutantSystem { mutant, system: Some(system) })
            .collect();
        let witnesses: Vec<_> = answers.iter().map(trace).collect();
        for (mutant, witness) in mutants.iter().zip(&witnesses) {
            let fails = matches!(enumerated(&model, mutant), EnumerationResult::Fails(_));
            assert!(witness.is_none() || fails, "seed {seed}, {}", mutant.id);
        }
        let mut solver = BruteSolver::new();
        let mut cx = Ctx::new(&mut model, &mut solver);
        let suite = MutantRunner::new(&mut cx, &spec, &specimens).suite(&mut cx, &witnesses);
        let killed: BTreeSet<usize> = suite.iter().flat_map(|test| test.kills.iter().copied()).collect();
        let killable: BTreeSet<usize> = (0..witnesses.len()).filter(|&at| witnesses[at].is_some()).collect();
        assert_eq!(killed, killable, "seed {seed}");
    }
}
