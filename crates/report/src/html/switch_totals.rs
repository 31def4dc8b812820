//! The runs that took each switch: a fold over steps, settled when a run ends.

use std::collections::BTreeMap;

use ioxide_record::event::{RunOutcome, StepRecord};

use crate::run_number::number_from_one;
use ioxide_model::label::certain_switch;
use serde::Serialize;

/// The number of runs named for each switch and outcome. Chosen by feel, for one line.
const MAX_RUNS: usize = 12;

/// The counts of one run, by the label of the switch.
pub(super) type InRun = BTreeMap<String, TakenCount>;

/// The number of steps at which a switch was taken: certainly, and possibly (the certain ones included).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TakenCount {
    certain: u64,
    possible: u64,
}

/// Counts a step of a run.
pub(super) fn count_step(in_run: &mut InRun, step: &StepRecord) {
    let is_certain = certain_switch(&step.switches).is_some();
    for switch in &step.switches {
        if !in_run.contains_key(switch) {
            in_run.insert(switch.clone(), TakenCount::default());
        }
        if let Some(times) = in_run.get_mut(switch) {
            times.possible += 1;
            times.certain += u64::from(is_certain);
        }
    }
}

/// Returns the counts that the end of a run gives: the certain and the possible times by switch.
pub(super) fn of_run(taken: &BTreeMap<String, (u64, u64)>) -> InRun {
    let times = |&(certain, possible): &(u64, u64)| TakenCount { certain, possible };
    taken.iter().map(|(switch, counts)| (switch.clone(), times(counts))).collect()
}

/// The counts over all runs that ended.
#[derive(Clone, Debug, Default)]
pub(super) struct SwitchTotals {
    switches: BTreeMap<String, SwitchRecord>,
}

#[derive(Clone, Debug, Default)]
struct SwitchRecord {
    times: TakenCount,
    /// The number of runs that passed, failed, or ended otherwise, and the numbers of the first of each, from 1.
    runs: [(u64, Vec<u64>); 3],
    /// The number of runs that certainly took the switch and passed.
    certain_passing: u64,
}

impl SwitchTotals {
    /// Adds the counts of run `number`, which ended with `outcome`.
    pub(super) fn add_run(&mut self, in_run: InRun, number: u64, outcome: RunOutcome) {
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
                first.push(number_from_one(number));
            }
        }
    }

    /// Returns the totals by the label of the switch.
    pub(super) fn view(&self) -> BTreeMap<&str, TakenView<'_>> {
        self.switches.iter().map(|(switch, told)| (&**switch, TakenView::new(told))).collect()
    }
}

/// The number of steps and the runs at which a switch was taken.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(super) struct TakenView<'t> {
    certain: u64,
    possible: u64,
    /// The number of runs that certainly took the switch and passed.
    certain_passing: u64,
    passing: RunListView<'t>,
    failing: RunListView<'t>,
    others: RunListView<'t>,
}

/// The number of runs, and the numbers of the first of them, from 1.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RunListView<'t> {
    n: u64,
    first: &'t [u64],
}

impl<'t> TakenView<'t> {
    /// Makes the view of the counts of a switch.
    fn new(told: &'t SwitchRecord) -> Self {
        let [passing, failing, others] = told.runs.each_ref().map(|(n, first)| RunListView { n: *n, first });
        Self {
            certain: told.times.certain,
            possible: told.times.possible,
            certain_passing: told.certain_passing,
            passing,
            failing,
            others,
        }
    }
}
