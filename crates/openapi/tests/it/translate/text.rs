//! Tests of `translate::text`.

use ioxide_openapi::translate::text::{FORMATS, SENT_FORMATS, is_pattern, whole_pattern};

#[test]
fn patterns_match_anywhere_unless_they_say_otherwise() {
    for (text, whole) in [
        ("^a+$", "a+"),
        ("a", "(?s:.*)a(?s:.*)"),
        ("^a", "a(?s:.*)"),
        ("^(x|y)$", "(x|y)"),
        ("^x|y$", "(?s:.*)(?:^x|y$)(?s:.*)"),
        ("a\\$", "(?s:.*)a\\$(?s:.*)"),
    ] {
        assert_eq!(whole_pattern(text), whole);
    }
    assert!(is_pattern("[a-z]{2,4}") && !is_pattern("(?=a)b") && !is_pattern("["));
}

#[test]
fn all_formats_are_patterns() {
    for (name, pattern) in FORMATS.iter().chain(&SENT_FORMATS) {
        assert!(is_pattern(pattern), "{name}");
    }
}
