//! Tests of `oracle`.

mod pool;

use ioxide_learn::oracle::LearnedGuarantee;

/// Defect: with one state and no extra ones it was "at most 1 states".
#[test]
fn a_guarantee_counts_one_state() {
    let words = |states, extra| LearnedGuarantee::Complete { states, extra }.description();
    assert_eq!(words(1, 0), "exact if the system has at most 1 state (1 + 0)");
    assert_eq!(words(1, 1), "exact if the system has at most 2 states (1 + 1)");
}
