//! Every solver and layer against enumeration, on random facts.

mod common;

use common::{Terms, Theme, agree};
use ioxide_smt::brute::Brute;
use ioxide_smt::layers::scalar::Scalar;
use ioxide_smt::smtlib::process;
use ioxide_smt::solver::{Limits, Solver};
use ioxide_smt::z3;
use proptest::prelude::*;

fn have(program: &str) -> bool {
    std::process::Command::new(program).arg("--version").output().is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn z3_agrees_with_enumeration(seed: u64) {
        let Ok(mut solver) = z3::solver(Limits::default()) else { return Ok(()) };
        let mut terms = Terms::new(Theme::Small, seed);
        for _ in 0..4 {
            let facts = terms.facts(3);
            let truth = Brute::new().check(&mut terms.pool, &facts);
            agree("z3", &mut solver, &truth, &mut terms, &facts, true);
        }
    }

    #[test]
    fn scalar_facts_over_z3_agree_with_enumeration(seed: u64) {
        for theme in [Theme::Data, Theme::Quantified] {
            let Ok(solver) = z3::solver(Limits::default()) else { return Ok(()) };
            let mut solver = Scalar::new(solver);
            let mut terms = Terms::new(theme, seed);
            for _ in 0..4 {
                let facts = terms.facts(3);
                let truth = Brute::new().check(&mut terms.pool, &facts);
                agree("scalar z3", &mut solver, &truth, &mut terms, &facts, true);
            }
        }
    }

    #[test]
    fn scalar_facts_by_enumeration_agree_with_enumeration(seed: u64) {
        for theme in [Theme::Data, Theme::Quantified] {
            let mut terms = Terms::new(theme, seed);
            let mut solver = Scalar::new(Brute::new());
            for _ in 0..4 {
                let facts = terms.facts(3);
                let truth = Brute::new().check(&mut terms.pool, &facts);
                agree("scalar brute", &mut solver, &truth, &mut terms, &facts, false);
            }
        }
    }
}

#[test]
fn a_solver_process_agrees_with_enumeration() {
    for command in [&["z3", "-in"][..], &["cvc5", "--incremental"]] {
        if !have(command[0]) {
            continue;
        }
        let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
        for seed in 0..30 {
            let mut terms = Terms::new(Theme::Small, seed);
            let mut solver = process::solver(&command, Limits::default());
            let facts = terms.facts(3);
            let truth = Brute::new().check(&mut terms.pool, &facts);
            agree(&command[0], &mut solver, &truth, &mut terms, &facts, true);
        }
    }
}
