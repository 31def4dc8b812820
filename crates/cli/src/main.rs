//! The `ioxide` program.

use ioxide_cli::{BenchHost, program};

fn main() -> std::process::ExitCode {
    program(&BenchHost::External)
}
