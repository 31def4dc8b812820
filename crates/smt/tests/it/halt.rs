//! Tests of `halt`.

use ioxide_model::term::TermPool;

use ioxide_smt::halt::{AfterAsks, Halt, Halted};
use ioxide_smt::solver::{Solver, SolverAnswer, SolverDecision, UnknownReason};
use ioxide_smt::stack::{BackendChoice, SolverConfig, build_stack};

#[test]
fn the_first_of_two_signals_counts() {
    let patient = || Halt::new(AfterAsks::new(100));
    let both = |one: &Halt, other: &Halt| one.either(other).halt_reason();
    assert_eq!(both(&patient(), &Halt::new(AfterAsks::new(0))), Some(Halted::Time));
    assert_eq!(both(&Halt::new(AfterAsks::new(0)), &patient()), Some(Halted::Time));
    assert_eq!(both(&Halt::new(AfterAsks::new(0)), &Halt::default()), Some(Halted::Time));
    assert_eq!(both(&patient(), &patient()), None);
    assert_eq!(both(&Halt::default(), &Halt::default()), None);
}

#[test]
fn nothing_is_answered_once_the_command_has_to_end() {
    let mut pool = TermPool::new();
    let tt = pool.tt();
    let halt = Halt::new(AfterAsks::new(1));
    let mut solver =
        build_stack(&SolverConfig { backend: BackendChoice::None, halt, ..SolverConfig::default() });
    assert_eq!(solver.decide(&mut pool, &[tt]), SolverDecision::Sat);
    assert_eq!(solver.decide(&mut pool, &[tt]), SolverDecision::Unknown(UnknownReason::Limit));
    assert_eq!(solver.check(&mut pool, &[tt]), SolverAnswer::Unknown(UnknownReason::Limit));
    assert_eq!(solver.halt().halt_reason(), Some(Halted::Time));
}

#[test]
fn a_signal_counts_only_as_long_as_it_is_given() {
    let mut pool = TermPool::new();
    let tt = pool.tt();
    let mut solver = build_stack(&SolverConfig { backend: BackendChoice::None, ..SolverConfig::default() });
    let before = solver.restrict(Halt::new(AfterAsks::new(0)));
    assert_eq!(solver.decide(&mut pool, &[tt]), SolverDecision::Unknown(UnknownReason::Limit));
    solver.restrict(before);
    assert_eq!(solver.decide(&mut pool, &[tt]), SolverDecision::Sat);
}
