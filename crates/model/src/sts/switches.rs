//! The switches of a system, indexed by source location.
//!
//! A step needs the switches of one location only, and a model may have tens of thousands. The index is built at the
//! first query and dropped whenever a switch may have been changed.

use std::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use super::{LocId, Switch, SwitchId};
use crate::index::{Idx, IndexVec};

/// Switches, in order of appearance.
#[derive(Debug, Default)]
pub struct Switches {
    all: IndexVec<SwitchId, Switch>,
    by_source: OnceLock<BySource>,
}

/// The switches sorted by source location, and the position at which those of each location begin.
#[derive(Debug, Default)]
struct BySource {
    ids: Vec<SwitchId>,
    begins: Vec<usize>,
}

impl Switches {
    /// The switches that start at `loc`, in order.
    pub fn from(&self, loc: LocId) -> impl Iterator<Item = (SwitchId, &Switch)> {
        let found = self.by_source.get_or_init(|| BySource::index_switches(&self.all)).switches_from(loc);
        found.iter().map(|&id| (id, &self.all[id]))
    }
}

impl BySource {
    fn index_switches(switches: &IndexVec<SwitchId, Switch>) -> Self {
        let mut ids: Vec<SwitchId> = switches.ids().collect();
        ids.sort_by_key(|&id| switches[id].source);
        let n_places = ids.last().map_or(0, |&id| switches[id].source.index() + 1);
        let mut begins = vec![0; n_places + 1];
        for switch in switches {
            begins[switch.source.index() + 1] += 1;
        }
        for place in 0..n_places {
            begins[place + 1] += begins[place];
        }
        Self { ids, begins }
    }

    fn switches_from(&self, loc: LocId) -> &[SwitchId] {
        match self.begins.get(loc.index()..) {
            Some(&[begin, end, ..]) => &self.ids[begin..end],
            _ => &[],
        }
    }
}

impl Deref for Switches {
    type Target = IndexVec<SwitchId, Switch>;

    fn deref(&self) -> &Self::Target {
        &self.all
    }
}

impl DerefMut for Switches {
    /// Drops the index: a change of a switch may change its source.
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.by_source.take();
        &mut self.all
    }
}

impl Clone for Switches {
    fn clone(&self) -> Self {
        Self { all: self.all.clone(), by_source: OnceLock::new() }
    }
}

impl FromIterator<Switch> for Switches {
    fn from_iter<It: IntoIterator<Item = Switch>>(switches: It) -> Self {
        Self { all: switches.into_iter().collect(), by_source: OnceLock::new() }
    }
}

impl<'a> IntoIterator for &'a Switches {
    type Item = &'a Switch;
    type IntoIter = std::slice::Iter<'a, Switch>;

    fn into_iter(self) -> Self::IntoIter {
        self.all.iter()
    }
}
