//! Tests of `commands::learn::line`.

use std::time::Duration;

use ioxide_cli::commands::learn::line::estimate_time_left;

#[test]
fn what_is_left_takes_as_long_as_what_is_done() {
    assert_eq!(estimate_time_left(Duration::from_secs(10), 5, 10), Some(Duration::from_secs(10)));
    assert_eq!(estimate_time_left(Duration::from_secs(10), 0, 10), None);
    assert_eq!(estimate_time_left(Duration::from_secs(10), 20, 10), None);
}
