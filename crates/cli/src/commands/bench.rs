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

use clap::ValueEnum as _;
use ioxide_campaign::gather::GatheredParts;

use crate::args::{BenchArgs, BenchName, MergeArgs};
use crate::exit::{EarlyStop, ExitStatus};
use crate::unit_command;

/// Runs the wanted measurement, or shows its plan, or does a part of it.
pub fn run(args: &BenchArgs) -> Result<ExitStatus, EarlyStop> {
    match (args.part.is_planned(), args.name) {
        (true, BenchName::Faults) => faults::parts::run(args),
        (true, name) => {
            let name = name.to_possible_value().map(|name| name.get_name().to_owned()).unwrap_or_default();
            Err(EarlyStop::usage(format!(
                "`bench {name}` has no parts: its rows are times, or are compared with each other, so one machine takes them all"
            ))
            .help("`bench faults`, which counts steps, has a unit for every fault; for this one, begin `ioxide bench` anywhere"))
        }
        (false, _) => {
            unit_command::whole(&args.part)?;
            whole(args)
        }
    }
}

/// Puts the rows of a measurement together.
pub fn merged(args: &BenchArgs, parts: &mut GatheredParts, to: &MergeArgs) -> Result<ExitStatus, EarlyStop> {
    faults::parts::merged(args, parts, to)
}

fn whole(args: &BenchArgs) -> Result<ExitStatus, EarlyStop> {
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
