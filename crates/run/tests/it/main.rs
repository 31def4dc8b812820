//! Tests of campaigns through the public functions of the crate.

#[path = "../../../testgen/tests/it/common.rs"]
mod common;
mod force;
mod game;
mod hunt;
mod kill;
mod looks;
mod timed;
