//! Tests of `diverse`.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use ioxide_smt::brute::BruteSolver;
use ioxide_smt::diverse::{DiversePolicy, DiverseValuations};
use ioxide_smt::layers::witness::WitnessLayer;
use ioxide_smt::solver::SolverLimits;
use ioxide_smt::stack::{SolverConfig, build_stack};
use ioxide_smt::z3;

/// Six numbers in 0..=1000 with one equation, one disequation and one disjunction.
fn mixed(pool: &mut TermPool) -> (Vec<Term>, Vec<VarId>) {
    let sort = Sort::Range { lo: 0, hi: 1000 };
    let vars: Vec<VarId> = (0..6).map(|at| pool.declare(&format!("x{at}"), sort)).collect();
    let x: Vec<Term> = vars.iter().map(|&var| pool.var(var)).collect();
    let (sum, n) = (pool.add([x[0], x[1], x[2]]), pool.int(1500));
    let (equation, apart) = (pool.eq(sum, n), pool.ne(x[3], x[4]));
    let (a, b) = (pool.lt(x[4], x[5]), pool.lt(x[5], x[0]));
    let either = pool.or2(a, b);
    (vec![equation, apart, either], vars)
}

fn take(
    pool: &mut TermPool,
    facts: &[Term],
    vars: &[VarId],
    policy: DiversePolicy,
    seed: u64,
    n: usize,
) -> Vec<Valuation> {
    let mut solver = build_stack(&SolverConfig::default());
    let mut source = DiverseValuations::new(pool, facts, vars, policy, seed);
    (0..n).map_while(|_| source.next(pool, &mut solver)).collect()
}

#[test]
fn random_valuations_hold_differ_and_repeat_with_the_seed() {
    let mut pool = TermPool::new();
    let (facts, vars) = mixed(&mut pool);
    let all = take(&mut pool, &facts, &vars, DiversePolicy::Random, 7, 100);
    assert_eq!(all.len(), 100);
    for valuation in &all {
        assert!(facts.iter().all(|&fact| pool.holds(fact, valuation) == Ok(true)));
    }
    let mut distinct = all.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 100);
    // Each variable is seen in the lower and in the upper part of its range.
    for &var in &vars {
        let values: Vec<&Value> = all.iter().filter_map(|valuation| valuation.get(var)).collect();
        assert!(values.iter().any(|value| **value < Value::int(400)), "{var:?}");
        assert!(values.iter().any(|value| **value > Value::int(600)), "{var:?}");
    }
    let mut again = TermPool::new();
    let (facts, vars) = mixed(&mut again);
    assert_eq!(take(&mut again, &facts, &vars, DiversePolicy::Random, 7, 100), all);
}

#[test]
fn a_finite_set_is_given_out_completely() {
    let mut pool = TermPool::new();
    let (x, x_term) = pool.declare_term("x", Sort::Range { lo: 0, hi: 9 });
    let (three, zero) = (pool.int(3), pool.int(0));
    let rest = pool.rem(x_term, three);
    let fact = pool.eq(rest, zero);
    let mut all = take(&mut pool, &[fact], &[x], DiversePolicy::Random, 1, 20);
    all.sort();
    let expected: Vec<Valuation> = [0, 3, 6, 9].map(|n| Valuation::from_iter([(x, Value::int(n))])).into();
    assert_eq!(all, expected);
}

#[test]
fn boundaries_are_bounds_and_neighbours_of_constants() {
    let mut pool = TermPool::new();
    let (x, x_term) = pool.declare_term("x", Sort::Range { lo: 1, hi: 100 });
    let fifty = pool.int(50);
    let fact = pool.ne(x_term, fifty);
    let mut all: Vec<i64> = take(&mut pool, &[fact], &[x], DiversePolicy::Boundary, 1, 20)
        .iter()
        .filter_map(|valuation| valuation.get(x)?.as_int()?.to_i64())
        .collect();
    all.sort_unstable();
    assert_eq!(all, [1, 49, 51, 100]);
}

#[test]
fn three_numbers_have_five_patterns() {
    for upper in [5, 1] {
        let mut pool = TermPool::new();
        let vars: Vec<VarId> =
            ["x", "y", "z"].map(|name| pool.declare(name, Sort::Range { lo: 0, hi: upper })).into();
        let mut source = DiverseValuations::new(&pool, &[], &vars, DiversePolicy::Patterns, 0);
        let mut solver = WitnessLayer::new(BruteSolver::new());
        let mut n = 0;
        while source.next(&mut pool, &mut solver).is_some() {
            n += 1;
        }
        // With two values, three cannot all differ.
        assert_eq!(n, if upper == 5 { 5 } else { 4 });
    }
}

#[test]
fn variables_of_different_sorts_are_never_equal() {
    let mut pool = TermPool::new();
    let vars = [pool.declare("n", Sort::Int), pool.declare("s", Sort::Str), pool.declare("t", Sort::Str)];
    let Ok(mut solver) = z3::solver(SolverLimits::default()) else { return };
    let mut source = DiverseValuations::new(&pool, &[], &vars, DiversePolicy::Patterns, 0);
    assert!(source.next(&mut pool, &mut solver).is_some_and(|it| it.get(vars[1]) == it.get(vars[2])));
    assert!(source.next(&mut pool, &mut solver).is_some_and(|it| it.get(vars[1]) != it.get(vars[2])));
    assert_eq!(source.next(&mut pool, &mut solver), None);
}

#[test]
fn unsatisfiable_facts_have_no_valuation() {
    for policy in [DiversePolicy::Random, DiversePolicy::Boundary, DiversePolicy::Patterns] {
        let mut pool = TermPool::new();
        let (x, x_term) = pool.declare_term("x", Sort::Range { lo: 0, hi: 9 });
        let ten = pool.int(10);
        let fact = pool.lt(ten, x_term);
        assert!(take(&mut pool, &[fact], &[x], policy, 0, 1).is_empty(), "{policy:?}");
    }
}
