//! The switches that are relevant for taking one of them; a search for that switch need not try the others.
//!
//! A slice, as of programs: the variables that the guard of the wanted switch reads, the switches that write them or
//! move control, and the variables that these read in turn. A path within the slice is a path of the system. If there
//! is none, nothing is proved: a slice leaves out steps that only change variables it does not read, but a fact about
//! fields may depend on those too.

use std::collections::BTreeSet;

use ioxide_model::sts::{Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermPool, VarId};

/// Returns the switches that are relevant for taking `wanted`, itself included.
#[must_use]
pub fn relevant_switches(pool: &TermPool, sts: &Sts, target: SwitchId) -> BTreeSet<SwitchId> {
    let mut slice = RelevantSlice { pool, read: BTreeSet::new(), kept: BTreeSet::new() };
    slice.read_by(sts.switches[target].guard);
    slice.kept.insert(target);
    loop {
        let before = (slice.kept.len(), slice.read.len());
        for (id, switch) in sts.switches.iter_enumerated() {
            slice.consider_switch(id, switch);
        }
        if (slice.kept.len(), slice.read.len()) == before {
            return slice.kept;
        }
    }
}

struct RelevantSlice<'p> {
    pool: &'p TermPool,
    read: BTreeSet<VarId>,
    kept: BTreeSet<SwitchId>,
}

impl RelevantSlice<'_> {
    fn read_by(&mut self, term: Term) {
        self.read.extend(self.pool.free_vars(term));
    }

    /// Keeps a switch that changes the location or writes a variable that is read, and adds the variables it reads.
    fn consider_switch(&mut self, id: SwitchId, switch: &Switch) {
        let writes = switch.update.iter().any(|(var, _)| self.read.contains(var))
            || switch.resets.iter().any(|clock| self.read.contains(clock));
        if switch.source == switch.target && !writes {
            return;
        }
        self.kept.insert(id);
        self.read_by(switch.guard);
        let written: Vec<Term> =
            switch.update.iter().filter(|(var, _)| self.read.contains(var)).map(|(_, term)| *term).collect();
        written.into_iter().for_each(|term| self.read_by(term));
    }
}
