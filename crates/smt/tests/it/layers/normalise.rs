//! Tests of `layers::normalise`.

use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::Solver;

use ioxide_smt::layers::normalise::NormaliseLayer;
use ioxide_smt::solver::{NoSolver, SolverAnswer, UnknownReason};

#[test]
fn plain_lists_need_no_solver() {
    let mut pool = TermPool::new();
    let (_, s) = pool.declare_term("s", Sort::Str);
    let text = pool.value(ioxide_model::value::Value::str("a"));
    let (same, other) = (pool.eq(s, text), pool.ne(s, text));
    let mut solver = NormaliseLayer::new(NoSolver);
    assert_eq!(solver.check(&mut pool, &[]), SolverAnswer::Sat(Valuation::new()));
    assert_eq!(solver.check(&mut pool, &[same, other]), SolverAnswer::Unsat);
    assert_eq!(solver.check(&mut pool, &[same]), SolverAnswer::Unknown(UnknownReason::NoSolver));
}
