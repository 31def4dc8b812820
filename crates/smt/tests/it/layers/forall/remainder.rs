//! Tests of `layers::forall::remainder`.

use ioxide_model::sort::Sort;
use ioxide_model::term::TermPool;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

use ioxide_smt::layers::forall::remainder::eliminate;

/// The values that bound variables are tried with: beyond any bound and period of the formulas below.
const TRIED: std::ops::Range<i64> = -80..80;

/// Random bounds and remainders of one number agree with trying every number.
#[test]
fn eliminated_remainders_mean_the_same() {
    let mut rng = SmallRng::seed_from_u64(7);
    let mut eliminated = 0;
    for _ in 0..300 {
        let mut pool = TermPool::new();
        let (v, v_term) = pool.declare_term("v", Sort::Int);
        let (x, x_term) = pool.declare_term("x", Sort::Int);
        let mut literals = Vec::new();
        for _ in 0..rng.random_range(1..4) {
            let number = |pool: &mut TermPool, n: i64| pool.int(n);
            let offset = rng.random_range(-5..6);
            let offset = number(&mut pool, offset);
            let bound = pool.add2(x_term, offset);
            literals.push(match rng.random_range(0..4) {
                0 => pool.le(bound, v_term),
                1 => pool.lt(v_term, bound),
                _ => {
                    let (divisor, factor) = (rng.random_range(2..5), rng.random_range(-2..4));
                    let (divisor, factor) = (number(&mut pool, divisor), number(&mut pool, factor));
                    let product = pool.mul2(factor, v_term);
                    let dividend = pool.add2(product, x_term);
                    let (left, right) = (pool.rem(dividend, divisor), pool.rem(bound, divisor));
                    if rng.random_bool(0.7) { pool.eq(left, right) } else { pool.lt(left, right) }
                }
            });
        }
        let Some(image) = eliminate(&mut pool, v, Sort::Int, &literals) else { continue };
        assert!(!pool.mentions(image, v));
        eliminated += 1;
        let body = pool.and(literals);
        for n in -9..10 {
            let mut values = Valuation::new();
            values.set(x, Value::int(n));
            let found = pool.eval(image, &values).expect("a value");
            let tried = TRIED.clone().any(|m| {
                values.set(v, Value::int(m));
                pool.eval(body, &values).expect("a value") == Value::Bool(true)
            });
            assert_eq!(found, Value::Bool(tried), "{} with x = {n}", pool.show(body));
        }
    }
    assert!(eliminated > 150, "{eliminated}");
}
