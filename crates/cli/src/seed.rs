//! Seeds for runs that were not given one.

use std::time::{SystemTime, UNIX_EPOCH};

/// A seed that differs from run to run; always shown, so that the run can be repeated.
pub fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64);
    // Short seeds are easier to type again.
    (now ^ u64::from(std::process::id()).rotate_left(17)) % 1_000_000
}
