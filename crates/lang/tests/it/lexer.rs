//! Tests of `lexer`.

use ioxide_lang::lexer::lex;

#[track_caller]
fn check(text: &str, expected: &str) {
    let lexed = lex(text);
    let kinds: Vec<_> = lexed.tokens.iter().map(|token| format!("{:?}", token.kind)).collect();
    assert_eq!(kinds.join(" "), format!("{expected} End").trim_start(), "{text:?}");
}

#[test]
fn a_range_is_not_two_decimals() {
    check("0..5", "Number DotDot Number");
    check("0.5", "Number");
    check("1.5s 250ms", "Number Number");
    check("p.x", "Name Dot Name");
    check("a..=b", "Name DotDotEq Name");
}

#[test]
fn three_slashes_document_and_two_or_four_do_not() {
    check("/// doc", "Doc");
    check("// remark", "");
    check("//// ruler", "");
    check("//", "");
    check("a / b", "Name Slash Name");
}

#[test]
fn strings_end_on_their_line() {
    check(r#""a\"b""#, "Str");
    check("\"a\n\"", "OpenStr OpenStr");
    check("\"a\\", "OpenStr Unknown");
}

#[test]
fn a_name_in_backquotes_ends_on_its_line() {
    check("`INIT-CHLO`", "Name");
    check("`if`", "Name");
    check("on `a // b` -> c", "Name Name Arrow Name");
    check("`a\n`", "Unknown Unknown");
    check("``", "Unknown");
}

#[test]
fn unknown_characters_gather_in_one_token() {
    check("€€ #", "Unknown Unknown");
    check("\u{feff}model", "Name");
}
