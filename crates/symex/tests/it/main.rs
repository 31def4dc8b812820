//! Tests of symbolic execution against explicit execution.

mod dead_ends;
mod enumeration;
mod examples;
mod orders;
mod proofs;
mod stopped;
mod symmetry;
mod systems;
