//! Every solver and layer against enumeration, on random facts.

use crate::common::{Terms, Theme, agree};
use ioxide_model::term::Term;
use ioxide_smt::brute::BruteSolver;
use ioxide_smt::layers::cache::CacheLayer;
use ioxide_smt::layers::forall::{ForallLayer, eliminate};
use ioxide_smt::layers::normalise::NormaliseLayer;
use ioxide_smt::layers::scalar::ScalarLayer;
use ioxide_smt::layers::validate::ValidateLayer;
use ioxide_smt::layers::witness::WitnessLayer;
use ioxide_smt::smtlib::{process, write};
use ioxide_smt::solver::{NoSolver, Solver, SolverDecision, SolverLimits};
use ioxide_smt::stack::{BackendChoice, SolverConfig, build_stack};
use ioxide_smt::z3;
use proptest::prelude::*;

const FINITE: [Theme; 3] = [Theme::Small, Theme::Data, Theme::Quantified];

/// Enough for most quantified questions; the others stay open.
const QUICK: SolverLimits = SolverLimits { wall: std::time::Duration::from_millis(200), steps: None };

/// Asks `solver` a run of questions that share prefixes, as a search does.
fn run(who: &str, solver: &mut dyn Solver, theme: Theme, seed: u64, complete: bool) {
    let mut terms = Terms::new(theme, seed);
    let mut path: Vec<Term> = Vec::new();
    for step in 0..8u64 {
        let facts = terms.facts(3);
        path.truncate((seed >> (3 * step) & 3) as usize);
        path.extend(facts);
        // Over infinite domains enumeration only finds, and finds early or not at all.
        let steps = if theme == Theme::Infinite { 2_000 } else { 1_000_000 };
        let truth = BruteSolver::with_max_steps(steps).check(&mut terms.pool, &path);
        agree(who, solver, &truth, &mut terms, &path, complete);
    }
}

fn words(command: &[&str]) -> Vec<String> {
    command.iter().map(|word| (*word).to_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn z3_agrees_with_enumeration(seed: u64) {
        if let Ok(mut solver) = z3::solver(SolverLimits::default()) {
            run("z3", &mut solver, Theme::Small, seed, true);
        }
        for theme in [Theme::Data, Theme::Quantified, Theme::Infinite] {
            if let Ok(solver) = z3::solver(QUICK) {
                run("scalar z3", &mut ScalarLayer::new(solver), theme, seed, theme != Theme::Infinite);
            }
        }
    }

    #[test]
    fn the_stack_agrees_with_enumeration(seed: u64) {
        let with_z3 = z3::load_library().is_ok();
        for theme in FINITE {
            run("stack", &mut build_stack(&SolverConfig::default()), theme, seed, with_z3);
        }
        let config = SolverConfig { limits: QUICK, ..SolverConfig::default() };
        run("stack", &mut build_stack(&config), Theme::Infinite, seed, false);
    }

    #[test]
    fn the_stack_without_solver_never_contradicts(seed: u64) {
        let config = SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() };
        for theme in [Theme::Small, Theme::Data, Theme::Quantified, Theme::Infinite] {
            run("bare stack", &mut build_stack(&config), theme, seed, false);
        }
    }

    #[test]
    fn layers_over_enumeration_agree_with_it(seed: u64) {
        for theme in FINITE {
            run("scalar", &mut ScalarLayer::new(BruteSolver::new()), theme, seed, false);
            run("witness", &mut WitnessLayer::new(BruteSolver::new()), theme, seed, true);
            run("forall", &mut ForallLayer::new(BruteSolver::new()), theme, seed, true);
            run("normalise", &mut NormaliseLayer::new(BruteSolver::new()), theme, seed, true);
            run("cache", &mut NormaliseLayer::new(CacheLayer::new(BruteSolver::new(), 4)), theme, seed, true);
            run("validate", &mut ValidateLayer::new(BruteSolver::new()), theme, seed, true);
        }
    }

    #[test]
    fn layers_alone_never_contradict(seed: u64) {
        for theme in [Theme::Small, Theme::Data, Theme::Quantified, Theme::Infinite] {
            run("witness", &mut WitnessLayer::new(NoSolver), theme, seed, false);
            run("forall", &mut ForallLayer::new(WitnessLayer::new(NoSolver)), theme, seed, false);
        }
    }

    #[test]
    fn elimination_keeps_the_meaning(seed: u64) {
        for theme in [Theme::Quantified, Theme::Infinite] {
            let Ok(solver) = z3::solver(QUICK) else { return Ok(()) };
            let mut solver = ScalarLayer::new(solver);
            let mut terms = Terms::new(theme, seed);
            for fact in terms.facts(4) {
                let image = eliminate(&mut terms.pool, fact);
                let differs = terms.pool.ne(fact, image);
                let shown = (terms.pool.show(fact).to_string(), terms.pool.show(image).to_string());
                prop_assert!(solver.decide(&mut terms.pool, &[differs]) != SolverDecision::Sat, "{shown:?}");
            }
        }
    }
}

#[test]
fn a_solver_process_agrees_with_enumeration() {
    for command in [&["z3", "-in"][..], &["cvc5", "--incremental"]] {
        if ioxide_test_support::has_program(command[0]) {
            for seed in 0..12 {
                let mut solver = process::solver(&words(command), SolverLimits::default());
                run(command[0], &mut solver, Theme::Small, seed * 0x9e37_79b9, true);
                let mut solver = ScalarLayer::new(process::solver(&words(command), SolverLimits::default()));
                run(command[0], &mut solver, Theme::Quantified, seed * 0x9e37_79b9, command[0] == "z3");
            }
        }
    }
}

/// The exported text, data types and all, means the same to a solver that reads it.
#[test]
fn exported_scripts_agree_with_enumeration() {
    if !ioxide_test_support::has_program("z3") {
        return;
    }
    for seed in 0..60 {
        let mut terms = Terms::new(FINITE[seed as usize % 3], seed);
        let facts = terms.facts(3);
        let script = write::write_script(&terms.pool, &facts).expect("no patterns");
        let expected = match BruteSolver::new().decide(&mut terms.pool, &facts) {
            SolverDecision::Sat => "sat",
            SolverDecision::Unsat => "unsat",
            SolverDecision::Unknown(why) => panic!("{why}"),
        };
        assert_eq!(ask_z3(&script).lines().next(), Some(expected), "{script}");
    }
}

fn ask_z3(script: &str) -> String {
    use std::io::Write as _;
    let mut command = std::process::Command::new("z3");
    let piped = std::process::Stdio::piped;
    let mut child = command.arg("-in").stdin(piped()).stdout(piped()).spawn().expect("z3 starts");
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("z3 reads");
    String::from_utf8(child.wait_with_output().expect("z3 ends").stdout).expect("text")
}
