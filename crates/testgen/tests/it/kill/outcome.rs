//! Tests of [`ioxide_testgen::kill::outcome`].

use std::sync::atomic::{AtomicUsize, Ordering};

use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_smt::halt::Halt;
use ioxide_smt::stack::{BackendChoice, SolverConfig, SolverStack, build_stack};
use ioxide_symex::Ctx;
use ioxide_testgen::kill::outcome::MutantWork;
use ioxide_testgen::kill::{KillConfig, MutationAnalysis};
use ioxide_testgen::mutate::{MutationOperator, mutants};

fn solver() -> Box<SolverStack> {
    Box::new(build_stack(&SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() }))
}

/// Decides all mutants of a small model; the first `without` workers have no solver.
fn decide_all(jobs: usize, without: usize) -> Result<usize, &'static str> {
    let text = "model Count {\n input add(n: int)\n output sum(n: int)\n var x: int = 0\n state s {\n \
                t: on add when n > 0 { x = x + n } -> u\n }\n state u {\n r: emit sum(n: x) -> s\n }\n}\n";
    let mut sources = Sources::new();
    let file = sources.add("count.iox", text);
    let mut base = load(&sources, file, &LoadOptions::default()).model.expect("a model");
    let all = mutants(&mut base, &MutationOperator::ALL);
    assert!(all.len() > 3);
    let analysis = MutationAnalysis::new(&mut Ctx::new(&mut base, &mut *solver()), &KillConfig::default());
    let made = AtomicUsize::new(0);
    let make = || match made.fetch_add(1, Ordering::Relaxed) {
        n if n < without => Err("the solver is gone"),
        _ => Ok(solver()),
    };
    let work = MutantWork {
        base: &base,
        analysis: &analysis,
        mutants: &all,
        make: &make,
        is_interrupted: &|| false,
        halt_mutant: &Halt::default,
    };
    let mut n_told = 0;
    let outcomes = work.decide_in_parallel(jobs, vec![None; all.len()], &mut |_, _| {
        n_told += 1;
        Ok(())
    })?;
    assert_eq!(outcomes.iter().flatten().count(), n_told);
    Ok(all.len() - n_told)
}

/// Defect: workers without a solver ended silently, and mutants that nobody decided looked interrupted.
#[test]
fn mutants_without_a_worker_are_an_error_and_no_interrupt() {
    assert_eq!(decide_all(2, 2), Err("the solver is gone"));
    assert_eq!(decide_all(2, 1), Ok(0));
    assert_eq!(decide_all(2, 0), Ok(0));
}
