//! The plan of a tester that the clock ended: how much of it was done, and the time that should finish it.

use std::io::{self, Write};
use std::time::Duration;

use ioxide_model::sts::Sts;
use ioxide_report::summary::lines::group_digits;
use ioxide_run::campaign::CampaignOutcome;
use ioxide_run::coverage::MeasureCount;
use ioxide_run::coverage::item::Measure;
use serde_json::{Value as Json, json};

use super::tester_choice::ChosenTester;

/// The smallest share of a plan, in percent, that says how long the rest takes. Chosen by feel: the first steps of a
/// campaign wait for starts and calibrate, so they are slower than the rest.
const MIN_SHARE: u64 = 5;

/// The work that a tester had planned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanProgress {
    pub done: u64,
    pub planned: u64,
    /// The word for the units, in the plural.
    pub unit: &'static str,
}

impl PlanProgress {
    /// Returns the plan of a tester, if it has an end that does not depend on the clock.
    pub fn of(tester: &ChosenTester, outcome: &CampaignOutcome) -> Option<Self> {
        let runs = outcome.counts.total();
        let (done, planned, unit) = match tester {
            ChosenTester::Hunt(hunt) if hunt.budget() < usize::MAX => {
                (hunt.n_steps_used() as u64, hunt.budget() as u64, "steps")
            }
            ChosenTester::Tests(tests) => (runs, tests.n_runs() as u64, "tests"),
            ChosenTester::Suite(suite, _) => (runs, suite.runs() as u64, "tests"),
            ChosenTester::Kill(killer, _) => (killer.n_done() as u64, killer.n_tests() as u64, "tests"),
            _ => return None,
        };
        Some(Self { done: done.min(planned), planned, unit })
    }

    /// Returns the time that should finish the plan if it goes on as in the first `limit`, rounded up to two digits of
    /// seconds; `None` if too little was done to say.
    pub fn time_to_finish(&self, limit: Duration) -> Option<Duration> {
        let is_telling =
            self.done > 0 && self.done.saturating_mul(100) >= self.planned.saturating_mul(MIN_SHARE);
        if !is_telling || self.done >= self.planned {
            return None;
        }
        let seconds = (limit.as_secs_f64() * self.planned as f64 / self.done as f64).ceil().max(1.0);
        let digit = 10_f64.powi((seconds.log10().floor() as i32 - 1).max(0));
        Duration::try_from_secs_f64((seconds / digit).ceil() * digit).ok()
    }
}

/// Writes that the clock ended the campaign after `limit`, how much of the plan was done, and what would finish it.
pub fn show_plan_progress(
    out: &mut impl Write,
    sts: &Sts,
    plan: Option<PlanProgress>,
    outcome: &CampaignOutcome,
    limit: Duration,
) -> io::Result<()> {
    let done = match plan {
        Some(PlanProgress { done, planned, unit }) => {
            format!("{} of {} {unit}", group_digits(done), group_digits(planned))
        }
        None => format!("{} steps", group_digits(outcome.steps)),
    };
    let (taken, total) = transitions(sts, outcome);
    let more = plan.and_then(|plan| {
        let (time, all) = (plan.time_to_finish(limit)?, group_digits(plan.planned));
        Some(format!("about `--for {}s` would be enough for all {all} {}", time.as_secs(), plan.unit))
    });
    let more = more.unwrap_or_else(|| "`--for TIME` tests longer".to_owned());
    writeln!(
        out,
        "stopped: the time was up after {done}, with {taken} of {total} transitions covered; {more}"
    )
}

/// Returns the plan for programs; null if the tester has none.
pub fn plan_json(plan: Option<PlanProgress>, limit: Option<Duration>) -> Json {
    let Some(plan) = plan else { return Json::Null };
    json!({
        "unit": plan.unit,
        "done": plan.done,
        "planned": plan.planned,
        "suggested_for_s": limit.and_then(|limit| plan.time_to_finish(limit)).map(|time| time.as_secs()),
    })
}

/// Returns the number of transitions certainly taken, and of those that there are.
fn transitions(sts: &Sts, outcome: &CampaignOutcome) -> (u64, u64) {
    let counts = outcome.survey.counts(&outcome.coverage);
    let switches = counts.iter().find(|count: &&MeasureCount| count.measure == Measure::Switches);
    let seen =
        outcome.coverage.covered_switches().filter(|&id| sts.is_seen(&sts.switches[id])).count() as u64;
    let all = sts.switches.iter().filter(|switch| sts.is_seen(switch)).count() as u64;
    (seen, switches.and_then(|count| count.total).map_or(all, |total| total as u64).max(seen))
}
