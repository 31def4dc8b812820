//! The `ioxide` program: flags and files in, exit status out.

/// As the macro of the standard library, which panics where stderr is closed or its disk is full: then nobody can be
/// told, and nothing else changes.
macro_rules! eprint {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stderr(), $($words)*);
    }};
}

/// As [`eprint`], with the end of a line.
macro_rules! eprintln {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod args;
mod commands;
mod deadline;
mod exit;
mod html;
mod interrupt;
mod limit;
mod load;
mod machine;
mod mutant_file;
mod progress;
mod project;
mod purpose_search;
mod record;
mod record_folder;
mod regressions;
mod render;
mod seed;
mod session;
mod solver;
mod system;
mod timing;
mod unit_command;
mod write;

use clap::Parser;

fn main() -> std::process::ExitCode {
    limit::start();
    let args = args::CliArgs::parse();
    let outcome = std::panic::catch_unwind(|| commands::run(args));
    exit::finish(outcome)
}
