//! The confidence that the answer seen most often is the usual one.
//!
//! If an answer were given in at most half of all cases, seeing it `k` times or more in `n` independent runs would have
//! the probability `P[X >= k]` of a fair coin. One minus that is the *confidence* that it is given in more than
//! half of them: the exact binomial test.

/// The confidence that an answer seen `k` times in `n` runs is given in more than half of all cases.
#[must_use]
pub fn confidence(k: u32, n: u32) -> f64 {
    // The coin is fair: P[X < k] = P[X > n - k].
    if k > n / 2 { 1.0 - upper_tail_probability(k, n) } else { upper_tail_probability(n - k + 1, n) }
}

/// Returns `P[X >= k]` of `n` fair coins for `k > n / 2`, where `P[X = i]` falls with `i`.
fn upper_tail_probability(k: u32, n: u32) -> f64 {
    if k > n {
        return 0.0;
    }
    // The first term by its logarithm, since 0.5^n underflows from n = 1075 on; each further one from the one before:
    // C(n, i + 1) = C(n, i) * (n - i) / (i + 1).
    let choose = |i: u32| (f64::from(n - k + i) / f64::from(i)).ln();
    let first: f64 = (1..=k).map(choose).sum::<f64>() - f64::from(n) * std::f64::consts::LN_2;
    let mut term = first.exp();
    let mut tail = 0.0;
    for i in k..=n {
        tail += term;
        term *= f64::from(n - i) / f64::from(i + 1);
    }
    tail
}
