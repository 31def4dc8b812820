//! Tests of symbolic execution against explicit execution.

mod examples;
mod systems;
