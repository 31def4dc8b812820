//! The rest of a run whose steps a record leaves out.

use std::collections::BTreeMap;

use ioxide_model::label::certain_switch;
use serde::{Deserialize, Serialize};

use super::StepRecord;

/// The figures that stand for the steps of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinnedRun {
    /// The number of steps that took each switch: certainly, and possibly (the certain ones included).
    pub taken: BTreeMap<String, (u64, u64)>,
}

impl ThinnedRun {
    /// Counts a step that is left out.
    pub fn count_step(&mut self, step: &StepRecord) {
        let is_certain = certain_switch(&step.switches).is_some();
        for switch in &step.switches {
            let (certain, possible) = self.taken.entry(switch.clone()).or_default();
            *certain += u64::from(is_certain);
            *possible += 1;
        }
    }
}
