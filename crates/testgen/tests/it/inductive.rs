//! Mutants that are shown to be equivalent by induction or simulation: against enumeration, and where exploration does
//! not end.
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

/// The mutants that each proof shows to conform.
struct ShownMutants {
    by_induction: Vec<bool>,
    by_simulation: Vec<bool>,
}

/// Returns which mutants are shown to conform without a search, when `off` is switched off.
fn shown_mutants(
    model: &mut Model,
    solver: &mut dyn Solver,
    mutants: &[Mutant],
    off: &[Optimisation],
) -> ShownMutants {
    let mut cx = Ctx::new(model, solver);
    let off: BTreeSet<Optimisation> = off.iter().copied().collect();
    let analysis = MutationAnalysis::new(&mut cx, &KillConfig { off, ..KillConfig::default() });
    let mut shown = ShownMutants { by_induction: Vec::new(), by_simulation: Vec::new() };
    for mutant in mutants {
        let imp = mutant.apply(cx.sts);
        let watch = &mut |_: &_| ControlFlow::Continue(());
        shown.by_induction.push(analysis.is_shown_by_induction(&mut cx, mutant, &imp, watch));
        shown.by_simulation.push(analysis.is_shown_by_simulation(&mut cx, mutant, &imp, watch));
    }
    shown
}

/// Random models are small enough for a graph; without it, the same mutants are shown without a search.
#[test]
fn what_induction_and_simulation_show_enumeration_confirms() {
    let n_models = test_count("IOXIDE_PAIRS", 150, 5_000);
    let (mut confirmed, mut refused, mut hidden, mut simulated) = (0, 0, 0, 0);
    for seed in 0..n_models {
        let pair = Pairs::new(seed).pair();
        let mut model = Model { pool: pair.pool, sts: pair.one };
        let all = mutants(&mut model, &MutationOperator::ALL);
        let some: Vec<Mutant> = all.into_iter().skip(seed as usize % 5).step_by(5).collect();
        // With a graph, a search would decide them.
        let off = [Optimisation::Precompute];
        let shown = shown_mutants(&mut model, &mut BruteSolver::new(), &some, &off);
        for (at, mutant) in some.iter().enumerate() {
            let (is_induced, is_simulated) = (shown.by_induction[at], shown.by_simulation[at]);
            if !is_induced && !is_simulated {
                refused += 1;
                continue;
            }
            let imp = mutant.apply(&model.sts);
            let budget = EnumerationBudget::default();
            let found = ioco(&model.pool, &imp, &model.sts, InputCompletion::Angelic, budget);
            let by = if is_induced { "induction" } else { "simulation" };
            assert!(
                matches!(found, EnumerationResult::Conforms),
                "seed {seed}, {} by {by}: {found:?}",
                mutant.id
            );
            confirmed += 1;
            simulated += usize::from(!is_induced);
            let is_hidden = |switch| model.sts.kind_of(switch) == GateKind::Internal;
            hidden += usize::from(model.sts.switches.iter().any(is_hidden));
        }
    }
    assert!(confirmed > 100 && refused > 100, "{confirmed} confirmed, {refused} refused");
    assert!(hidden > 100, "{hidden} of models with internal steps");
    assert!(simulated > 20, "{simulated} by simulation alone");
    println!(
        "{confirmed} mutants of {n_models} models are shown to be equivalent, {simulated} of them by simulation alone, \
         {hidden} of them of models with internal steps; {refused} are not"
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
    let shown = shown_mutants(&mut model, &mut solver(), &all, &[]).by_induction;
    let equivalent: Vec<&str> =
        all.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(mutant, _)| &*mutant.id).collect();
    insta::assert_snapshot!(equivalent.join("\n"));
    let mut search_solver = solver();
    let mut cx = Ctx::new(&mut model, &mut search_solver);
    let off = BTreeSet::from([Optimisation::Induction, Optimisation::Simulation]);
    let config = KillConfig { off, ..KillConfig::default() };
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
