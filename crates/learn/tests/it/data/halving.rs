//! Tests of `data::halving`.

use ioxide_learn::data::halving::choose_rounder;

#[test]
fn people_like_round_numbers() {
    assert_eq!(
        (choose_rounder(0, 1), choose_rounder(1, 0), choose_rounder(17, 18), choose_rounder(99, 100)),
        (0, 0, 18, 100)
    );
}
