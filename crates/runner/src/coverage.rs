//! Which switches a run took, as far as what was seen tells.
//!
//! The specification may be in several states, so a label may have taken one of several
//! switches. A switch counts as *certain* if it is the only one that explains a label, and
//! as *possible* if it is one of several (000's conservative and liberal measure, by label).
//! Internal switches are not seen; they are not counted here.

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{Sts, SwitchId};

/// How often a switch was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// As the only explanation of a label.
    pub certain: u64,
    /// As one of the explanations of a label.
    pub possible: u64,
}

/// How often every switch was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    taken: IndexVec<SwitchId, Taken>,
    /// Whether a switch is internal, so that nobody sees it taken, or nothing to aim at: nothing is said about it.
    internal: IndexVec<SwitchId, bool>,
}

impl Coverage {
    /// Nothing taken yet.
    #[must_use]
    pub fn new(sts: &Sts) -> Self {
        let internal = sts.switches.iter().map(|switch| !sts.is_seen(switch)).collect();
        Self { taken: IndexVec::filled(Taken::default(), sts.switches.len()), internal }
    }

    /// How often `switch` was taken.
    #[must_use]
    pub fn of(&self, switch: SwitchId) -> Taken {
        self.taken[switch]
    }

    /// The switches that were certainly taken.
    pub fn covered(&self) -> impl Iterator<Item = SwitchId> + '_ {
        self.taken.iter_enumerated().filter(|(_, taken)| taken.certain > 0).map(|(id, _)| id)
    }

    /// The visible switches that were never even possibly taken.
    pub fn never(&self) -> impl Iterator<Item = SwitchId> + '_ {
        let untaken = self.taken.iter_enumerated().filter(|(_, taken)| taken.possible == 0);
        untaken.map(|(id, _)| id).filter(|&id| !self.internal[id])
    }

    /// Adds what another run of the same model took.
    pub fn add(&mut self, other: &Self) {
        for (taken, more) in self.taken.iter_mut().zip(other.taken.iter()) {
            taken.certain += more.certain;
            taken.possible += more.possible;
        }
    }

    /// Counts one label that these switches explain.
    pub fn count(&mut self, switches: &[SwitchId]) {
        for &switch in switches {
            self.taken[switch].possible += 1;
        }
        if let [only] = switches {
            self.taken[*only].certain += 1;
        }
    }
}
