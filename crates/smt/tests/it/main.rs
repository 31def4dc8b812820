//! Tests of the solvers against each other.

mod agree;
mod collections;
mod common;
mod robust;
mod texts;
