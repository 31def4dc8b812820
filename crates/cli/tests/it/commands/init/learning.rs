//! Tests of `commands::init::learning`.

use std::time::Duration;

use ioxide_cli::commands::init::learning::{
    MAX_ROUNDS, MAX_TIME, MIN_CAMPAIGN_TIME, MIN_FIRST_CAMPAIGN_TIME, first_campaign_time,
    time_of_next_campaign,
};

/// The clock is the one of this test: campaigns take the time that they are given, and a little more.
#[test]
fn learning_ends_in_time() {
    for begins_at in [0, 1_000, 3_000, 5_000, 9_000, 30_000].map(Duration::from_millis) {
        for beyond in [0, 10, 300].map(Duration::from_millis) {
            let mut now = begins_at + first_campaign_time(begins_at) + beyond;
            let mut campaigns = 1;
            while let Some(time) = time_of_next_campaign(now).filter(|_| campaigns <= MAX_ROUNDS) {
                assert!(time >= MIN_CAMPAIGN_TIME);
                // It may also end at once, because it has nothing more to do.
                now += if campaigns % 3 == 0 { Duration::from_millis(100) } else { time + beyond };
                campaigns += 1;
            }
            let end = MAX_TIME.max(begins_at + MIN_FIRST_CAMPAIGN_TIME) + beyond;
            assert!(now <= end, "from {begins_at:?}: {now:?}");
        }
    }
}
