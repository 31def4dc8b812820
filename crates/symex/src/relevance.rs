//! The switches that can matter for taking one of them: the others need not be tried on the way.
//!
//! A slice, as of programs: what the guard of the wanted switch reads, what writes it, where control must be for that,
//! and what all of these read in turn. A path within the slice is a path of the system. That there is none says nothing:
//! a slice leaves out steps that only change what it does not read, but a fact about fields may hang on those too.

use std::collections::BTreeSet;

use ioxide_model::sts::{Sts, Switch, SwitchId};
use ioxide_model::term::{Term, TermPool, VarId};

/// The switches that can matter for taking `wanted`, itself included.
#[must_use]
pub fn relevant_switches(pool: &TermPool, sts: &Sts, wanted: SwitchId) -> BTreeSet<SwitchId> {
    let mut slice = RelevantSlice { pool, read: BTreeSet::new(), kept: BTreeSet::new() };
    slice.read_by(sts.switches[wanted].guard);
    slice.kept.insert(wanted);
    loop {
        let before = (slice.kept.len(), slice.read.len());
        for (id, switch) in sts.switches.iter_enumerated() {
            slice.consider(id, switch);
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

    /// Keeps a switch that goes elsewhere or writes what is read, with what it reads itself.
    fn consider(&mut self, id: SwitchId, switch: &Switch) {
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
