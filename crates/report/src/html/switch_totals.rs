//! Which runs took which switch: a fold over steps, settled when a run ends.

use std::collections::BTreeMap;

use ioxide_runner::event::{RunOutcome, StepTold};
use serde_json::{Value as Json, json};

/// Runs named for each switch and outcome.
const MAX_RUNS: usize = 12;

/// How often one run took each switch.
pub(super) type InRun = BTreeMap<String, TakenCount>;

/// How often a switch was taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TakenCount {
    certain: u64,
    possible: u64,
}

/// Counts a step of a run.
pub(super) fn count(in_run: &mut InRun, told: &StepTold) {
    let is_certain = told.switches.len() == 1;
    for switch in &told.switches {
        if !in_run.contains_key(switch) {
            in_run.insert(switch.clone(), TakenCount::default());
        }
        if let Some(times) = in_run.get_mut(switch) {
            times.possible += 1;
            times.certain += u64::from(is_certain);
        }
    }
}

/// What all runs took.
#[derive(Clone, Debug, Default)]
pub(super) struct SwitchTotals {
    switches: BTreeMap<String, SwitchTold>,
}

#[derive(Clone, Debug, Default)]
struct SwitchTold {
    times: TakenCount,
    /// Runs by how they ended: passing, failing, others; and the first of each.
    runs: [(u64, Vec<u64>); 3],
    /// Runs that certainly took it and passed.
    certain_passing: u64,
}

impl SwitchTotals {
    /// Adds what run `number` took.
    pub(super) fn settle(&mut self, in_run: InRun, number: u64, outcome: RunOutcome) {
        let column = match outcome {
            RunOutcome::Pass => 0,
            RunOutcome::Fail => 1,
            RunOutcome::Inconclusive | RunOutcome::Error | RunOutcome::Interrupted => 2,
        };
        for (switch, times) in in_run {
            let told = self.switches.entry(switch).or_default();
            told.times.certain += times.certain;
            told.times.possible += times.possible;
            told.certain_passing += u64::from(column == 0 && times.certain > 0);
            let (n, first) = &mut told.runs[column];
            *n += 1;
            if first.len() < MAX_RUNS {
                first.push(number + 1);
            }
        }
    }

    pub(super) fn to_json(&self) -> Json {
        let runs = |(n, first): &(u64, Vec<u64>)| json!({ "n": n, "first": first });
        let one = |told: &SwitchTold| {
            json!({
                "certain": told.times.certain, "possible": told.times.possible,
                "certain_passing": told.certain_passing,
                "passing": runs(&told.runs[0]), "failing": runs(&told.runs[1]), "others": runs(&told.runs[2]),
            })
        };
        Json::Object(self.switches.iter().map(|(switch, told)| (switch.clone(), one(told))).collect())
    }
}
