//! Tests of `smtlib::read`.

use ioxide_model::sort::Sort;
use ioxide_model::value::Value;

use ioxide_smt::smtlib::read::{parse_sexp, parse_value};

#[test]
fn values_are_read_as_solvers_write_them() {
    check("5", Sort::Int, Some(Value::int(5)));
    check("(- 5)", Sort::Int, Some(Value::int(-5)));
    check(
        "12345678901234567890",
        Sort::Int,
        Some(Value::Int("12345678901234567890".parse().expect("digits"))),
    );
    check("(/ 1 3)", Sort::Real, Some(Value::Real("1/3".parse().expect("fraction"))));
    check("(- (/ 1.0 3.0))", Sort::Real, Some(Value::Real("-1/3".parse().expect("fraction"))));
    check("(/ (- 1) 3)", Sort::Real, Some(Value::Real("-1/3".parse().expect("fraction"))));
    check("2.5", Sort::Real, Some(Value::Real("5/2".parse().expect("fraction"))));
    check("true", Sort::Bool, Some(Value::Bool(true)));
    check("\"a\"\"b\\u{e9}\\u0041\"", Sort::Str, Some(Value::str("a\"béA")));
}

#[test]
fn what_is_not_a_value_is_none() {
    check("(root-obj (+ (^ x 2) (- 2)) 1)", Sort::Real, None);
    check("(/ 1 0)", Sort::Real, None);
    check("1.5", Sort::Int, None);
    check("\"\\u{d800}\"", Sort::Str, None);
    check("x", Sort::Bool, None);
}

#[test]
fn broken_expressions_are_none() {
    for text in ["", "(", ")", "a b", "\"", "|a", "(a))", ";x"] {
        assert_eq!(parse_sexp(text), None, "{text}");
    }
    assert_eq!(parse_sexp(&"(".repeat(100_000)), None);
}

#[track_caller]
fn check(text: &str, sort: Sort, expected: Option<Value>) {
    assert_eq!(parse_value(&parse_sexp(text).expect("an expression"), sort), expected, "{text}");
}
