//! Tests of [`ioxide_model::number`].

use ioxide_model::number::{Int, NotANumber, Rational};
use proptest::prelude::*;

fn int(text: &str) -> Int {
    text.parse().expect("an integer")
}

fn ratio(text: &str) -> Rational {
    text.parse().expect("a rational")
}

#[test]
fn arithmetic_leaves_the_machine_word_and_comes_back() {
    let max = Int::from(i64::MAX);
    let over = &max + &Int::ONE;
    assert_eq!(over.to_string(), "9223372036854775808");
    assert_eq!(over.to_i64(), None);
    assert_eq!(&over - &Int::ONE, max);
    assert_eq!(-Int::from(i64::MIN), over);
    assert_eq!(Int::from(i64::MIN).div(&Int::MINUS_ONE), over);
    assert_eq!(Int::from(i64::MIN).gcd(&Int::ZERO), over);
}

#[test]
fn division_is_euclidean_and_total() {
    check("7", "2", "3", "1");
    check("-7", "2", "-4", "1");
    check("7", "-2", "-3", "1");
    check("-7", "-2", "4", "1");
    check("7", "0", "0", "7");
    check("-73786976294838206464", "3", "-24595658764946068822", "2");
    check("73786976294838206464", "-3", "-24595658764946068821", "1");
    check("-73786976294838206465", "-73786976294838206464", "2", "73786976294838206463");
}

#[track_caller]
fn check(a: &str, b: &str, quotient: &str, rest: &str) {
    assert_eq!(int(a).div(&int(b)), int(quotient), "{a} / {b}");
    assert_eq!(int(a).rem(&int(b)), int(rest), "{a} % {b}");
}

#[test]
fn rationals_read_and_print_exactly() {
    for (text, shown) in [
        ("0.1", "0.1"),
        ("-0.75", "-0.75"),
        ("2", "2.0"),
        ("1e3", "1000.0"),
        ("125e-2", "1.25"),
        ("1/3", "1/3"),
        ("-4/6", "-2/3"),
        ("4/-6", "-2/3"),
        ("-0.05", "-0.05"),
    ] {
        assert_eq!(ratio(text).to_string(), shown);
        assert_eq!(ratio(shown), ratio(text));
    }
    for bad in ["", "x", "1/0", "1.-5", "1e99999", "--1"] {
        assert_eq!(bad.parse::<Rational>(), Err(NotANumber), "{bad}");
    }
}

#[test]
fn floor_and_ceil_bracket() {
    assert_eq!(ratio("-1.5").floor(), int("-2"));
    assert_eq!(ratio("-1.5").ceil(), int("-1"));
    assert_eq!(ratio("3").floor(), ratio("3").ceil());
}

proptest! {
    #[test]
    fn integers_agree_with_i128(a in any::<i64>(), b in any::<i64>()) {
        let (x, y) = (Int::from(a), Int::from(b));
        let (wide_a, wide_b) = (i128::from(a), i128::from(b));
        prop_assert_eq!((&x + &y).to_string(), (wide_a + wide_b).to_string());
        prop_assert_eq!((&x - &y).to_string(), (wide_a - wide_b).to_string());
        prop_assert_eq!((&x * &y).to_string(), (wide_a * wide_b).to_string());
        if b != 0 {
            prop_assert_eq!(x.div(&y).to_string(), wide_a.div_euclid(wide_b).to_string());
            prop_assert_eq!(x.rem(&y).to_string(), wide_a.rem_euclid(wide_b).to_string());
        }
        prop_assert_eq!(x.cmp(&y), a.cmp(&b));
    }

    #[test]
    fn rationals_form_a_field(a in -99i64..99, b in 1i64..50, c in -99i64..99, d in 1i64..50) {
        let x = Rational::new(a.into(), b.into()).expect("b > 0");
        let y = Rational::new(c.into(), d.into()).expect("d > 0");
        prop_assert_eq!((&x + &y) - &y, x.clone());
        prop_assert_eq!(&x * &y, &y * &x);
        if c != 0 {
            prop_assert_eq!(x.div(&y) * &y, x.clone());
        }
        prop_assert_eq!(x.cmp(&y), (a * d).cmp(&(c * b)));
        prop_assert_eq!(x.to_string().parse::<Rational>(), Ok(x.clone()));
        prop_assert!((x.to_f64() - a as f64 / b as f64).abs() < 1e-9);
    }
}
