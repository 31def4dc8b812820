//! The coverage that is left: the share of every measure that was seen, and the items that were not.

use std::collections::BTreeMap;
use std::sync::Arc;

use ioxide_model::number::Int;
use ioxide_symex::Ctx;

use super::Coverage;
use super::item::{CoverageItem, Measure};
use super::possible::possible;

/// The items of a model that can be covered, determined when the runs are over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoverageSurvey {
    /// The number of items of a measure; no entry if they are too many to be enumerated.
    totals: BTreeMap<Measure, usize>,
    /// The items that were not seen when the survey was made, with their text for people.
    unseen: BTreeMap<CoverageItem, String>,
    /// The names of the variables, by position.
    names: Vec<Arc<str>>,
}

/// The coverage of a measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeasureCount {
    /// The measure.
    pub measure: Measure,
    /// The number of items seen.
    pub seen: usize,
    /// The number of items; `None` if they are too many to be enumerated.
    pub total: Option<usize>,
    /// The items that were not seen though no guard excludes them, for people.
    pub missing: Vec<String>,
}

impl CoverageSurvey {
    /// Returns the items of the model of `cx`, with the text of those that `coverage` does not have.
    pub fn new(cx: &mut Ctx<'_>, coverage: &mut Coverage) -> Self {
        let mut known = std::mem::take(&mut coverage.comparisons);
        let all = possible(cx, &mut known, &Measure::ALL, &|item| coverage.has(item));
        let totals = all.iter().map(|(&measure, items)| (measure, items.len())).collect();
        let mut unseen = BTreeMap::new();
        for item in all.into_values().flatten().filter(|item| !coverage.has(item)) {
            let comparison = match &item {
                CoverageItem::Side(id, at, _) => known.comparisons_of(cx, *id).get(*at).copied(),
                _ => None,
            };
            let shown = item.show(cx.pool, cx.sts, |_, _| comparison);
            unseen.insert(item, shown);
        }
        coverage.comparisons = known;
        let names = cx.sts.vars.iter().map(|held| cx.pool.var_info(held.var).name.clone()).collect();
        Self { totals, unseen, names }
    }

    /// Returns the coverage of every measure by `coverage`; measures without items are left out.
    #[must_use]
    pub fn counts(&self, coverage: &Coverage) -> Vec<MeasureCount> {
        let count = |measure: Measure| {
            let total = self.totals.get(&measure).copied();
            let unseen =
                self.unseen.iter().filter(|(item, _)| item.measure() == measure && !coverage.has(item));
            let missing: Vec<String> = unseen.map(|(_, shown)| shown.clone()).collect();
            let seen = match total {
                Some(total) => total - missing.len(),
                None => coverage.seen.keys().filter(|item| item.measure() == measure).count(),
            };
            MeasureCount { measure, seen, total, missing }
        };
        Measure::ALL.into_iter().map(count).filter(|count| count.seen > 0 || count.total != Some(0)).collect()
    }

    /// Returns the name, the least and the greatest value of every variable in `coverage`.
    pub fn extents<'s>(
        &'s self,
        coverage: &'s Coverage,
    ) -> impl Iterator<Item = (&'s str, &'s Int, &'s Int)> {
        let named = |(&var, extent): (&usize, &'s super::ValueExtent)| {
            Some((&**self.names.get(var)?, &extent.least, &extent.most))
        };
        coverage.extents.iter().filter_map(named)
    }
}
