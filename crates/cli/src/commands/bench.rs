//! `ioxide bench`: the project's measurements, repeatable.

mod atm;
mod brp;
mod campaign;
mod compose;
mod conform;
mod counter;
mod data;
mod faults;
mod first_step;
mod fsm;
mod kill;
mod learn;
mod lsp;
mod memory;
mod mutants;
mod online;
mod scale;
mod trees;
mod truth;

use crate::args::{Bench, BenchName};
use crate::exit::{ExitStatus, Stop};

/// Runs the wanted measurement.
pub fn run(args: &Bench) -> Result<ExitStatus, Stop> {
    match args.name {
        BenchName::Atm => atm::run(args),
        BenchName::Brp => brp::run(args),
        BenchName::Campaign => campaign::run(args),
        BenchName::Compose => compose::run(args),
        BenchName::Conform => conform::run(args),
        BenchName::Counter => counter::run(args),
        BenchName::Data => data::run(args),
        BenchName::Faults => faults::run(args),
        BenchName::FirstStep => first_step::run(args),
        BenchName::Fsm => fsm::run(args),
        BenchName::Kill => kill::run(args),
        BenchName::Learn => learn::run(args),
        BenchName::Lsp => lsp::run(args),
        BenchName::Mutants => mutants::run(args),
        BenchName::Online => online::run(args),
        BenchName::Scale => scale::run(args),
        BenchName::Trees => trees::run(args),
        BenchName::Truth => truth::run(args),
    }
}
