//! The progress of a campaign on the terminal, its budget, Ctrl-C.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ioxide_campaign::drive::{CampaignObserver, ObserverRequest};
use ioxide_campaign::scan::ScannedPart;
use ioxide_campaign::schedule::CampaignTally;

use super::goal::CampaignGoal;
use crate::interrupt::STOP;
use crate::progress::ProgressLine;

/// Tells people how far it is.
pub struct WatchedCampaign {
    progress: ProgressLine,
    /// Units that were done before.
    before: u64,
    count: u64,
    budget: Option<Duration>,
    is_late: bool,
    goal: Option<CampaignGoal>,
    /// Addresses that did not answer.
    silent: BTreeSet<String>,
}

impl WatchedCampaign {
    /// Of `count` units `before` are done; it ends after `budget`, or at its `goal`.
    pub fn new(before: u64, count: u64, budget: Option<Duration>, goal: Option<CampaignGoal>) -> Self {
        Self {
            progress: ProgressLine::start(),
            before,
            count,
            budget,
            is_late: false,
            goal,
            silent: BTreeSet::new(),
        }
    }
}

impl CampaignObserver for WatchedCampaign {
    fn progress(&mut self, tally: &CampaignTally, elapsed: Duration) -> ObserverRequest {
        let (before, count) = (self.before, self.count);
        self.progress.tick(|| progress_line(tally, before, count, elapsed));
        if STOP.load(Ordering::Relaxed) {
            return ObserverRequest::Stop;
        }
        match self.budget {
            Some(budget) if elapsed >= budget => {
                if !self.is_late {
                    eprintln!("the budget is used up: merging the results so far");
                    self.is_late = true;
                }
                ObserverRequest::Stop
            }
            _ => ObserverRequest::GoOn,
        }
    }

    fn resting(&mut self, address: &str, rest: Duration, said: &str) {
        // Once for every address: the line of progress and the journal have the rest.
        if self.silent.insert(address.to_owned()) {
            eprintln!(
                "`{address}` does not answer; the next try is in {} ms, later tries after longer pauses: {said}",
                rest.as_millis()
            );
        }
    }

    fn report_part(&mut self, part: &ScannedPart) -> ObserverRequest {
        match self.goal.as_mut().and_then(|goal| goal.add_part(part)) {
            Some(unit) => ObserverRequest::StopAfter(unit),
            None => ObserverRequest::GoOn,
        }
    }
}

/// Returns the progress line of a campaign; the rate and the time left count only units done since it was continued.
pub fn progress_line(tally: &CampaignTally, before: u64, count: u64, elapsed: Duration) -> String {
    let now = tally.done.saturating_sub(before);
    let rate = now as f64 / elapsed.as_secs_f64().max(0.001);
    let left = (tally.open + tally.running) as f64 / rate.max(1e-9);
    let left = if now > 0 { format!("{left:.0} s left") } else { "time left unknown".to_owned() };
    format!(
        "{} of {count} units done, {} running, {} quarantined, {} retried, {rate:.1} units/s, {left}",
        tally.done, tally.running, tally.quarantined, tally.retried
    )
}
