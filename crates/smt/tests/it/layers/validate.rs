//! Tests of `layers::validate`.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::Solver;

use ioxide_smt::layers::validate::ValidateLayer;
use ioxide_smt::scripted::ScriptedSolver;
use ioxide_smt::solver::{SolverAnswer, SolverDecision, UnknownReason};

#[test]
fn no_proof_rests_on_the_order_of_texts() {
    let mut pool = TermPool::new();
    let (_, x) = pool.declare_term("x", Sort::Str);
    let (_, y) = pool.declare_term("y", Sort::Str);
    let (order, equal) = (pool.text_le(x, y), pool.eq(x, y));
    let mut answer = |facts: &[Term]| {
        ValidateLayer::new(ScriptedSolver::new([SolverAnswer::Unsat])).check(&mut pool, facts)
    };
    assert_eq!(answer(&[equal, order]), SolverAnswer::Unknown(UnknownReason::Incomplete));
    assert_eq!(answer(&[equal]), SolverAnswer::Unsat);
}

#[test]
fn a_wrong_valuation_makes_the_answer_unknown() {
    let mut pool = TermPool::new();
    let (x, x_term) = pool.declare_term("x", Sort::Range { lo: 0, hi: 9 });
    let five = pool.int(5);
    let fact = pool.lt(five, x_term);
    for (value, fine) in [(7, true), (5, false), (10, false)] {
        let valuation = Valuation::from_iter([(x, Value::int(value))]);
        let mut solver = ValidateLayer::new(ScriptedSolver::new([SolverAnswer::Sat(valuation)]));
        let answer = solver.check(&mut pool, &[fact]);
        assert_eq!(matches!(answer, SolverAnswer::Sat(_)), fine, "{value}: {answer:?}");
    }
    // A decision rests on a valuation too.
    for (value, fine) in [(7, true), (5, false)] {
        let valuation = Valuation::from_iter([(x, Value::int(value))]);
        let mut solver = ValidateLayer::new(ScriptedSolver::new([SolverAnswer::Sat(valuation)]));
        let decision = solver.decide(&mut pool, &[fact]);
        assert_eq!(decision == SolverDecision::Sat, fine, "{value}: {decision:?}");
    }
    let mut solver = ValidateLayer::new(ScriptedSolver::new([SolverAnswer::Sat(Valuation::new())]));
    assert!(matches!(solver.check(&mut pool, &[fact]), SolverAnswer::Unknown(UnknownReason::Error(_))));
}
