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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_noun_agree() {
        assert_eq!(count_noun(1u64, "state"), "1 state");
        assert_eq!(count_noun(0usize, "state"), "0 states");
        assert_eq!(
            (count_noun(1u32, "input class"), count_noun(2u32, "input class")),
            ("1 input class".into(), "2 input classes".into())
        );
        assert_eq!(
            (count_noun(1u32, "hypothesis"), count_noun(3u32, "hypothesis")),
            ("1 hypothesis".into(), "3 hypotheses".into())
        );
    }
}
