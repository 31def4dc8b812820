//! Tests of `commands::campaign::watched`.

use std::time::Duration;

use ioxide_campaign::schedule::CampaignTally;

use ioxide_cli::commands::campaign::watched::progress_line;

#[test]
fn a_line_has_all_that_people_ask_for() {
    let tally = CampaignTally { done: 30, running: 10, open: 60, quarantined: 1, retried: 2, failed: 3 };
    assert_eq!(
        progress_line(&tally, 10, 101, Duration::from_secs(10)),
        "30 of 101 units done, 10 running, 1 quarantined, 2 retried, 2.0 units/s, 35 s left"
    );
}
