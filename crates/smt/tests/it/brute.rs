//! Tests of `brute`.

use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::Solver;

use ioxide_smt::brute::BruteSolver;
use ioxide_smt::solver::{SolverAnswer, UnknownReason};

#[test]
fn a_finite_domain_is_decided_both_ways() {
    let mut pool = TermPool::new();
    let (x, x_term) = pool.declare_term("x", Sort::Range { lo: 0, hi: 9 });
    let (_, y) = pool.declare_term("y", Sort::Range { lo: 0, hi: 9 });
    let (sum, most) = (pool.add2(x_term, y), pool.int(18));
    let full = pool.eq(sum, most);
    let valuation = BruteSolver::new().check(&mut pool, &[full]).valuation().expect("9 + 9 = 18");
    assert_eq!(valuation.get(x), Some(&Value::int(9)));
    let more = pool.lt(most, sum);
    assert_eq!(BruteSolver::new().check(&mut pool, &[more]), SolverAnswer::Unsat);
}

#[test]
fn an_infinite_domain_is_never_refuted() {
    let mut pool = TermPool::new();
    let (_, x) = pool.declare_term("x", Sort::Int);
    let (low, high) = (pool.int(3), pool.int(1000));
    let (small, large) = (pool.eq(x, low), pool.lt(high, x));
    assert!(matches!(BruteSolver::new().check(&mut pool, &[small]), SolverAnswer::Sat(_)));
    assert_eq!(
        BruteSolver::new().check(&mut pool, &[large]),
        SolverAnswer::Unknown(UnknownReason::Incomplete)
    );
}

#[test]
fn no_fact_is_satisfiable_and_false_is_not() {
    let mut pool = TermPool::new();
    assert_eq!(BruteSolver::new().check(&mut pool, &[]), SolverAnswer::Sat(Valuation::new()));
    let ff = pool.ff();
    assert_eq!(BruteSolver::new().check(&mut pool, &[ff]), SolverAnswer::Unsat);
}
