//! Numbers worth trying: next to known values, small, at the edges of machine words, of any magnitude.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use ioxide_model::number::{Int, Rational};
use ioxide_model::value::Value;

/// The widths in bits at whose edges numbers overflow. Those of the integer types of common languages, signed and
/// unsigned.
const WIDTHS: [u32; 7] = [7, 8, 15, 16, 31, 32, 63];

/// Draws `base` itself, a number next to it, or one in a relation to `other`.
pub(super) fn draw_neighbour(rng: &mut ChaCha8Rng, base: &Rational, other: Option<&Rational>) -> Rational {
    let one = Rational::ONE;
    match (rng.random_range(0..20u32), other) {
        (0..=2, Some(other)) => base + other,
        (3..=5, Some(other)) => base - other,
        (6..=9, _) => base + &one,
        (10..=12, _) => base - &one,
        (13, _) => -base,
        (14, _) => base + base,
        (15, _) => base + Rational::from(rng.random_range(-3..=3i64)),
        _ => base.clone(),
    }
}

/// Draws 0, 1 or -1 three times in eight, else from -4 to 12.
pub(super) fn small(rng: &mut ChaCha8Rng) -> i64 {
    match rng.random_range(0..8u32) {
        0 => 0,
        1 => 1,
        2 => -1,
        _ => rng.random_range(-4..=12),
    }
}

/// Draws an everyday number: up to 20, 100 or 1000, one in four negative.
pub(super) fn common(rng: &mut ChaCha8Rng) -> i64 {
    let most = [20, 100, 1000][rng.random_range(0..3usize)];
    let number = rng.random_range(2..=most);
    if rng.random_ratio(1, 4) { -number } else { number }
}

/// Draws a number at the edge of a machine word or a power of ten, of either sign.
pub(super) fn edge(rng: &mut ChaCha8Rng) -> Int {
    let power = match rng.random_range(0..4u32) {
        0 => Int::from(10i64.pow(rng.random_range(1..=9))),
        _ => {
            let width = WIDTHS[rng.random_range(0..WIDTHS.len())];
            Int::from(1i64 << (width - 1)) * Int::from(2)
        }
    };
    let near = &power + Int::from(rng.random_range(-1..=1i64));
    if rng.random_ratio(1, 3) { -&near } else { near }
}

/// Draws a number of any magnitude up to 2^39, each magnitude equally likely.
pub(super) fn wide(rng: &mut ChaCha8Rng) -> i64 {
    let magnitude = 1i64 << rng.random_range(3..40u32);
    let number = rng.random_range(0..=magnitude);
    if rng.random_ratio(1, 3) { -number } else { number }
}

/// Draws a number from `lo` to `hi`: an end or beside it, a small one, or any.
pub(super) fn in_range(rng: &mut ChaCha8Rng, lo: i64, hi: i64) -> i64 {
    let hi = hi.max(lo);
    let number = match rng.random_range(0..12u32) {
        0 => lo,
        1 => hi,
        2 => lo.saturating_add(1),
        3 => hi.saturating_sub(1),
        4 | 5 => small(rng),
        6 => wide(rng),
        _ => rng.random_range(lo..=hi),
    };
    if (lo..=hi).contains(&number) { number } else { rng.random_range(lo..=hi) }
}

/// Draws a small number from `lo` to `hi`; any of them if none is small.
pub(super) fn small_in_range(rng: &mut ChaCha8Rng, lo: i64, hi: i64) -> i64 {
    let number = small(rng);
    if (lo..=hi).contains(&number) { number } else { in_range(rng, lo, hi) }
}

/// Draws an end of the range from `lo` to `hi`, or a number next to it.
pub(super) fn end_of_range(rng: &mut ChaCha8Rng, lo: i64, hi: i64) -> i64 {
    let by = rng.random_range(0..=1);
    if rng.random_ratio(1, 2) { lo.saturating_add(by).min(hi) } else { hi.saturating_sub(by).max(lo) }
}

/// Draws a fraction with numerator `whole` and a denominator of 1, 2, 10 or 1000.
pub(super) fn fraction(rng: &mut ChaCha8Rng, whole: Int) -> Value {
    let denom = [1, 1, 2, 10, 1000][rng.random_range(0..5usize)];
    Value::Real(Rational::new(whole, Int::from(denom)).unwrap_or(Rational::ZERO))
}
