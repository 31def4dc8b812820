//! Tests of `layers::cache`.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool};
use ioxide_smt::solver::Solver;

use ioxide_smt::layers::cache::CacheLayer;
use ioxide_smt::scripted::ScriptedSolver;
use ioxide_smt::solver::{SolverAnswer, SolverDecision, UnknownReason};

#[test]
fn the_order_of_facts_does_not_matter_and_open_questions_are_asked_again() {
    let mut pool = TermPool::new();
    let (_, a) = pool.declare_term("a", Sort::Bool);
    let (_, b) = pool.declare_term("b", Sort::Bool);
    let script = [SolverAnswer::Unknown(UnknownReason::Time), SolverAnswer::Unsat];
    let mut cache = CacheLayer::new(ScriptedSolver::new(script), 10);
    assert_eq!(cache.check(&mut pool, &[a, b]), SolverAnswer::Unknown(UnknownReason::Time));
    assert_eq!(cache.check(&mut pool, &[a, b]), SolverAnswer::Unsat);
    assert_eq!(cache.check(&mut pool, &[b, a]), SolverAnswer::Unsat);
    assert_eq!(cache.decide(&mut pool, &[b, a]), SolverDecision::Unsat);
    assert_eq!(cache.decide(&mut pool, &[b]), SolverDecision::Unknown(UnknownReason::NoSolver));
}

#[test]
fn old_answers_are_forgotten_first() {
    let mut pool = TermPool::new();
    let vars: Vec<Term> = (0..6).map(|_| pool.declare_term("v", Sort::Bool).1).collect();
    let mut cache = CacheLayer::new(ScriptedSolver::new([const { SolverAnswer::Unsat }; 6]), 2);
    for &var in &vars {
        assert_eq!(cache.check(&mut pool, &[var]), SolverAnswer::Unsat);
    }
    assert_eq!(cache.check(&mut pool, &[vars[0]]), SolverAnswer::Unknown(UnknownReason::NoSolver));
    assert_eq!(cache.check(&mut pool, &[vars[5]]), SolverAnswer::Unsat);
}
