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
mod colours;
pub mod commands;
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
mod write;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::{self, ExitCode};
use std::{env, panic};

use ioxide_args::{CliArgs, ParseError};
use ioxide_model::counted;

pub use self::commands::bench::BenchHost;

/// Runs the command of the command line; measurements are taken by `host`.
pub fn program(host: &BenchHost<'_>) -> ExitCode {
    limit::start_clock();
    let mut args = read_command_line();
    limit::set_limit(args.command.limit_mut().and_then(|limit| limit.time_limit));
    let outcome = panic::catch_unwind(|| commands::run_command(args, host));
    exit::finish(outcome)
}

/// Returns what was typed; ends the program if that was a question, or if it is wrong.
fn read_command_line() -> CliArgs {
    let words: Vec<OsString> = env::args_os().collect();
    if ioxide_args::is_version_query(&words) {
        // As clap: that nobody reads it is no error.
        let _ = writeln!(io::stdout(), "{}", ioxide_args::VERSION_LINE);
        process::exit(0);
    }
    match ioxide_args::parse_words(&words, &project_file::open_project) {
        Ok(args) => args,
        Err(ParseError::Words(error)) => error.exit(),
        Err(ParseError::Suite(error)) => exit::end_with(&error.into()),
    }
}
