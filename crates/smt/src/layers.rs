//! Layers: solvers in front of solvers. Most questions end in one of them.
//!
//! Each layer answers what it can prove or witness itself and hands on the rest, so
//! they stack in any order; [`stack`](crate::stack) has the order that pays.

pub mod cache;
pub mod count;
pub mod forall;
pub mod interval;
pub mod normalise;
mod pigeons;
pub mod scalar;
pub mod shape;
pub mod validate;
pub mod witness;
