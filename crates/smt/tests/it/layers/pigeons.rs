//! Tests of `layers::pigeons`.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool};
use proptest::prelude::*;

use ioxide_smt::brute::BruteSolver;
use ioxide_smt::layers::witness::WitnessLayer;
use ioxide_smt::solver::{NoSolver, Solver, SolverDecision};

/// `n` variables within `0..last`, and that those of `pairs` differ.
fn facts(pool: &mut TermPool, n: usize, last: i64, pairs: &[(usize, usize)]) -> Vec<Term> {
    let sort = Sort::Range { lo: 0, hi: last };
    let vars: Vec<Term> = (0..n).map(|at| pool.declare_term(&format!("k{at}"), sort).1).collect();
    let differ = |pool: &mut TermPool, &(a, b): &(usize, usize)| {
        let equal = pool.eq(vars[a], vars[b]);
        pool.not(equal)
    };
    pairs.iter().map(|pair| differ(pool, pair)).collect()
}

fn all_pairs(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|a| (0..a).map(move |b| (a, b))).collect()
}

#[test]
fn one_key_more_than_there_are_is_refuted_without_a_solver() {
    for n in [2, 8, 33, 100] {
        let mut pool = TermPool::new();
        let last = i64::try_from(n).expect("it is small") - 2;
        let facts = facts(&mut pool, n, last, &all_pairs(n));
        assert_eq!(WitnessLayer::new(NoSolver).decide(&mut pool, &facts), SolverDecision::Unsat, "{n}");
    }
}

proptest! {
    /// Cross-check: refuted facts have no solution among all values.
    #[test]
    fn what_is_refuted_has_no_solution(
        last in 0i64..4,
        pairs in prop::collection::vec((0usize..5, 0usize..5), 0..12),
    ) {
        let pairs: Vec<(usize, usize)> = pairs.into_iter().filter(|(a, b)| a != b).collect();
        let mut pool = TermPool::new();
        let facts = facts(&mut pool, 5, last, &pairs);
        let layers = WitnessLayer::new(NoSolver).decide(&mut pool, &facts);
        let brute = BruteSolver::default().decide(&mut pool, &facts);
        if layers == SolverDecision::Unsat {
            prop_assert_eq!(brute, SolverDecision::Unsat);
        }
    }
}
