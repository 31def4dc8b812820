//! The `ioxide` program: flags and files in, exit status out.

mod args;
mod commands;
mod deadline;
mod exit;
mod html;
mod limit;
mod load;
mod machine;
mod progress;
mod project;
mod record;
mod regressions;
mod render;
mod seed;
mod session;
mod solver;
mod system;
mod timing;

use clap::Parser;

fn main() -> std::process::ExitCode {
    limit::start();
    let args = args::Args::parse();
    let outcome = std::panic::catch_unwind(|| commands::run(args));
    exit::finish(outcome)
}
