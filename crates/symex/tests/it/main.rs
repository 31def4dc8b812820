//! Tests of symbolic execution against explicit execution.

mod dead_ends;
mod examples;
mod proofs;
mod systems;
