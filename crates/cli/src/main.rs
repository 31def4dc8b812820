//! The `ioxide` program.

use ioxide_cli::{Laboratory, program};

fn main() -> std::process::ExitCode {
    program(&Laboratory::NextDoor)
}
