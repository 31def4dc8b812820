//! Tests of [`ioxide_testgen::case::corner`].

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool};
use ioxide_model::value::Value;
use ioxide_testgen::case::corner::corners;

#[test]
fn corners_are_where_comparisons_change() {
    let mut pool = TermPool::new();
    let (delay, d) = pool.declare_term("d", Sort::Real);
    let (_, before) = pool.declare_term("before", Sort::Real);
    let [one, two] = [1, 2].map(|n| pool.value(Value::Real(n.into())));
    let sum = pool.add2(d, before);
    let (late, twice) = (pool.le(sum, two), pool.mul2(two, d));
    let (double, square) = (pool.lt(one, twice), pool.mul2(d, d));
    let odd = pool.le(square, one);
    let guard = pool.and([late, double, odd]);
    let shown: Vec<String> =
        corners(&mut pool, delay, guard).into_iter().map(|it| pool.show(it).to_string()).collect();
    assert_eq!(shown, ["2.0 - before", "0.5"], "the square is not linear");
}

#[test]
fn corners_of_fields_are_what_they_are_compared_with() {
    let mut pool = TermPool::new();
    let (field, n) = pool.declare_term("n", Sort::Int);
    let (name, text) = pool.declare_term("name", Sort::Str);
    let (_, seen) = pool.declare_term("seen", Sort::Int);
    let (_, said) = pool.declare_term("said", Sort::Str);
    let [three, two] = [3, 2].map(|n| pool.value(Value::Int(n.into())));
    let (sum, twice) = (pool.add2(seen, three), pool.mul2(two, n));
    let (equal, low, same) = (pool.eq(n, sum), pool.le(seen, twice), pool.eq(said, text));
    let guard = pool.and([equal, low, same]);
    let shown = |pool: &TermPool, terms: Vec<Term>| -> Vec<String> {
        terms.into_iter().map(|it| pool.show(it).to_string()).collect()
    };
    let numbers = corners(&mut pool, field, guard);
    assert_eq!(shown(&pool, numbers), ["seen + 3", "-seen / -2"]);
    let texts = corners(&mut pool, name, guard);
    assert_eq!(shown(&pool, texts), ["said"]);
}
