//! Units of a campaign: what worker w of n does, by itself.
//!
//! A campaign of n workers is n units. The work of a unit depends on the model, the seed, the system and its number
//! alone, so it can be done on another machine; its results are plain data, added up by [`merged`](super::merged).

use std::io;
use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use ioxide_model::sts::Sts;
use ioxide_record::event::{LagRecord, TimeSpentRecord};
use ioxide_testgen::tester::Tester;
use ioxide_wire::adapter::AdapterError;

use super::{CampaignOutcome, CampaignState, RunCounts, run_seed};
use crate::clock::latency::{Latencies, LatencyClasses};
use crate::coverage::{Coverage, CoverageRecord};
use crate::run::RunSetup;

/// The result of a unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitRecord {
    /// The number of runs with verdict pass.
    pub passed: u64,
    /// The number of runs with verdict inconclusive.
    pub inconclusive: u64,
    /// The number of runs with verdict fail.
    pub failed: u64,
    /// The number of labels observed.
    pub steps: u64,
    /// The number of runs in which, from some step on, the monitor could not decide what the specification allows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unknown: u64,
    /// The coverage of its runs.
    pub coverage: CoverageRecord,
    /// The largest effect of a busy machine on waits and tolerances; absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_lag: Option<LagRecord>,
    /// The use of its time; absent where events have no times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_spent: Option<TimeSpentRecord>,
    /// The latencies of the outputs, by gate and class.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<LatencyClasses>,
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The way in which a unit ended.
#[derive(Clone, Debug)]
pub enum UnitEnd {
    /// The unit is complete.
    Done(UnitRecord),
    /// An error of the system or the way to it ended the unit; it can be repeated.
    Trouble(AdapterError),
    /// The unit was stopped by request.
    Stopped,
}

impl CampaignState<'_, '_> {
    /// Does unit `unit` of as many as the campaign has workers.
    ///
    /// # Errors
    /// As [`run`](crate::run::run).
    pub fn unit(
        &self,
        unit: u64,
        setup: &mut RunSetup<'_, '_>,
        tester: &mut dyn Tester,
    ) -> io::Result<UnitEnd> {
        if let Err(error) = setup.adapter.reseed(run_seed(self.config.seed, unit)) {
            return Ok(UnitEnd::Trouble(error));
        }
        self.runs_of(unit, setup, tester)?;
        let found = self.taken(setup.cx.sts);
        if found.error.is_some() {
            // Whoever does units decides how often to try again.
            let mut progress = self.lock_progress();
            (progress.errors_in_a_row, progress.is_over) = (0, false);
        }
        Ok(match found.error {
            _ if found.interrupted || setup.stop.load(Ordering::Relaxed) => UnitEnd::Stopped,
            Some(error) => UnitEnd::Trouble(error),
            None => UnitEnd::Done(UnitRecord::from_outcome(&found)),
        })
    }

    /// Returns the results since the last call; kinds of failures stay known, so that each is examined once.
    fn taken(&self, sts: &Sts) -> CampaignOutcome {
        let mut progress = self.lock_progress();
        let known = std::mem::take(&mut progress.found.failures);
        let nothing = CampaignOutcome { failures: known, ..CampaignOutcome::nothing(sts) };
        std::mem::replace(&mut progress.found, nothing)
    }

    /// Returns whether no further unit is to begin: a run failed and the campaign stops at failures, it was stopped by
    /// request, or its coverage is reached.
    pub fn is_over(&self) -> bool {
        self.lock_progress().is_over
    }
}

impl UnitRecord {
    /// Returns the record of a unit of work.
    fn from_outcome(outcome: &CampaignOutcome) -> Self {
        let RunCounts { passed, inconclusive, failed, .. } = outcome.counts;
        Self {
            passed,
            inconclusive,
            failed,
            steps: outcome.steps,
            unknown: outcome.unknown,
            coverage: CoverageRecord::new(&outcome.coverage),
            machine_lag: outcome.lag.to_record(),
            time_spent: outcome.spent.map(|spent| spent.to_record(spent.total())),
            latencies: outcome.latencies.classes(),
        }
    }

    /// Returns coverage and latencies in terms of `sts`; `None` if they are of another model.
    pub(super) fn read(&self, sts: &Sts) -> Option<(Coverage, Latencies)> {
        Some((self.coverage.to_coverage(sts)?, Latencies::from_classes(&self.latencies, sts.gates.len())?))
    }
}
