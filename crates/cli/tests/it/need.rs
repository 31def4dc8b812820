//! Programs that tests need.
//!
//! A test without its program fails, unless `IOXIDE_SKIP` names the program: `./x test` looks for all of them, names those that
//! are missing, and says so.

use std::env;
use std::process::Command;

/// Returns whether `program` is installed; if not, the test fails, unless `IOXIDE_SKIP` names it.
pub fn has(program: &str) -> bool {
    if Command::new(program).arg("--version").output().is_ok() {
        return true;
    }
    let skipped = env::var("IOXIDE_SKIP").unwrap_or_default();
    assert!(
        skipped.split(',').any(|it| it == program),
        "there is no {program}: install it, or name it in IOXIDE_SKIP to go without the tests that need it"
    );
    eprintln!("skipped: there is no {program}");
    false
}
