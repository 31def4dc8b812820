//! One module per command: load, call, show.

mod adapter;
mod bench;
mod campaign;
mod case;
mod check;
mod complete;
mod conform;
mod demo;
mod diff;
mod doctor;
mod explain;
mod explore;
mod fmt;
mod fsm;
mod init;
mod judge;
mod kill;
mod learn;
mod lsp;
mod manual;
mod merge;
pub mod mutate;
pub mod purposes;
mod replay;
mod report;
mod rounds;
mod schema;
mod score;
mod show;
mod step;
mod sut;
mod test;
mod traces;
mod watch;

use crate::args::{Args, Command};
use crate::exit::{ExitStatus, Stop};

/// Does what was asked.
pub fn run(args: Args) -> Result<ExitStatus, Stop> {
    match args.command {
        Command::Demo(args) => demo::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Step(args) => step::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Sut(args) => sut::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Shrink(args) => replay::shrink(&args),
        Command::Report(args) => report::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Campaign(args) => campaign::run(&args),
        Command::Judge(args) => judge::run(&args),
        Command::Purposes(args) => purposes::run(&args),
        Command::Case(args) => case::run(&args),
        Command::Complete(args) => complete::run(&args),
        Command::Fsm(args) => fsm::run(&args),
        Command::Learn(args) => learn::run(&args),
        Command::Lsp(_) => lsp::run(),
        Command::Watch(args) => watch::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Completions(args) => manual::completions(&args),
        Command::Man(args) => manual::man(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Conform(args) => conform::run(&args),
        Command::Refine(args) => traces::refine(&args),
        Command::Equiv(args) => traces::equiv(&args),
        Command::Mutate(args) => mutate::run(&args),
        Command::Kill(args) => kill::run(&args),
        Command::Score(args) => score::run(&args),
        Command::Adapter(args) => adapter::run(&args),
        Command::Bench(args) => bench::run(&args),
    }
}
