//! Tests of `literal`.

use ioxide_model::term::string_literal;

use ioxide_lang::literal::{NumberLiteral, parse_number, unescape};

#[track_caller]
fn check(text: &str, expected: &str) {
    let shown = match parse_number(text) {
        Ok(NumberLiteral::Int(n)) => format!("int {n}"),
        Ok(NumberLiteral::Real(r)) => format!("real {r}"),
        Err(wrong) => format!("{wrong:?}"),
    };
    assert_eq!(shown, expected, "{text}");
}

#[test]
fn numbers_are_exact_and_durations_are_seconds() {
    check("1_000", "int 1000");
    check("0.10", "real 0.1");
    check("250ms", "real 0.25");
    check("1.5min", "real 90.0");
    check("1h", "real 3600.0");
    check("0x1F", "Suffix");
    check("1e3", "Suffix");
}

#[test]
fn quoting_and_unescaping_are_inverse() {
    for text in ["", "a\"b\\c\n\t\r\0", "π \u{7f} \u{1b}"] {
        assert_eq!(unescape(&string_literal(text)), (text.to_owned(), vec![]));
    }
    assert_eq!(unescape(r#""\u{41}\d""#), ("A".to_owned(), vec![(7, 2)]));
}
