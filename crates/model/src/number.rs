//! Exact numbers: integers without overflow and rationals in lowest terms.
//!
//! Almost every number in a model is small, so [`Int`] keeps machine integers in
//! line and falls back to big ones only on overflow. *Invariant:* a value that fits
//! in `i64` is never stored big, so equality and hashing are structural.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};
use std::str::FromStr;

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};

/// An integer of any size.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Int(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    Big(Box<BigInt>),
}

impl Int {
    /// Zero.
    pub const ZERO: Self = Self(Repr::Small(0));
    /// One.
    pub const ONE: Self = Self(Repr::Small(1));
    /// Minus one.
    pub const MINUS_ONE: Self = Self(Repr::Small(-1));

    /// The value as a machine integer, if it fits.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(n) => Some(n),
            Repr::Big(_) => None,
        }
    }

    /// The nearest double; infinite when out of range.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match &self.0 {
            Repr::Small(n) => *n as f64,
            Repr::Big(n) => n.to_f64().unwrap_or(f64::INFINITY),
        }
    }

    /// Returns the number of bits of the absolute value.
    #[must_use]
    pub fn bits(&self) -> u64 {
        match &self.0 {
            Repr::Small(n) => u64::from(64 - n.unsigned_abs().leading_zeros()),
            Repr::Big(n) => n.bits(),
        }
    }

    /// Returns whether the value is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(n) => *n < 0,
            Repr::Big(n) => n.is_negative(),
        }
    }

    /// Returns whether the value is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.0 == Repr::Small(0)
    }

    /// The value without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// Euclidean quotient, made total: `a / 0 = 0`.
    ///
    /// `a = b * (a / b) + a % b` with `0 <= a % b < |b|` for `b != 0`, as in SMT-LIB.
    #[must_use]
    pub fn div(&self, other: &Self) -> Self {
        if other.is_zero() {
            return Self::ZERO;
        }
        self.with(other, i64::checked_div_euclid, |a, b| {
            let (quotient, rest) = a.div_mod_floor(&b);
            // The floor remainder has the sign of b; Euclid wants it non-negative.
            if rest.is_negative() { quotient + 1 } else { quotient }
        })
    }

    /// Euclidean remainder, made total: `a % 0 = a`.
    #[must_use]
    pub fn rem(&self, other: &Self) -> Self {
        if other.is_zero() {
            return self.clone();
        }
        // From the quotient, so that the two always fit together.
        self - self.div(other) * other
    }

    /// Greatest common divisor, not negative.
    #[must_use]
    pub fn gcd(&self, other: &Self) -> Self {
        match (self.to_i64(), other.to_i64()) {
            // The absolute value of `i64::MIN` does not fit.
            (Some(a), Some(b)) if a != i64::MIN && b != i64::MIN => Self::from(a.gcd(&b)),
            _ => Self::from(self.to_big().gcd(&other.to_big())),
        }
    }

    /// Computes with machine integers if they suffice, otherwise with big ones.
    fn with(
        &self,
        other: &Self,
        small: impl Fn(i64, i64) -> Option<i64>,
        big: impl Fn(BigInt, BigInt) -> BigInt,
    ) -> Self {
        if let (Repr::Small(a), Repr::Small(b)) = (&self.0, &other.0)
            && let Some(n) = small(*a, *b)
        {
            return Self::from(n);
        }
        Self::from(big(self.to_big(), other.to_big()))
    }

    fn to_big(&self) -> BigInt {
        match &self.0 {
            Repr::Small(n) => BigInt::from(*n),
            Repr::Big(n) => (**n).clone(),
        }
    }
}

/// Implements an operator of references for owned values too.
macro_rules! by_value {
    ($type:ty: $($trait:ident $method:ident),*) => {$(
        impl $trait<$type> for $type {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                (&self).$method(&other)
            }
        }

        impl $trait<&$type> for $type {
            type Output = Self;

            fn $method(self, other: &Self) -> Self {
                (&self).$method(other)
            }
        }

        impl $trait<$type> for &$type {
            type Output = $type;

            fn $method(self, other: $type) -> $type {
                self.$method(&other)
            }
        }
    )*};
}

impl Neg for &Int {
    type Output = Int;

    fn neg(self) -> Int {
        match self.0 {
            // `-i64::MIN` does not fit.
            Repr::Small(n) if n != i64::MIN => Int::from(-n),
            _ => Int::from(-self.to_big()),
        }
    }
}

impl Neg for Int {
    type Output = Self;

    fn neg(self) -> Self {
        -&self
    }
}

impl Add for &Int {
    type Output = Int;

    fn add(self, other: Self) -> Int {
        self.with(other, i64::checked_add, |a, b| a + b)
    }
}

impl Sub for &Int {
    type Output = Int;

    fn sub(self, other: Self) -> Int {
        self.with(other, i64::checked_sub, |a, b| a - b)
    }
}

impl Mul for &Int {
    type Output = Int;

    fn mul(self, other: Self) -> Int {
        self.with(other, i64::checked_mul, |a, b| a * b)
    }
}

by_value! { Int: Add add, Sub sub, Mul mul }

impl From<i64> for Int {
    fn from(n: i64) -> Self {
        Self(Repr::Small(n))
    }
}

impl From<BigInt> for Int {
    fn from(n: BigInt) -> Self {
        match n.to_i64() {
            Some(small) => Self(Repr::Small(small)),
            None => Self(Repr::Big(Box::new(n))),
        }
    }
}

impl Ord for Int {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            _ => self.to_big().cmp(&other.to_big()),
        }
    }
}

impl PartialOrd for Int {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(n) => n.fmt(f),
            Repr::Big(n) => n.fmt(f),
        }
    }
}

impl fmt::Debug for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The error that a text is not a number of the wanted kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotANumber;

impl fmt::Display for NotANumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a number")
    }
}

impl std::error::Error for NotANumber {}

impl FromStr for Int {
    type Err = NotANumber;

    fn from_str(text: &str) -> Result<Self, NotANumber> {
        text.parse::<BigInt>().map(Self::from).map_err(|_| NotANumber)
    }
}

/// An exact fraction. *Invariant:* lowest terms, denominator above zero.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rational {
    numer: Int,
    denom: Int,
}

impl Rational {
    /// Zero.
    pub const ZERO: Self = Self { numer: Int::ZERO, denom: Int::ONE };
    /// One.
    pub const ONE: Self = Self { numer: Int::ONE, denom: Int::ONE };

    /// `numer / denom`, or `None` if `denom` is zero.
    #[must_use]
    pub fn new(numer: Int, denom: Int) -> Option<Self> {
        (!denom.is_zero()).then(|| Self::from_ratio(numer, denom))
    }

    fn from_ratio(numer: Int, denom: Int) -> Self {
        let divisor = numer.gcd(&denom);
        // A divisor with the sign of the denominator makes the denominator positive.
        let divisor = if denom.is_negative() { -divisor } else { divisor };
        if divisor == Int::ONE {
            return Self { numer, denom };
        }
        let (numer, denom) = (numer.div(&divisor), denom.div(&divisor));
        debug_assert!(!denom.is_negative() && !denom.is_zero(), "the denominator is above zero");
        Self { numer, denom }
    }

    /// The number above the bar.
    #[must_use]
    pub fn numer(&self) -> &Int {
        &self.numer
    }

    /// The number below the bar, above zero.
    #[must_use]
    pub fn denom(&self) -> &Int {
        &self.denom
    }

    /// Returns whether the value is a whole number.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.denom == Int::ONE
    }

    /// Returns whether the value is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.numer.is_zero()
    }

    /// Returns whether the value is below zero.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.numer.is_negative()
    }

    /// Quotient, made total: `a / 0 = 0`.
    #[must_use]
    pub fn div(&self, other: &Self) -> Self {
        if other.is_zero() {
            return Self::ZERO;
        }
        Self::from_ratio(&self.numer * &other.denom, &self.denom * &other.numer)
    }

    /// The greatest integer not above the value.
    #[must_use]
    pub fn floor(&self) -> Int {
        self.numer.div(&self.denom)
    }

    /// The least integer not below the value.
    #[must_use]
    pub fn ceil(&self) -> Int {
        -(-self).floor()
    }

    /// The nearest double.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        match (self.numer.to_i64(), self.denom.to_i64()) {
            (Some(n), Some(d)) => n as f64 / d as f64,
            _ => num_rational_f64(&self.numer.to_big(), &self.denom.to_big()),
        }
    }
}

/// Divides with enough bits that neither side overflows a double.
fn num_rational_f64(numer: &BigInt, denom: &BigInt) -> f64 {
    // Both sides are shifted alike; a double holds numbers of up to 1024 bits.
    // The smaller of the two keeps the 53 bits of a double, unless the quotient is beyond 2^947 or below its inverse.
    let shift = numer.bits().max(denom.bits()).saturating_sub(1000);
    let (n, d) = (numer >> shift, denom >> shift);
    if d.is_zero() {
        return if numer.is_negative() { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    n.to_f64().unwrap_or(f64::NAN) / d.to_f64().unwrap_or(f64::NAN)
}

impl Neg for &Rational {
    type Output = Rational;

    fn neg(self) -> Rational {
        Rational { numer: -&self.numer, denom: self.denom.clone() }
    }
}

impl Neg for Rational {
    type Output = Self;

    fn neg(self) -> Self {
        -&self
    }
}

impl Add for &Rational {
    type Output = Rational;

    fn add(self, other: Self) -> Rational {
        // The usual case, and without a greatest common divisor.
        if self.is_integer() && other.is_integer() {
            return Rational::from(&self.numer + &other.numer);
        }
        let numer = &self.numer * &other.denom + &other.numer * &self.denom;
        Rational::from_ratio(numer, &self.denom * &other.denom)
    }
}

impl Sub for &Rational {
    type Output = Rational;

    fn sub(self, other: Self) -> Rational {
        self + -other
    }
}

impl Mul for &Rational {
    type Output = Rational;

    fn mul(self, other: Self) -> Rational {
        if self.is_integer() && other.is_integer() {
            return Rational::from(&self.numer * &other.numer);
        }
        Rational::from_ratio(&self.numer * &other.numer, &self.denom * &other.denom)
    }
}

by_value! { Rational: Add add, Sub sub, Mul mul }

impl From<Int> for Rational {
    fn from(numer: Int) -> Self {
        Self { numer, denom: Int::ONE }
    }
}

impl From<i64> for Rational {
    fn from(numer: i64) -> Self {
        Self::from(Int::from(numer))
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.denom == other.denom {
            return self.numer.cmp(&other.numer);
        }
        (&self.numer * &other.denom).cmp(&(&other.numer * &self.denom))
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Decimal where it is finite (`1.5`, `2.0`), else a fraction (`1/3`).
impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match decimal_places(&self.denom) {
            Some(0) => write!(f, "{}.0", self.numer),
            Some(places) => {
                // The denominator divides the power of ten, so nothing is cut off.
                let digits = self.numer.abs().to_big() * BigInt::from(10).pow(places) / self.denom.to_big();
                let text = format!("{digits:0>width$}", width = places as usize + 1);
                let (whole, fraction) = text.split_at(text.len() - places as usize);
                write!(f, "{}{whole}.{fraction}", if self.is_negative() { "-" } else { "" })
            }
            None => write!(f, "{}/{}", self.numer, self.denom),
        }
    }
}

/// Returns the number of decimals of `1 / denom`; `None` if they do not end, or if a prime factor of `denom` occurs
/// more than 64 times.
fn decimal_places(denom: &Int) -> Option<u32> {
    let mut rest = denom.clone();
    let mut count = |prime: i64| {
        let prime = Int::from(prime);
        let mut n = 0;
        while n < 64 && rest.rem(&prime).is_zero() {
            rest = rest.div(&prime);
            n += 1;
        }
        n
    };
    let places = count(2).max(count(5));
    (rest == Int::ONE).then_some(places)
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Rational {
    type Err = NotANumber;

    /// Reads `12`, `-0.75`, `1e-3` or `1/3`.
    fn from_str(text: &str) -> Result<Self, NotANumber> {
        if let Some((numer, denom)) = text.split_once('/') {
            return Self::new(numer.parse()?, denom.parse()?).ok_or(NotANumber);
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| NotANumber)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        // Bounded, since `1e999999999` in a message would take gigabytes. A sign behind the point would be taken
        // for one of the whole number below.
        if exponent.unsigned_abs() > 4096 || fraction.starts_with(['+', '-']) {
            return Err(NotANumber);
        }
        let numer: Int = format!("{whole}{fraction}").parse()?;
        let scale = exponent - i32::try_from(fraction.len()).map_err(|_| NotANumber)?;
        let power = Int::from(BigInt::from(10).pow(scale.unsigned_abs()));
        Ok(if scale < 0 { Self::from_ratio(numer, power) } else { Self::from(numer * power) })
    }
}
