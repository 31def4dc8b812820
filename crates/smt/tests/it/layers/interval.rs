//! Tests of `layers::interval`.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool};

use ioxide_smt::layers::interval::SlotBounds;

/// Checks that bounds refute, or do not refute, `facts` over three variables.
#[track_caller]
fn check(facts: impl Fn(&mut TermPool, [Term; 3]) -> Vec<Term>, sorts: [Sort; 3], refuted: bool) {
    let mut pool = TermPool::new();
    let vars = sorts.map(|sort| pool.declare_term("v", sort).1);
    let facts = facts(&mut pool, vars);
    assert_eq!(refutes(&mut SlotBounds::default(), &pool, &facts), refuted);
}

fn refutes(bounds: &mut SlotBounds, pool: &TermPool, facts: &[Term]) -> bool {
    bounds.sync_facts(pool, facts);
    bounds.is_refuted()
}

const SMALL: Sort = Sort::Range { lo: 0, hi: 9 };

#[test]
fn ranges_bound_sums() {
    let sum_above = |n| {
        move |pool: &mut TermPool, [x, y, _]: [Term; 3]| {
            let (sum, n) = (pool.add2(x, y), pool.int(n));
            vec![pool.lt(n, sum)]
        }
    };
    check(sum_above(18), [SMALL; 3], true);
    check(sum_above(17), [SMALL; 3], false);
    check(sum_above(18), [Sort::Int; 3], false);
}

#[test]
fn chains_of_differences_meet() {
    let chain = |pool: &mut TermPool, [x, y, z]: [Term; 3]| {
        let (zero, two) = (pool.int(0), pool.int(2));
        vec![pool.lt(zero, x), pool.lt(x, y), pool.lt(y, z), pool.le(z, two)]
    };
    check(chain, [Sort::Int; 3], true);
}

#[test]
fn parity_is_seen_and_strictness_matters_for_reals() {
    let even = |pool: &mut TermPool, [x, y, _]: [Term; 3]| {
        let (two, one) = (pool.int(2), pool.int(1));
        let (a, b) = (pool.mul2(two, x), pool.mul2(two, y));
        let sum = pool.add2(a, b);
        vec![pool.eq(sum, one)]
    };
    check(even, [Sort::Int; 3], true);
    let between = |pool: &mut TermPool, [x, ..]: [Term; 3]| {
        let [zero, one] = [0, 1].map(|n| pool.number(n.into(), Sort::Real));
        vec![pool.lt(zero, x), pool.lt(x, one)]
    };
    check(between, [Sort::Real; 3], false);
    let nowhere = |pool: &mut TermPool, [x, ..]: [Term; 3]| {
        let one = pool.number(1.into(), Sort::Real);
        vec![pool.le(one, x), pool.lt(x, one)]
    };
    check(nowhere, [Sort::Real; 3], true);
}

#[test]
fn an_alternative_with_one_arm_left_is_that_arm() {
    let arms = |pool: &mut TermPool, [x, y, _]: [Term; 3]| {
        let nine = pool.int(9);
        let (a, b) = (pool.lt(nine, x), pool.lt(nine, y));
        vec![pool.or2(a, b)]
    };
    check(arms, [SMALL; 3], true);
    check(arms, [SMALL, Sort::Int, SMALL], false);
}

#[test]
fn facts_taken_back_take_their_bounds_along() {
    let mut pool = TermPool::new();
    let (_, x) = pool.declare_term("x", SMALL);
    let (two, seven) = (pool.int(2), pool.int(7));
    let (low, high) = (pool.lt(x, two), pool.lt(seven, x));
    let mut bounds = SlotBounds::default();
    assert!(refutes(&mut bounds, &pool, &[low, high]));
    assert!(!refutes(&mut bounds, &pool, &[low]));
    assert!(!refutes(&mut bounds, &pool, &[high]));
    assert!(refutes(&mut bounds, &pool, &[high, low]));
}
