//! The size of random tests: a share in every run, all of it in `./x test --full`.

use std::env;
use std::ops::Range;

/// Returns whether the tests are run in full: `IOXIDE_TESTS=full`, which `./x test --full` sets.
pub fn is_full_run() -> bool {
    env::var("IOXIDE_TESTS").is_ok_and(|amount| amount == "full")
}

/// Returns how many cases a random test tries: what the environment variable `variable` says, otherwise `full` in a
/// full run, otherwise `share`.
///
/// # Panics
///
/// If the variable is set to something that is not a number.
#[track_caller]
pub fn test_count(variable: &str, share: u64, full: u64) -> u64 {
    match env::var(variable) {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("{variable}={text} is not a number of cases")),
        Err(_) => default_count(is_full_run(), share, full),
    }
}

/// Returns the cases that a test with a list of them tries: all in a full run, otherwise the first `share`.
pub fn test_cases<T>(share: usize, cases: &[T]) -> &[T] {
    if is_full_run() { cases } else { &cases[..share.min(cases.len())] }
}

/// Returns the seeds of the cases a random test tries: `variable` may be a number, or a share of a campaign,
/// `500..1000`; otherwise as [`test_count`].
///
/// # Panics
///
/// If the variable is set to something else.
#[track_caller]
pub fn test_seeds(variable: &str, share: u64, full: u64) -> Range<u64> {
    let text = env::var(variable).unwrap_or_else(|_| default_count(is_full_run(), share, full).to_string());
    let (first, end) = text.split_once("..").unwrap_or(("0", &text));
    match (first.parse(), end.parse()) {
        (Ok(first), Ok(end)) => first..end,
        _ => panic!("{variable}={text} is neither a number of cases nor a range of seeds"),
    }
}

fn default_count(is_full: bool, share: u64, full: u64) -> u64 {
    // A share larger than the whole would make the quick run the thorough one.
    debug_assert!(share <= full, "a share of {share} of {full}");
    if is_full { full } else { share }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_run_tries_all() {
        assert_eq!((default_count(false, 10, 100), default_count(true, 10, 100)), (10, 100));
    }
}
