//! Tests of `regex`.

use ioxide_model::term::TermPool;

use ioxide_smt::regex::{RegexTree, UnsolvablePattern, read_pattern};

fn alone(pattern: &str) -> Result<RegexTree, UnsolvablePattern> {
    read_pattern(&TermPool::new(), pattern)
}

#[test]
fn classes_and_repetitions_are_read() {
    let digits = RegexTree::Chars(vec![('0', '9')]);
    let expected = RegexTree::Repeat { inner: Box::new(digits), min: 2, max: Some(3) };
    assert_eq!(alone("[0-9]{2,3}"), Ok(expected.clone()));
    assert_eq!(alone("^[0-9]{2,3}$"), Ok(expected));
    assert_eq!(alone("ab"), Ok(RegexTree::Text("ab".into())));
}

#[test]
fn what_solvers_do_not_know_is_an_error() {
    assert!(alone(r"a\bb").is_err_and(|bad| bad.to_string().contains("word boundary")));
    assert!(alone("a(").is_err());
}

#[test]
fn characters_that_solvers_do_not_have_need_others_that_stand_for_them() {
    for plain in [".*", "[^a]", r"\w+", r"[^\w]", r"\p{L}\p{M}*", r"\p{Han}", r"\d\s", "[a-z]", r"\p{Co}"] {
        assert!(alone(plain).is_ok(), "{plain}");
    }
    let refused = |found: Result<RegexTree, UnsolvablePattern>| {
        found.is_err_and(|bad| bad.to_string().contains("above U+2FFFF"))
    };
    for high in [
        r"[\x{30000}-\x{10FFFF}]",
        r"[a\x{30000}-\x{3FFFF}]+",
        r"[\x{0}-\x{2FFFF}]",
        r"a|[^\x{0}-\x{2FFF0}]*",
    ] {
        assert!(refused(alone(high)), "{high}");
    }
    // Each has others that stand for those above, but not the same ones.
    let (few, many) = (r"[\x{0}-\x{20000}]", r"[^\x{20001}-\x{2FFFF}]");
    let mut pool = TermPool::new();
    for pattern in [few, many, r"[\x{30000}-\x{10FFFF}]"] {
        pool.pattern(pattern).expect("a pattern");
    }
    assert!(alone(few).is_ok() && alone(many).is_ok());
    assert!(refused(read_pattern(&pool, few)) && refused(read_pattern(&pool, many)));
    // One that is never asked about does not speak against others.
    let mut pool = TermPool::new();
    pool.pattern(r"[\x{30000}-\x{10FFFF}]").expect("a pattern");
    assert!(read_pattern(&pool, "[a-z]*").is_ok() && read_pattern(&pool, r"\w").is_ok());
}
