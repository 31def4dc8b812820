//! Requests that explain a transition: the last ones before it was taken for the first time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ioxide_model::sts::SwitchId;
use ioxide_record::event::HttpExchange;

/// Collects the requests of the run up to the first time that each of some switches may have been taken.
#[derive(Debug, Default)]
pub struct EvidenceCollector {
    targets: BTreeSet<SwitchId>,
    found: Mutex<BTreeMap<SwitchId, Vec<HttpExchange>>>,
}

impl EvidenceCollector {
    /// Makes a collector for these switches.
    #[must_use]
    pub fn new(targets: BTreeSet<SwitchId>) -> Self {
        Self { targets, found: Mutex::default() }
    }

    /// Returns what was collected.
    #[must_use]
    pub fn into_found(self) -> BTreeMap<SwitchId, Vec<HttpExchange>> {
        self.found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the requests of a run in which these switches may just have been taken, if they are wanted.
    pub(crate) fn note(&self, switches: &[SwitchId], exchanges: impl FnOnce() -> Vec<HttpExchange>) {
        let mut found = self.lock();
        let fresh = |id: &&SwitchId| self.targets.contains(id) && !found.contains_key(id);
        let fresh: Vec<SwitchId> = switches.iter().filter(fresh).copied().collect();
        if fresh.is_empty() {
            return;
        }
        let exchanges = exchanges();
        found.extend(fresh.into_iter().map(|id| (id, exchanges.clone())));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<SwitchId, Vec<HttpExchange>>> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ioxide_model::index::Idx;

    #[test]
    fn the_first_requests_are_kept_of_what_is_wanted() {
        let id = SwitchId::new;
        let collector = EvidenceCollector::new([id(1), id(2)].into());
        collector.note(&[id(0)], || panic!("nobody wants them"));
        collector.note(&[id(0), id(1)], Vec::new);
        collector.note(&[id(1)], || panic!("they are known"));
        assert_eq!(collector.into_found().into_keys().collect::<Vec<_>>(), [id(1)]);
    }
}
