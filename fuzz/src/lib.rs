//! What the fuzzers call.

// The readers of project files are parts of the program, which is no library.
#[allow(dead_code, unused_imports)]
#[path = "../../crates/cli/src"]
mod program {
    pub mod exit;
    pub mod project;
}

pub mod targets;

use program::{exit, project};
