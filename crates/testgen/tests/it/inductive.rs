//! Mutants that are shown to be equivalent by induction: against enumeration, and where exploration does not end.
//!
//! `IOXIDE_PAIRS` sets the number of random models.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_model::sts::Model;
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::{ConformAnswer, ConformProof, InputCompletion, SearchBounds};
use ioxide_testgen::kill::{KillConfig, MutationAnalysis, Optimisation};
use ioxide_testgen::mutate::{Mutant, MutationOperator, mutants};

use crate::common::{named, solver};
use crate::pairs::Pairs;

/// Returns whether each mutant is shown to conform by induction, when `off` is switched off.
fn by_induction(
    model: &mut Model,
    solver: &mut dyn Solver,
    mutants: &[Mutant],
    off: &[Optimisation],
) -> Vec<bool> {
    let mut cx = Ctx::new(model, solver);
    let bounds = SearchBounds { max_states: 20, ..SearchBounds::default() };
    let off: BTreeSet<Optimisation> = off.iter().copied().collect();
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { bounds, off, ..KillConfig::default() });
    let mut watch = |_: &_| ControlFlow::Continue(());
    let mut is_shown = |mutant| {
        matches!(
            analysis.decide(&mut cx, mutant, &mut watch).answer,
            ConformAnswer::Conforms(ConformProof::Inductive)
        )
    };
    mutants.iter().map(&mut is_shown).collect()
}

/// Random models are small enough for a graph; without it, the same mutants are decided by induction.
#[test]
fn what_induction_shows_enumeration_confirms() {
    let n_models = test_count("IOXIDE_PAIRS", 150, 5_000);
    let (mut confirmed, mut refused) = (0, 0);
    for seed in 0..n_models {
        let pair = Pairs::new(seed).pair();
        let mut model = Model { pool: pair.pool, sts: pair.one };
        let all = mutants(&mut model, &MutationOperator::ALL);
        let some: Vec<Mutant> = all.into_iter().skip(seed as usize % 5).step_by(5).collect();
        // Nothing else may decide them first.
        let off = [Optimisation::Precompute, Optimisation::CheapFilters, Optimisation::ReachedPlaces];
        let shown = by_induction(&mut model, &mut BruteSolver::new(), &some, &off);
        for (mutant, is_shown) in some.iter().zip(shown) {
            if !is_shown {
                refused += 1;
                continue;
            }
            let imp = mutant.apply(&model.sts);
            let budget = EnumerationBudget::default();
            let found = ioco(&model.pool, &imp, &model.sts, InputCompletion::Angelic, budget);
            assert!(matches!(found, EnumerationResult::Conforms), "seed {seed}, {}: {found:?}", mutant.id);
            confirmed += 1;
        }
    }
    assert!(confirmed > 100 && refused > 100, "{confirmed} confirmed, {refused} refused");
}

/// A count without bound that never goes below zero, and a limit that nothing exceeds.
const TILL: &str = "
model Till {
    input pay(amount: 1..9)
    input refund
    output sold
    output back(total: int)
    output empty
    var total: int = 0
    var open: 0..3 = 0
    state idle {
        take: on pay { total = total + amount } -> taken
        give: on refund when total >= 0 -> giving
        none: on refund when total < 0 -> idle
    }
    state taken { sell: emit sold -> idle }
    state giving {
        some: emit back(total: total) when total > 0 -> idle
        nothing: emit empty when total == 0 -> idle
    }
}";

#[test]
fn mutants_are_equivalent_where_exploration_does_not_end() {
    let mut model = named("till.iox", TILL);
    let all = mutants(&mut model, &MutationOperator::ALL);
    let shown = by_induction(&mut model, &mut solver(), &all, &[]);
    let lines: Vec<String> = all
        .iter()
        .zip(&shown)
        .map(|(mutant, shown)| format!("{} {}", mutant.id, if *shown { "equivalent" } else { "open" }))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}
