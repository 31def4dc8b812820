//! Tests of `small_fraction`.

use ioxide_model::number::{Int, Rational};
use proptest::prelude::*;

use ioxide_smt::small_fraction::SmallFraction;

fn exact(n: i64, d: i64) -> (SmallFraction, Rational) {
    let rational = Rational::new(Int::from(n), Int::from(d)).expect("not zero");
    (SmallFraction::from_rational(&rational).expect("small"), rational)
}

proptest! {
    #[test]
    fn small_arithmetic_is_exact(a in -99i64..99, b in 1i64..9, c in -99i64..99, d in 1i64..9) {
        let ((x, exact_x), (y, exact_y)) = (exact(a, b), exact(c, d));
        prop_assert_eq!(x.add(y).map(SmallFraction::to_rational), Some(&exact_x + &exact_y));
        prop_assert_eq!(x.sub(y).map(SmallFraction::to_rational), Some(&exact_x - &exact_y));
        prop_assert_eq!(x.mul(y).map(SmallFraction::to_rational), Some(&exact_x * &exact_y));
        prop_assert_eq!(x.cmp(&y), exact_x.cmp(&exact_y));
        prop_assert_eq!(x.floor().to_rational(), Rational::from(exact_x.floor()));
        prop_assert_eq!(x.ceil().to_rational(), Rational::from(exact_x.ceil()));
        if c != 0 {
            prop_assert_eq!(x.div(y).map(SmallFraction::to_rational), Some(exact_x.div(&exact_y)));
        }
    }
}

#[test]
fn overflow_is_none() {
    let big = SmallFraction::from_int(1 << 61).expect("fits");
    assert_eq!(big.mul(big), None);
    assert_eq!(big.add(big).and_then(|it| it.add(big)), None);
    assert_eq!(SmallFraction::from_int(i64::MIN), None);
    assert_eq!(big.div(SmallFraction::ZERO), None);
}
