//! Tests of `duration`.

use std::time::Duration;

use ioxide_args::{TimeLimit, time_limit};

#[test]
fn times_are_read_with_their_unit() {
    let within = |seconds| Ok(TimeLimit::Within(Duration::from_secs_f64(seconds)));
    assert_eq!(time_limit("30s"), within(30.0));
    assert_eq!(time_limit("10min"), within(600.0));
    assert_eq!(time_limit("1.5h"), within(5400.0));
    assert_eq!(time_limit("250ms"), within(0.25));
    assert_eq!(time_limit("none"), Ok(TimeLimit::Unlimited));
    for wrong in ["", "s", "0s", "-1s", "5 days", "1e99h", "inf", "30"] {
        assert!(time_limit(wrong).is_err(), "{wrong}");
    }
}
