//! The end of a campaign by coverage: every item of a measure was seen, by whichever worker.

use std::collections::{BTreeMap, BTreeSet};
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
    fn add_unit(&self, sts: &Sts, record: &CoverageRecord) -> Option<()> {
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

/// The coverage of the units of a campaign, added in the order of the plan however they come.
#[derive(Debug)]
pub struct OrderedCoverage {
    sts: Sts,
    enough: EnoughCoverage,
    /// The number of the next unit that is added; those before it are.
    next: u64,
    /// The coverage of units that wait for those before them.
    early: BTreeMap<u64, CoverageRecord>,
}

impl OrderedCoverage {
    /// Waits for what is missing in `enough`, in a model with the system `sts`.
    #[must_use]
    pub fn new(sts: Sts, enough: EnoughCoverage) -> Self {
        Self { sts, enough, next: 0, early: BTreeMap::new() }
    }

    /// Adds the coverage of units; returns the unit after which nothing is missing, `None` if something is, or if a
    /// unit is of another model.
    pub fn add_units(&mut self, units: impl IntoIterator<Item = (u64, CoverageRecord)>) -> Option<u64> {
        self.early.extend(units.into_iter().filter(|(unit, _)| *unit >= self.next));
        while !self.enough.is_met() {
            // One machine would have stopped at the first unit that completes the coverage, so the order counts.
            let record = self.early.remove(&self.next)?;
            self.enough.add_unit(&self.sts, &record)?;
            self.next += 1;
        }
        self.next.checked_sub(1)
    }
}
