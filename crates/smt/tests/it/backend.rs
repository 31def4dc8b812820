//! Tests of `backend`.

use ioxide_smt::solver::Solver;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;

use ioxide_smt::backend::{Backend, IncrementalSolver, Stopper};
use ioxide_smt::halt::{Halt, Halted, Signal};
use ioxide_smt::solver::{SolverDecision, SolverLimits, UnknownReason};

/// A back-end that never answers in time and records how much time it was given.
struct Slow(Arc<Mutex<Vec<Duration>>>);

impl Backend for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn push(&mut self) -> Result<(), UnknownReason> {
        Ok(())
    }

    fn pop(&mut self, _n: usize) -> Result<(), UnknownReason> {
        Ok(())
    }

    fn declare(&mut self, _pool: &TermPool, _var: VarId) -> Result<(), UnknownReason> {
        Ok(())
    }

    fn assert(&mut self, _pool: &TermPool, _fact: Term) -> Result<(), UnknownReason> {
        Ok(())
    }

    fn check(&mut self, limits: SolverLimits) -> SolverDecision {
        self.0.lock().expect("one thread").push(limits.wall);
        SolverDecision::Unknown(UnknownReason::Time)
    }

    fn values(&mut self, _pool: &TermPool, _vars: &[VarId]) -> Result<Valuation, UnknownReason> {
        Err(UnknownReason::Time)
    }

    fn stopper(&self) -> Stopper {
        Box::new(|| ())
    }

    fn renew(&mut self) {}
}

/// A hundred questions that run into a limit of 32 s used to take 3200 s; now they take 348.
#[test]
fn the_limit_of_a_question_bounds_all_questions() {
    let mut pool = TermPool::new();
    let (_, fact) = pool.declare_term("a", Sort::Bool);
    let granted = Arc::new(Mutex::new(Vec::new()));
    let limits = SolverLimits { wall: Duration::from_secs(32), steps: None };
    let mut solver = IncrementalSolver::new(Slow(Arc::clone(&granted)), limits);
    for _ in 0..100 {
        assert_eq!(solver.decide(&mut pool, &[fact]), SolverDecision::Unknown(UnknownReason::Time));
    }
    let granted = granted.lock().expect("one thread");
    assert!(granted[..8].iter().all(|wall| *wall == Duration::from_secs(32)));
    assert!(granted[8..].iter().all(|wall| *wall == Duration::from_secs(1)));
}

/// A limit that has passed.
struct Over;

impl Signal for Over {
    fn halt_reason(&self) -> Option<Halted> {
        Some(Halted::Time)
    }

    fn time_left(&self) -> Option<Duration> {
        Some(Duration::ZERO)
    }
}

#[test]
fn nothing_is_asked_after_the_end() {
    let mut pool = TermPool::new();
    let (_, fact) = pool.declare_term("a", Sort::Bool);
    let granted = Arc::new(Mutex::new(Vec::new()));
    let limits = SolverLimits { wall: Duration::from_secs(32), steps: None };
    let solver = IncrementalSolver::new(Slow(Arc::clone(&granted)), limits);
    let decision = solver.with_halt(Halt::new(Over)).decide(&mut pool, &[fact]);
    assert_eq!(decision, SolverDecision::Unknown(UnknownReason::Time));
    assert!(granted.lock().expect("one thread").is_empty());
}
