//! One module per command: load, call, show.

mod adapter;
pub mod bench;
#[doc(hidden)]
pub mod campaign;
mod case;
mod check;
mod complete;
mod conform;
#[doc(hidden)]
pub mod demo;
mod diff;
mod doctor;
mod explain;
mod explore;
mod fmt;
mod fsm;
#[doc(hidden)]
pub mod init;
pub mod judge;
pub mod kill;
#[doc(hidden)]
pub mod learn;
mod lsp;
mod manual;
pub mod merge;
pub mod mutate;
pub mod purposes;
pub mod repair;
mod replay;
mod report;
mod requirements;
mod rounds;
mod schema;
mod score;
mod show;
mod step;
mod sut;
#[doc(hidden)]
pub mod test;
mod traces;
mod watch;

use ioxide_args::{CliArgs, CliCommand};

use self::bench::BenchHost;
use crate::exit::{CliError, ExitStatus};

/// Runs the command of the command line.
pub fn run_command(args: CliArgs, host: &BenchHost<'_>) -> Result<ExitStatus, CliError> {
    match args.command {
        CliCommand::Demo(args) => demo::run(&args),
        CliCommand::Init(args) => init::run(&args),
        CliCommand::Check(args) => check::run(&args),
        CliCommand::Fmt(args) => fmt::run(&args),
        CliCommand::Explain(args) => explain::run(&args),
        CliCommand::Show(args) => show::run(&args),
        CliCommand::Step(args) => step::run(&args),
        CliCommand::Explore(args) => explore::run(&args),
        CliCommand::Sut(args) => sut::run(&args),
        CliCommand::Test(args) => test::run(&args),
        CliCommand::Replay(args) => replay::run(&args),
        CliCommand::Shrink(args) => replay::shrink(&args),
        CliCommand::Report(args) => report::run(&args),
        CliCommand::Merge(args) => merge::run(&args, host),
        CliCommand::Campaign(args) => campaign::run(&args, host),
        CliCommand::Judge(args) => judge::run(&args),
        CliCommand::Repair(args) => repair::run(&args),
        CliCommand::Requirements(args) => requirements::run(&args),
        CliCommand::Purposes(args) => purposes::run(&args),
        CliCommand::Case(args) => case::run(&args),
        CliCommand::Complete(args) => complete::run(&args),
        CliCommand::Fsm(args) => fsm::run(&args),
        CliCommand::Learn(args) => learn::run(&args),
        CliCommand::Lsp(_) => lsp::run(),
        CliCommand::Watch(args) => watch::run(&args),
        CliCommand::Doctor(args) => doctor::run(&args),
        CliCommand::Completions(args) => manual::completions(&args),
        CliCommand::Man(args) => manual::man(&args),
        CliCommand::Schema(args) => schema::run(&args),
        CliCommand::Diff(args) => diff::run(&args),
        CliCommand::Conform(args) => conform::run(&args),
        CliCommand::Refine(args) => traces::refine(&args),
        CliCommand::Equiv(args) => traces::equiv(&args),
        CliCommand::Mutate(args) => mutate::run(&args),
        CliCommand::Kill(args) => kill::run(&args),
        CliCommand::Score(args) => score::run(&args),
        CliCommand::Adapter(args) => adapter::run(&args),
        CliCommand::Bench(args) => host.enter()?.run(&args),
    }
}
