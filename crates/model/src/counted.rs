//! Numbers with their nouns: the two agree.

use std::fmt::Display;

/// Returns a number with its noun: `1 state`, `2 states`, `0 input classes`, `2 hypotheses`.
pub fn count_noun<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    let is_one = n == N::from(1);
    match noun.strip_suffix("is") {
        _ if is_one => format!("{n} {noun}"),
        Some(stem) => format!("{n} {stem}es"),
        None if noun.ends_with('s') => format!("{n} {noun}es"),
        None => format!("{n} {noun}s"),
    }
}
