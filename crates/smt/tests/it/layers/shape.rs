//! Tests of `layers::shape`.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermOp, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::Solver;

use ioxide_smt::solver::{SolverAnswer, UnknownReason};
use ioxide_smt::stack::{SolverConfig, build_stack};

fn list(pool: &mut TermPool) -> (VarId, Term) {
    let ints = pool.list_of(Sort::Range { lo: 0, hi: 9 });
    pool.declare_term("xs", Sort::Collection(ints))
}

#[test]
fn a_list_of_the_wanted_length_and_sum_is_found() {
    let mut pool = TermPool::new();
    let (var, xs) = list(&mut pool);
    let (size, sum) = (pool.operate(TermOp::Size, vec![xs]), pool.operate(TermOp::Sum, vec![xs]));
    let (five, forty) = (pool.int(5), pool.int(40));
    let facts = [pool.eq(size, five), pool.eq(sum, forty)];
    let answer = build_stack(&SolverConfig::default()).check(&mut pool, &facts);
    let value = answer.valuation().and_then(|found| found.get(var).cloned());
    assert_eq!(value.and_then(|value| value.as_collection().map(|list| list.len())), Some(5));
}

#[test]
fn what_no_list_satisfies_is_refuted_only_where_that_is_a_proof() {
    let mut pool = TermPool::new();
    let (_, xs) = list(&mut pool);
    let mut solver = build_stack(&SolverConfig::default());
    let (size, sum) = (pool.operate(TermOp::Size, vec![xs]), pool.operate(TermOp::Sum, vec![xs]));
    let (less, more) = (pool.lt(size, sum), pool.lt(sum, size));
    assert_eq!(solver.check(&mut pool, &[less, more]), SolverAnswer::Unsat);
    // True of all lists, but nothing that looks at some lengths can say so: 0 to 3, and those around 9.
    let nine = pool.int(9);
    let most = pool.mul2(nine, size);
    let above = pool.lt(most, sum);
    assert_eq!(solver.check(&mut pool, &[above]), SolverAnswer::Unknown(UnknownReason::Beyond(3)));
}

#[test]
fn a_set_of_few_possible_items_is_looked_at_in_full() {
    let mut pool = TermPool::new();
    for (hi, expected) in [(5, SolverAnswer::Unsat), (50, SolverAnswer::Unknown(UnknownReason::Beyond(3)))] {
        let few = pool.set_of(Sort::Range { lo: 0, hi });
        let (_, set) = pool.declare_term("s", Sort::Collection(few));
        let (size, most) = (pool.operate(TermOp::Size, vec![set]), pool.int(hi + 1));
        let too_many = pool.lt(most, size);
        assert_eq!(build_stack(&SolverConfig::default()).check(&mut pool, &[too_many]), expected, "{hi}");
    }
}

#[test]
fn lists_inside_of_lists_are_not_said_to_be_looked_at() {
    let mut pool = TermPool::new();
    let row = pool.list_of(Sort::Range { lo: 0, hi: 9 });
    let rows = pool.list_of(Sort::Collection(row));
    let (_, rows) = pool.declare_term("rows", Sort::Collection(rows));
    let (size, first) = (pool.operate(TermOp::Size, vec![rows]), pool.int(0));
    let row = pool.operate(TermOp::At, vec![rows, first]);
    let (inner, zero) = (pool.operate(TermOp::Size, vec![row]), pool.int(0));
    let sum = pool.operate(TermOp::Sum, vec![row]);
    let nine = pool.int(9);
    let most = pool.mul2(nine, inner);
    let facts = [pool.lt(zero, size), pool.lt(most, sum)];
    assert_eq!(
        build_stack(&SolverConfig::default()).check(&mut pool, &facts),
        SolverAnswer::Unknown(UnknownReason::Nested)
    );
}

#[test]
fn a_term_under_a_quantifier_is_not_one_unknown() {
    // For all i in 0..3: xs[i] == i, which [0, 1, 2, 3] satisfies.
    let mut pool = TermPool::new();
    let (var, xs) = list(&mut pool);
    let (i_var, i) = pool.declare_term("i", Sort::Range { lo: 0, hi: 3 });
    let at = pool.operate(TermOp::At, vec![xs, i]);
    let same = pool.eq(at, i);
    let all = pool.forall(&[i_var], same);
    let size = pool.operate(TermOp::Size, vec![xs]);
    let four = pool.int(4);
    let facts = [all, pool.eq(size, four)];
    let found = build_stack(&SolverConfig::default()).check(&mut pool, &facts).valuation();
    let value = found.and_then(|found| found.get(var).map(|value| pool.show_value(value)));
    assert_eq!(value.as_deref(), Some("[0, 1, 2, 3]"));
}

#[test]
fn an_equation_fixes_a_list_of_any_length() {
    let mut pool = TermPool::new();
    let (var, xs) = list(&mut pool);
    let Sort::Collection(id) = pool.var_info(var).sort else { panic!("a list") };
    let items: Vec<Term> = (0..60).map(|n| pool.int(n % 10)).collect();
    let long = pool.list(id, items);
    let equation = pool.eq(xs, long);
    let found = build_stack(&SolverConfig::default()).check(&mut pool, &[equation]).valuation();
    let length = found.and_then(|found| found.get(var).and_then(Value::as_collection).map(|list| list.len()));
    assert_eq!(length, Some(60));
}
