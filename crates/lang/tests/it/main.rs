//! Tests of the front ends through their public functions.

mod actions;
mod behaviour;
mod bounded;
mod common;
mod corpus;
mod examples;
mod expressions;
mod fuzz;
mod import;
mod layout;
mod lexer;
mod literal;
mod lowering;
mod machines;
mod public_data;
mod ralib;
mod reported;
mod shared;
mod sink;
mod systems;
mod torxakis;
mod torxakis_any;
mod torxakis_semantics;
mod xlia;
