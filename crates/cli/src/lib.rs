//! The command line of ioxide as a library: flags and files in, exit status out.
//!
//! The program `ioxide` is [`program`] and nothing else. `ioxide-bench` is the same program with the measurements of
//! the project in it; it uses what the modules here make public, which is no interface for others.

/// The macro of the standard library, without secrets, and without its panic where stderr is closed or its disk is
/// full: the text is lost, and nothing else changes.
macro_rules! eprint {
    ($($words:tt)*) => {
        crate::redaction::to_stderr(format_args!($($words)*))
    };
}

/// As [`eprint`], with the end of a line.
macro_rules! eprintln {
    ($($words:tt)*) => {
        crate::redaction::to_stderr(format_args!("{}\n", format_args!($($words)*)))
    };
}

mod annotations;
pub mod args;
mod colours;
pub mod commands;
mod date;
pub mod exit;
mod html;
mod identity;
pub mod interrupt;
pub mod limit;
pub mod load;
mod machine;
mod mutant_file;
pub mod progress;
mod project_file;
mod purpose_search;
mod record;
mod record_folder;
mod redaction;
mod regressions;
mod render;
pub mod seed;
pub mod session;
pub mod solver;
pub mod system;
mod timing;
pub mod unit_command;
mod values_file;
mod write;

use ioxide_model::counted;

pub use self::commands::bench::BenchHost;

/// Runs the command of the command line; measurements are taken by `host`.
pub fn program(host: &BenchHost<'_>) -> std::process::ExitCode {
    limit::start_clock();
    let mut args = args::parse_command_line();
    limit::set_limit(args.command.limit_mut().and_then(|limit| limit.time_limit));
    let outcome = std::panic::catch_unwind(|| commands::run_command(args, host));
    exit::finish(outcome)
}
