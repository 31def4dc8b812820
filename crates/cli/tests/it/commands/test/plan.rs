//! Tests of `commands::test::plan`.

use std::time::Duration;

use ioxide_cli::commands::test::plan::PlanProgress;

#[test]
fn the_time_to_finish_grows_with_what_is_left_and_is_silent_where_little_is_known() {
    let minute = Duration::from_secs(60);
    let plan = |done, planned| PlanProgress { done, planned, unit: "steps" };
    let seconds = |done, planned| plan(done, planned).time_to_finish(minute).map(|time| time.as_secs());
    assert_eq!(seconds(5_310, 10_000), Some(120), "60 * 10000 / 5310 = 113, rounded up");
    assert_eq!(seconds(9_999, 10_000), Some(61));
    assert_eq!(seconds(10, 100), Some(600));
    assert_eq!(seconds(499, 10_000), None, "too little to say");
    assert_eq!((seconds(0, 0), seconds(100, 100)), (None, None));
    assert_eq!(seconds(u64::MAX, u64::MAX), None);
}
