//! The `ioxide` program.

use ioxide_cli::{BenchHost, program};

/// Runs the program; measurements are those of `ioxide-bench`, if it is installed.
fn main() -> std::process::ExitCode {
    program(&BenchHost::External)
}
