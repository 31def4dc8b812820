//! Tests of `z3`.

mod locate;
mod watchdog;
