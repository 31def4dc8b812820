//! What the fuzzers call.

#[expect(dead_code, reason = "the readers of project files are parts of the program, no library")]
#[path = "../../crates/cli/src"]
mod program {
    pub mod exit;
    pub mod project;
}

pub mod targets;

use program::{exit, project};
