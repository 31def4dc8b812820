//! Decides formulas: the [`Solver`](solver::Solver) trait, its back-ends and the layers
//! in front of them.
//!
//! Most questions of a symbolic execution are easy, so they end in a layer: a cached
//! answer, a valuation of a neighbour that still holds, an empty interval. The rest goes
//! to Z3 in this process or to any SMT-LIB solver as a child process. Every valuation is
//! re-evaluated before it is handed out, and what is not decided is
//! [`Unknown`](solver::SolverAnswer::Unknown), which is never a proof.

pub mod backend;
pub mod brute;
pub mod diverse;
mod form;
pub mod halt;
pub mod layers;
mod regex;
pub mod scripted;
mod small_fraction;
pub mod smtlib;
pub mod solver;
pub mod stack;
pub mod tally;
pub mod z3;
