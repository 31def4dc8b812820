//! Tests of `progress`.

use ioxide_cli::progress::advice;

/// Defect: a newcomer waited ten minutes for `check --deep`.
#[test]
fn who_waits_long_is_told_how_to_stop() {
    assert_eq!(advice(19), "");
    assert!(advice(20).contains("Ctrl-C"));
}
