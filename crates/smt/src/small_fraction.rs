//! Small exact fractions: machine numbers, where an overflow is `None` instead of wrong.
//!
//! Bounds and repairs need no more: a number that does not fit is treated as unknown.

use std::cmp::Ordering;

use ioxide_model::number::{Int, Rational};

/// A fraction. *Invariant:* lowest terms, denominator above zero, both within [`MAX_PART`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SmallFraction {
    numer: i64,
    denom: i64,
}

/// The bound on numerators and denominators: products of two, and sums of two products, fit in 128 bits.
const MAX_PART: i128 = 1 << 62;

#[expect(clippy::should_implement_trait, reason = "a result that does not fit is none")]
impl SmallFraction {
    pub const ZERO: Self = Self { numer: 0, denom: 1 };
    pub(crate) const ONE: Self = Self { numer: 1, denom: 1 };

    pub fn from_int(n: i64) -> Option<Self> {
        Self::new_if_fits(i128::from(n), 1)
    }

    pub fn from_rational(n: &Rational) -> Option<Self> {
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

    pub fn to_rational(self) -> Rational {
        Rational::new(Int::from(self.numer), Int::from(self.denom)).unwrap_or(Rational::ZERO)
    }

    /// Returns the number with the other sign; it always fits.
    pub(crate) fn neg(self) -> Self {
        Self { numer: -self.numer, denom: self.denom }
    }

    /// Returns the sum, `None` if it does not fit.
    pub fn add(self, other: Self) -> Option<Self> {
        let (a, b) = (i128::from(self.numer), i128::from(other.numer));
        // Sums of whole numbers are in lowest terms already.
        if self.denom == 1 && other.denom == 1 {
            return Self::new_if_fits(a + b, 1);
        }
        let (c, d) = (i128::from(self.denom), i128::from(other.denom));
        Self::reduce(a * d + b * c, c * d)
    }

    /// Returns the difference, `None` if it does not fit.
    pub fn sub(self, other: Self) -> Option<Self> {
        self.add(other.neg())
    }

    /// Returns the product, `None` if it does not fit.
    pub fn mul(self, other: Self) -> Option<Self> {
        let numer = i128::from(self.numer) * i128::from(other.numer);
        Self::reduce(numer, i128::from(self.denom) * i128::from(other.denom))
    }

    /// Returns the quotient; `None` if it does not fit or `other` is zero.
    pub fn div(self, other: Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let numer = i128::from(self.numer) * i128::from(other.denom);
        Self::reduce(numer, i128::from(self.denom) * i128::from(other.numer))
    }

    /// The greatest whole number not above the value.
    pub fn floor(self) -> Self {
        Self { numer: self.numer.div_euclid(self.denom), denom: 1 }
    }

    /// The least whole number not below the value.
    pub fn ceil(self) -> Self {
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
