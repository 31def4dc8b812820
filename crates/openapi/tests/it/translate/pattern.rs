//! Tests of `translate::pattern`.

use ioxide_openapi::translate::pattern::sample_of_pattern;

#[test]
fn texts_match_their_patterns() {
    for (pattern, text) in [
        ("^[A-Z]{2}$", "AA"),
        ("^\\d{3}-(?:ab|c)+[x-z]?$", "111-ab"),
        ("[a-z0-9]+(-[a-z]+)*", "a"),
        ("^(eur|usd)\\.[^.]{2,5}$", "eur.qq"),
        ("", ""),
    ] {
        assert_eq!(sample_of_pattern(pattern).as_deref(), Some(text), "{pattern}");
    }
    for pattern in ["(?=a)b", "[[:alpha:]]", "a{", "(a", "a)", "*", "\\p{L}"] {
        assert_eq!(sample_of_pattern(pattern), None, "{pattern}");
    }
}
