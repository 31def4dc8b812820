//! Tests of `smtlib::write`.

use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;

use ioxide_smt::smtlib::write::{escape_string, write_script, write_term};

#[test]
fn a_shared_subterm_is_written_once() {
    let mut pool = TermPool::new();
    let (_, x) = pool.declare_term("x", Sort::Range { lo: -1, hi: 9 });
    let (_, y) = pool.declare_term("y", Sort::Int);
    let sum = pool.add2(x, y);
    let (square, two) = (pool.mul2(sum, sum), pool.int(2));
    let fact = pool.lt(two, square);
    insta::assert_snapshot!(write_script(&pool, &[fact]).expect("plain"), @r"
    (set-option :produce-models true)
    (set-logic ALL)
    (declare-const x!0 Int)
    (assert (<= (- 1) x!0 9))
    (declare-const y!1 Int)
    (assert (let ((s0!2 (+ x!0 y!1))) (< 2 (* s0!2 s0!2))))
    (check-sat)
    (get-model)
    ");
}

#[test]
fn division_says_what_happens_at_zero() {
    let mut pool = TermPool::new();
    let (_, x) = pool.declare_term("x", Sort::Int);
    let (_, y) = pool.declare_term("y", Sort::Int);
    let (quotient, rest) = (pool.div(x, y), pool.rem(x, y));
    let fact = pool.eq(quotient, rest);
    let mut out = String::new();
    write_term(&pool, fact, &mut out).expect("plain");
    assert_eq!(out, "(= (ite (= y!1 0) 0 (div x!0 y!1)) (ite (= y!1 0) x!0 (mod x!0 y!1)))");
}

#[test]
fn strings_are_escaped() {
    assert_eq!(escape_string("a\\\"é\n"), Ok(r"a\u{5c}\u{22}\u{e9}\u{a}".into()));
    assert!(escape_string("\u{10FFFF}").is_err());
}
