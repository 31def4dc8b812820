//! The end of a campaign by coverage: every item of a measure was seen, by whichever worker.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ioxide_model::sts::Sts;
use ioxide_symex::Ctx;

use super::comparisons::Comparisons;
use super::item::{CoverageItem, Measure};
use super::possible::possible;
use super::record::CoverageRecord;

/// The items of a measure that are still missing.
#[derive(Debug)]
pub struct EnoughCoverage {
    /// `None` if the items are too many to be enumerated.
    missing: Mutex<Option<BTreeSet<CoverageItem>>>,
}

impl EnoughCoverage {
    /// Waits for all items of `measure` in the model of `cx`.
    pub fn new(cx: &mut Ctx<'_>, measure: Measure) -> Self {
        let mut all = possible(cx, &mut Comparisons::default(), &[measure], &|_| false);
        Self { missing: Mutex::new(all.remove(&measure)) }
    }

    /// Removes the items that were just seen for the first time in a run.
    pub(crate) fn remove_seen(&self, fresh: &[CoverageItem]) {
        if let Some(missing) = &mut *self.missing() {
            missing.retain(|item| !fresh.contains(item));
        }
    }

    /// Removes the items that a unit of the campaign covered; `None` if they are of another model.
    pub fn add(&self, sts: &Sts, record: &CoverageRecord) -> Option<()> {
        self.remove_seen(&record.to_coverage(sts)?.items().collect::<Vec<_>>());
        Some(())
    }

    /// Returns whether no item is missing; false if the items are too many to be enumerated.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.missing().as_ref().is_some_and(BTreeSet::is_empty)
    }

    /// Locks the items that are still missing.
    fn missing(&self) -> MutexGuard<'_, Option<BTreeSet<CoverageItem>>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
