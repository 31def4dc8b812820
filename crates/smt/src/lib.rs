//! Decision of formulas: the [`Solver`](solver::Solver) trait, its back-ends and the layers in front of them.
//!
//! Most questions of a symbolic execution are easy, so they end in a layer: a cached
//! answer, a valuation of a neighbour that still holds, an empty interval. The rest goes
//! to Z3 in this process or to any SMT-LIB solver as a child process. Every valuation is
//! re-evaluated before it is handed out, and what is not decided is
//! [`Unknown`](solver::SolverAnswer::Unknown), which is never a proof.
//!
//! # Example
//!
//! ```
//! use ioxide_model::sort::Sort;
//! use ioxide_model::term::TermPool;
//! use ioxide_model::value::Value;
//! use ioxide_smt::brute::BruteSolver;
//! use ioxide_smt::solver::{Solver, SolverAnswer};
//!
//! let mut pool = TermPool::new();
//! let n = pool.declare("n", Sort::Range { lo: 0, hi: 9 });
//! let (x, seven) = (pool.var(n), pool.value(Value::int(7)));
//! let (above, below) = (pool.lt(seven, x), pool.lt(x, seven));
//! let mut solver = BruteSolver::new();
//! let SolverAnswer::Sat(values) = solver.check(&mut pool, &[above]) else { panic!("8 is above 7") };
//! assert_eq!(values.get(n), Some(&Value::int(8)));
//! assert_eq!(solver.check(&mut pool, &[above, below]), SolverAnswer::Unsat);
//! ```

pub mod backend;
pub mod brute;
pub mod diverse;
mod form;
pub mod halt;
pub mod layers;
#[doc(hidden)]
pub mod regex;
pub mod scripted;
#[doc(hidden)]
pub mod small_fraction;
pub mod smtlib;
pub mod solver;
pub mod stack;
pub mod tally;
pub mod z3;
