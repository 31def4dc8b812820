//! Helpers that the tests of all crates share. No part of ioxide is built with this crate.
//!
//! [`repository`] finds examples, [`has_program`] decides about tests that need another program, [`test_count`] says
//! how much a random test tries, and [`write_program`] makes programs that tests start.

mod program;
mod server;
mod share;
mod time;

use std::path::{Path, PathBuf};

pub use program::{copy_program, has_program, is_skipped, python_cache, write_program};
pub use server::serve_connections;
pub use share::{is_full_run, test_cases, test_count, test_seeds};
pub use time::WorkClock;

/// The folder of the repository.
pub fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}
