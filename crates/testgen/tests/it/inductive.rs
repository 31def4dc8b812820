//! Mutants that are shown to be equivalent by induction: against enumeration, and where exploration does not end.
//!
//! `IOXIDE_PAIRS` sets the number of random models.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use ioxide_model::sts::{GateKind, Model};
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::solver::Solver;
use ioxide_symex::Ctx;
use ioxide_test_support::test_count;
use ioxide_testgen::conform::explicit::{EnumerationBudget, EnumerationResult, ioco};
use ioxide_testgen::conform::{ConformAnswer, InputCompletion};
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
    let off: BTreeSet<Optimisation> = off.iter().copied().collect();
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { off, ..KillConfig::default() });
    let is_shown = |mutant: &Mutant| {
        let imp = mutant.apply(cx.sts);
        analysis.is_shown_by_induction(&mut cx, mutant, &imp, &mut |_| ControlFlow::Continue(()))
    };
    mutants.iter().map(is_shown).collect()
}

/// Random models are small enough for a graph; without it, the same mutants are decided by induction.
#[test]
fn what_induction_shows_enumeration_confirms() {
    let n_models = test_count("IOXIDE_PAIRS", 150, 5_000);
    let (mut confirmed, mut refused, mut hidden) = (0, 0, 0);
    for seed in 0..n_models {
        let pair = Pairs::new(seed).pair();
        let mut model = Model { pool: pair.pool, sts: pair.one };
        let all = mutants(&mut model, &MutationOperator::ALL);
        let some: Vec<Mutant> = all.into_iter().skip(seed as usize % 5).step_by(5).collect();
        // With a graph, a search would decide them.
        let off = [Optimisation::Precompute];
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
            let is_hidden = |switch| model.sts.kind_of(switch) == GateKind::Internal;
            hidden += usize::from(model.sts.switches.iter().any(is_hidden));
        }
    }
    assert!(confirmed > 100 && refused > 100, "{confirmed} confirmed, {refused} refused");
    assert!(hidden > 100, "{hidden} of models with internal steps");
    println!(
        "{confirmed} mutants of {n_models} models are shown to be equivalent, {hidden} of them of models with \
         internal steps; {refused} are not"
    );
}

/// A count without bound that never goes below zero, and a limit that nothing exceeds.
const TILL: &str = "
model Till {
    input pay(amount: 1..9)
    input refund
    output sold
    output back(sum: int)
    output empty
    var total: int = 0
    var open: 0..3 = 0
    state idle {
        take: on pay { total = total + amount } -> taken
        give: on refund when total >= 0 -> giving
        never: on refund when total < 0 -> idle
    }
    state taken { sell: emit sold -> idle }
    state giving {
        partly: emit back(sum: total) when total > 0 -> idle
        at_zero: emit empty when total == 0 -> idle
    }
}";

/// A wrong proof would be one about a mutant that a search kills.
#[test]
fn mutants_are_equivalent_where_exploration_does_not_end() {
    let mut model = named("till.iox", TILL);
    let operators = [MutationOperator::GuardTrue, MutationOperator::GuardRelation, MutationOperator::Delete];
    let all = mutants(&mut model, &operators);
    let shown = by_induction(&mut model, &mut solver(), &all, &[]);
    let equivalent: Vec<&str> =
        all.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(mutant, _)| &*mutant.id).collect();
    insta::assert_snapshot!(equivalent.join("\n"));
    let mut search_solver = solver();
    let mut cx = Ctx::new(&mut model, &mut search_solver);
    let config = KillConfig { off: [Optimisation::Induction].into(), ..KillConfig::default() };
    let analysis = MutationAnalysis::new(&mut cx, &config);
    let (mut killed, mut undecided) = (0, 0);
    for (mutant, is_shown) in all.iter().zip(shown) {
        let mut states = 0;
        let mut watch = |_: &_| {
            states += 1;
            if states < 50 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let answer = analysis.decide(&mut cx, mutant, &mut watch).answer;
        assert!(!is_shown || !matches!(answer, ConformAnswer::Fails(_)), "{}: {answer:?}", mutant.id);
        killed += usize::from(matches!(answer, ConformAnswer::Fails(_)));
        undecided += usize::from(is_shown && matches!(answer, ConformAnswer::Unknown(_)));
    }
    assert!(killed > 20, "{killed} are killed");
    assert!(undecided > 0, "induction decides none that the search leaves open");
}
