//! The confidence that the answer seen most often is the usual one.
//!
//! If an answer were given in at most half of all cases, seeing it `k` times or more in `n` independent runs would have
//! the probability `P[X >= k]` of a fair coin. One minus that is the *confidence* that it is given in more than
//! half of them: the exact binomial test.

/// The confidence that an answer seen `k` times in `n` runs is given in more than half of all cases.
#[must_use]
pub fn confidence(k: u32, n: u32) -> f64 {
    // P[X = i] from i = n down, each from the one before: C(n, i - 1) = C(n, i) * i / (n - i + 1).
    let mut term = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut tail = 0.0;
    for i in (k..=n).rev() {
        tail += term;
        term *= f64::from(i) / f64::from(n - i + 1);
    }
    1.0 - tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sequences of so many coins, counted.
    fn counted(k: u32, n: u32) -> f64 {
        let heads = (0..1_u32 << n).filter(|coins| coins.count_ones() >= k).count();
        1.0 - heads as f64 / f64::from(1_u32 << n)
    }

    #[test]
    fn it_is_the_share_of_coins() {
        for n in 1..12 {
            for k in 0..=n {
                assert!((confidence(k, n) - counted(k, n)).abs() < 1e-12, "{k} of {n}");
            }
        }
        assert!(confidence(9, 9) > 0.99 && confidence(5, 9) < 0.6);
    }
}
