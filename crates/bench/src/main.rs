//! The `ioxide-bench` program: `ioxide` with the measurements of `docs/measurements` in it, repeatable.
//!
//! One module per measurement. Each compares side by side in one run; its figures are shown, or written as JSON.

mod atm;
mod brp;
mod campaign;
mod compose;
mod conform;
mod counter;
mod data;
mod dispatch;
mod embedded;
mod faults;
mod first_step;
mod fsm;
mod histories;
mod kill;
mod learn;
mod live;
mod lsp;
mod memory;
mod mutants;
mod online;
mod repair;
mod reproduce;
mod scale;
mod statistics;
mod trees;
mod truth;

use ioxide_cli::{BenchHost, program};

use self::dispatch::Measurements;

/// Runs the program with the measurements in it.
fn main() -> std::process::ExitCode {
    program(&BenchHost::Here(&Measurements))
}
