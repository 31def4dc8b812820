//! Tests of the solvers against each other.

mod agree;
mod collections;
mod common;
#[path = "../../../cli/tests/it/need.rs"]
mod need;
mod robust;
