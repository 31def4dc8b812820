//! Tests of `layers::forall`.

mod remainder;

use ioxide_model::sort::{Constructor, DataKind, DataSort, Sort};
use ioxide_model::term::TermPool;

use ioxide_smt::layers::forall::eliminate;

/// The image of `∃o: lower ≤ f·o ∧ g·o < upper`, shown.
fn image(sort: Sort, lower_factor: i64, upper_factor: i64) -> String {
    let mut pool = TermPool::new();
    let (o, o_term) = pool.declare_term("o", sort);
    let (_, x) = pool.declare_term("x", sort.base());
    let (_, y) = pool.declare_term("y", sort.base());
    let [f, g] = [lower_factor, upper_factor].map(|n| pool.number(n.into(), sort.base()));
    let (low, high) = (pool.mul2(f, o_term), pool.mul2(g, o_term));
    let (above, below) = (pool.le(x, low), pool.lt(high, y));
    let body = pool.and2(above, below);
    let fact = pool.exists(&[o], body);
    let image = eliminate(&mut pool, fact);
    pool.show(image).to_string()
}

#[test]
fn bounds_of_one_number_become_bounds_of_the_others() {
    let small = Sort::Range { lo: 0, hi: 9 };
    let rows = [(Sort::Int, 1, 1), (Sort::Real, 1, 1), (Sort::Real, 2, 3), (Sort::Int, 1, 3), (small, 1, 1)];
    let images = rows.map(|(sort, lower, upper)| image(sort, lower, upper));
    let expected =
        ["x <= y - 1", "x < y", "3.0 * x < 2.0 * y", "3 * x <= y - 1", "x <= y - 1 && x <= 9 && y >= 1"];
    assert_eq!(images, expected);
}

#[test]
fn a_variable_that_cancels_out_is_no_obstacle() {
    let mut pool = TermPool::new();
    let (o, o_term) = pool.declare_term("o", Sort::Real);
    let (_, x) = pool.declare_term("x", Sort::Real);
    let two = pool.number(2.into(), Sort::Real);
    let (left, right) = (pool.add2(o_term, x), pool.add2(o_term, two));
    let (cancels, below) = (pool.lt(left, right), pool.le(o_term, x));
    let body = pool.and2(cancels, below);
    let fact = pool.exists(&[o], body);
    let image = eliminate(&mut pool, fact);
    assert_eq!(pool.show(image).to_string(), "x < 2.0");
}

#[test]
fn whole_numbers_with_gaps_keep_their_quantifier() {
    assert!(image(Sort::Int, 2, 3).contains("exists"));
}

#[test]
fn a_small_range_with_gaps_is_written_out() {
    assert!(!image(Sort::Range { lo: 0, hi: 3 }, 2, 3).contains("exists"));
}

/// The image of `∃e: e != x ∧ e != y` and of `∃e: e == x ∧ e != y` for an enumeration of `n` values.
fn enumeration(n: usize) -> [String; 2] {
    let mut pool = TermPool::new();
    let ctor = |at: usize| Constructor { name: format!("v{at}").into(), fields: Vec::new() };
    let data = pool.declare_data(DataSort {
        name: "E".into(),
        kind: DataKind::Enum,
        ctors: (0..n).map(ctor).collect(),
    });
    let [(e, e_term), (_, x), (_, y)] = ["e", "x", "y"].map(|name| pool.declare_term(name, Sort::Data(data)));
    let (is_x, is_y) = (pool.eq(e_term, x), pool.eq(e_term, y));
    let (not_x, not_y) = (pool.not(is_x), pool.not(is_y));
    let (neither, only) = (pool.and2(not_x, not_y), pool.and2(is_x, not_y));
    [neither, only].map(|body| {
        let fact = pool.exists(&[e], body);
        let image = eliminate(&mut pool, fact);
        pool.show(image).to_string()
    })
}

#[test]
fn values_of_large_enumerations_need_no_quantifier() {
    assert_eq!(enumeration(65), ["true", "x != y"]);
    assert_eq!(enumeration(1000), ["true", "x != y"]);
    assert!(!enumeration(2)[0].contains("exists"), "as many values as things to differ from: written out");
}
