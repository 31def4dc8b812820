//! The numbers of runs for people, who count from 1.

/// Returns the number of a run, counted from 1. A record from elsewhere may have any number: the greatest stays as it
/// is.
#[must_use]
pub fn number_from_one(number: u64) -> u64 {
    number.saturating_add(1)
}
