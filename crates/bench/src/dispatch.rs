//! Dispatch of the measurement that was requested, whole or in parts.

use clap::ValueEnum as _;
use ioxide_args::{BenchArgs, BenchName, MergeArgs};
use ioxide_campaign::gather::GatheredParts;
use ioxide_cli::commands::bench::Benches;
use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_cli::unit_command;

use crate::{
    atm, brp, campaign, compose, conform, counter, data, faults, first_step, fsm, histories, kill, learn,
    live, lsp, mutants, online, repair, reproduce, scale, trees, truth,
};

/// The measurements of this program.
pub struct Measurements;

impl Benches for Measurements {
    fn run(&self, args: &BenchArgs) -> Result<ExitStatus, CliError> {
        match (args.part.is_planned(), args.name) {
            (true, BenchName::Faults) => faults::parts::measure_part(args),
            (true, name) => {
                let name =
                    name.to_possible_value().map(|name| name.get_name().to_owned()).unwrap_or_default();
                Err(CliError::usage(format!(
                    "`bench {name}` has no parts: its rows are times, or are compared with each other, so one \
                     machine takes them all"
                ))
                .help("`bench faults`, which counts steps, has a unit for every fault; for this one, begin \
                       `ioxide bench` anywhere"))
            }
            (false, _) => {
                unit_command::whole(&args.part)?;
                run_bench(args)
            }
        }
    }

    fn merge_rows(
        &self,
        args: &BenchArgs,
        parts: &mut GatheredParts,
        merge_args: &MergeArgs,
    ) -> Result<ExitStatus, CliError> {
        faults::parts::merge_rows(args, parts, merge_args)
    }
}

fn run_bench(args: &BenchArgs) -> Result<ExitStatus, CliError> {
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
        BenchName::Histories => histories::run(args),
        BenchName::Kill => kill::run(args),
        BenchName::Learn => learn::run(args),
        BenchName::Live => live::run(args),
        BenchName::Lsp => lsp::run(args),
        BenchName::Mutants => mutants::run(args),
        BenchName::Online => online::run(args),
        BenchName::Repair => repair::run(args),
        BenchName::Reproduce => reproduce::run(args),
        BenchName::Scale => scale::run(args),
        BenchName::Trees => trees::run(args),
        BenchName::Truth => truth::run(args),
    }
}
