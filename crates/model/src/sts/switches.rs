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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};
    use crate::sts::Sts;
    use crate::term::TermPool;

    fn switch(pool: &mut TermPool, source: usize) -> Switch {
        Switch {
            label: "s".into(),
            source: LocId::new(source),
            gate: Sts::TAU,
            guard: pool.tt(),
            update: Vec::new(),
            resets: Vec::new(),
            target: LocId::new(0),
            span: Span::new(FileId::new(0), 0, 0),
            doc: String::new(),
            reqs: Vec::new(),
            weight: 1,
            range_check: None,
        }
    }

    /// Returns the switches from `loc`, found by looking through all of them.
    fn looked_for(switches: &Switches, loc: LocId) -> Vec<SwitchId> {
        switches.ids().filter(|&id| switches[id].source == loc).collect()
    }

    #[track_caller]
    fn agree(switches: &Switches) {
        for loc in (0..6).map(LocId::new) {
            let found: Vec<SwitchId> = switches.from(loc).map(|(id, _)| id).collect();
            assert_eq!(found, looked_for(switches, loc), "at {loc:?}");
        }
    }

    #[test]
    fn the_switches_of_a_place_are_those_that_start_there_whatever_was_changed() {
        let mut pool = TermPool::new();
        agree(&Switches::default());
        let mut switches: Switches =
            [3, 0, 4, 3, 3, 0].map(|source| switch(&mut pool, source)).into_iter().collect();
        agree(&switches);
        switches[SwitchId::new(1)].source = LocId::new(4);
        agree(&switches);
        agree(&switches.clone());
        switches.push(switch(&mut pool, 5));
        agree(&switches);
        switches.iter_mut().for_each(|switch| switch.source = LocId::new(2));
        agree(&switches);
    }
}
