//! Tests of symbolic execution against explicit execution.

mod examples;
mod proofs;
mod systems;
