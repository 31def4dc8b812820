//! Live variables: which values can still matter at a location.
//!
//! The classical backward analysis on the switches: a variable is live where a guard reads
//! it, or an update reads it for a variable that is live at the target, or it is live at the
//! target and not overwritten. States that agree on location and live variables allow the
//! same behaviour, so exploration may merge them.

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{LocId, Sts, Switch};
use ioxide_model::term::{TermPool, VarId};

/// The live variables and clocks of every location.
#[derive(Clone, Debug)]
pub struct LiveVars {
    live: IndexVec<LocId, Vec<VarId>>,
}

impl LiveVars {
    /// The least fixed point over the switches of `sts`; `always` is live everywhere.
    #[must_use]
    pub fn of(pool: &TermPool, sts: &Sts, always: &[VarId]) -> Self {
        let mut live = IndexVec::filled(always.to_vec(), sts.locations.len());
        loop {
            let mut changed = false;
            for switch in &sts.switches {
                let before = needed(pool, sts, switch, &live[switch.target]);
                let here = &mut live[switch.source];
                let new: Vec<VarId> = before.into_iter().filter(|var| !here.contains(var)).collect();
                changed |= !new.is_empty();
                here.extend(new);
            }
            if !changed {
                return Self { live };
            }
        }
    }

    /// Everything is live everywhere.
    #[must_use]
    pub fn all(sts: &Sts) -> Self {
        let vars =
            sts.vars.iter().map(|var| var.var).chain(sts.clocks.iter().map(|clock| clock.var)).collect();
        Self { live: IndexVec::filled(vars, sts.locations.len()) }
    }

    /// Whether the value of `var` can matter at `loc`.
    #[must_use]
    pub fn is_live(&self, loc: LocId, var: VarId) -> bool {
        self.live[loc].contains(&var)
    }
}

/// What must be known before `switch` if `after` must be known after it.
fn needed(pool: &TermPool, sts: &Sts, switch: &Switch, after: &[VarId]) -> Vec<VarId> {
    let mut reads = pool.free_vars(switch.guard);
    for &var in after {
        match switch.update.iter().find(|(target, _)| *target == var) {
            Some((_, term)) => reads.extend(pool.free_vars(*term)),
            None if switch.resets.contains(&var) => (),
            None => reads.push(var),
        }
    }
    let fields = &sts.gates[switch.gate].fields;
    reads.retain(|var| !fields.contains(var));
    reads.sort_unstable();
    reads.dedup();
    reads
}
