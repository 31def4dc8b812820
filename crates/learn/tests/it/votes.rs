//! Tests of `votes`.

use ioxide_learn::votes::confidence;

/// All sequences of this many coins, counted.
fn count_sequences(k: u32, n: u32) -> f64 {
    let heads = (0..1_u32 << n).filter(|coins| coins.count_ones() >= k).count();
    1.0 - heads as f64 / f64::from(1_u32 << n)
}

#[test]
fn it_is_the_share_of_coins() {
    for n in 1..12 {
        for k in 0..=n {
            assert!((confidence(k, n) - count_sequences(k, n)).abs() < 1e-12, "{k} of {n}");
        }
    }
    assert!(confidence(9, 9) > 0.99 && confidence(5, 9) < 0.6);
}

#[test]
fn many_runs_are_not_rounded_to_certainty() {
    for n in [1_074, 1_075, 5_000, 100_000] {
        assert!(confidence(n / 2, n) < 0.5, "{n}");
        assert!(confidence(0, n) == 0.0 && confidence(n / 3, n) < 1e-9, "{n}");
        // Two standard deviations above the mean: 97.7 % by the normal distribution.
        let two = n / 2 + f64::from(n).sqrt() as u32;
        assert!((confidence(two, n) - 0.977).abs() < 0.01, "{n}: {}", confidence(two, n));
    }
}
