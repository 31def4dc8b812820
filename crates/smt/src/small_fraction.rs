//! Small exact fractions: machine numbers, where an overflow is `None` instead of wrong.
//!
//! Bounds and repairs need no more: a number that does not fit is treated as unknown.

use std::cmp::Ordering;

use ioxide_model::number::{Int, Rational};

/// A fraction. *Invariant:* lowest terms, denominator above zero, both within [`MAX_PART`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SmallFraction {
    numer: i64,
    denom: i64,
}

/// The bound on numerators and denominators: products of two, and sums of two products, fit in 128 bits.
const MAX_PART: i128 = 1 << 62;

impl SmallFraction {
    pub(crate) const ZERO: Self = Self { numer: 0, denom: 1 };
    pub(crate) const ONE: Self = Self { numer: 1, denom: 1 };

    pub(crate) fn from_int(n: i64) -> Option<Self> {
        Self::new_if_fits(i128::from(n), 1)
    }

    pub(crate) fn from_rational(n: &Rational) -> Option<Self> {
        Self::new_if_fits(n.numer().to_i64()?.into(), n.denom().to_i64()?.into())
    }

    /// `numer / denom`, already in lowest terms.
    fn new_if_fits(numer: i128, denom: i128) -> Option<Self> {
        // The bound is the same on both sides of zero, so `neg` always fits.
        if numer.abs() > MAX_PART || denom > MAX_PART {
            return None;
        }
        Some(Self { numer: i64::try_from(numer).ok()?, denom: i64::try_from(denom).ok()? })
    }

    /// Returns the fraction in lowest terms; `None` if it does not fit.
    fn reduce(numer: i128, denom: i128) -> Option<Self> {
        if denom == 1 {
            return Self::new_if_fits(numer, 1);
        }
        let divisor = gcd(numer.unsigned_abs(), denom.unsigned_abs());
        // With the sign of the denominator, so that the quotient has a positive one.
        let divisor = i128::try_from(divisor).ok()? * denom.signum();
        Self::new_if_fits(numer / divisor, denom / divisor)
    }

    pub(crate) fn is_zero(self) -> bool {
        self.numer == 0
    }

    pub(crate) fn is_negative(self) -> bool {
        self.numer < 0
    }

    pub(crate) fn is_whole(self) -> bool {
        self.denom == 1
    }

    /// The value, if it is whole.
    pub(crate) fn to_i64(self) -> Option<i64> {
        (self.denom == 1).then_some(self.numer)
    }

    pub(crate) fn to_rational(self) -> Rational {
        Rational::new(Int::from(self.numer), Int::from(self.denom)).unwrap_or(Rational::ZERO)
    }

    /// Returns the number with the other sign; it always fits.
    pub(crate) fn neg(self) -> Self {
        Self { numer: -self.numer, denom: self.denom }
    }

    /// Returns the sum, `None` if it does not fit.
    pub(crate) fn add(self, other: Self) -> Option<Self> {
        let (a, b) = (i128::from(self.numer), i128::from(other.numer));
        // Sums of whole numbers are in lowest terms already.
        if self.denom == 1 && other.denom == 1 {
            return Self::new_if_fits(a + b, 1);
        }
        let (c, d) = (i128::from(self.denom), i128::from(other.denom));
        Self::reduce(a * d + b * c, c * d)
    }

    /// Returns the difference, `None` if it does not fit.
    pub(crate) fn sub(self, other: Self) -> Option<Self> {
        self.add(other.neg())
    }

    /// Returns the product, `None` if it does not fit.
    pub(crate) fn mul(self, other: Self) -> Option<Self> {
        let numer = i128::from(self.numer) * i128::from(other.numer);
        Self::reduce(numer, i128::from(self.denom) * i128::from(other.denom))
    }

    /// Returns the quotient; `None` if it does not fit or `other` is zero.
    pub(crate) fn div(self, other: Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let numer = i128::from(self.numer) * i128::from(other.denom);
        Self::reduce(numer, i128::from(self.denom) * i128::from(other.numer))
    }

    /// The greatest whole number not above the value.
    pub(crate) fn floor(self) -> Self {
        Self { numer: self.numer.div_euclid(self.denom), denom: 1 }
    }

    /// The least whole number not below the value.
    pub(crate) fn ceil(self) -> Self {
        self.neg().floor().neg()
    }
}

impl Ord for SmallFraction {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.denom == other.denom {
            return self.numer.cmp(&other.numer);
        }
        let cross = |a: i64, b: i64| i128::from(a) * i128::from(b);
        cross(self.numer, other.denom).cmp(&cross(other.numer, self.denom))
    }
}

impl PartialOrd for SmallFraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The greatest common divisor; at least 1.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
