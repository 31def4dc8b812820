//! Tests of [`ioxide_model::term::weight`].

use ioxide_model::sort::Sort;
use ioxide_model::term::{EvalError, MAX_WEIGHT, TermPool};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

#[test]
fn a_number_that_squares_itself_is_given_up() {
    let mut pool = TermPool::new();
    let (x, x_term) = pool.declare_term("x", Sort::Int);
    let square = pool.mul2(x_term, x_term);
    let mut value = Value::int(1_000_000_007);
    let mut squared = 0;
    let end = loop {
        let known: Valuation = [(x, value.clone())].into_iter().collect();
        match pool.eval(square, &known) {
            Ok(next) => value = next,
            Err(error) => break error,
        }
        squared += 1;
    };
    assert_eq!(end, EvalError::TooLarge);
    assert!((8..16).contains(&squared), "{squared}");
    assert!(value.weight() <= MAX_WEIGHT);
}

#[test]
fn a_text_that_doubles_itself_is_given_up() {
    let mut pool = TermPool::new();
    let (s, s_term) = pool.declare_term("s", Sort::Str);
    let twice = pool.concat([s_term, s_term]);
    let known: Valuation = [(s, Value::str(&"x".repeat(700 * 1024)))].into_iter().collect();
    assert_eq!(pool.eval(twice, &known), Err(EvalError::TooLarge));
}

#[test]
fn a_term_that_squares_itself_becomes_too_heavy() {
    let mut pool = TermPool::new();
    let (_, mut term) = pool.declare_term("x", Sort::Int);
    for _ in 0..10 {
        term = pool.mul2(term, term);
    }
    assert!(!pool.is_too_heavy(term));
    term = pool.mul2(term, term);
    assert!(pool.is_too_heavy(term));
}
