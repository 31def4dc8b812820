//! A model in another order: no tester may depend on the order in which a model was written.
//!
//! Fields of messages, messages, variables, places and switches are put into a random order, and what has a name gets
//! another one. The order of the fields and the name of a message depend on the seed and its old name alone, so a model
//! and its mutants still understand each other.

use std::sync::Arc;

use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::sts::{GateId, LocId, Model, Sts, SwitchId};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

/// A random order, given by a seed.
pub struct Shuffle {
    seed: u64,
}

impl Shuffle {
    /// The order of this seed; 0 is like any other.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// `model` in this order; its goals are left out.
    pub fn apply(&self, mut model: Model) -> Model {
        let sts = &model.sts;
        let mut rng = self.rng("all");
        let mut order = |n: usize, fixed: usize| {
            let mut order: Vec<usize> = (0..n).collect();
            order[fixed..].shuffle(&mut rng);
            order
        };
        // The first message is the internal one.
        let gates = order(sts.gates.len(), 1);
        let places = order(sts.locations.len(), 0);
        let switches = order(sts.switches.len(), 0);
        let vars = order(sts.vars.len(), 0);
        let mut shuffled = Sts {
            gates: reorder(&sts.gates, &gates),
            locations: reorder(&sts.locations, &places),
            switches: switches.iter().map(|&at| sts.switches[SwitchId::new(at)].clone()).collect(),
            vars: vars.iter().map(|&at| sts.vars[at].clone()).collect(),
            goals: Vec::new(),
            ..sts.clone()
        };
        let gate = |id: GateId| GateId::new(position(&gates, id.index()));
        let place = |id: LocId| LocId::new(position(&places, id.index()));
        shuffled.initial = place(sts.initial);
        for switch in shuffled.switches.iter_mut() {
            switch.gate = gate(switch.gate);
            (switch.source, switch.target) = (place(switch.source), place(switch.target));
            switch.label = self.name(&switch.label);
        }
        for gate in shuffled.gates.iter_mut().skip(1) {
            gate.fields.shuffle(&mut self.rng(&gate.name));
            gate.name = self.name(&gate.name);
        }
        shuffled.locations.iter_mut().for_each(|location| location.name = self.name(&location.name));
        model.sts = shuffled;
        model
    }

    /// Returns the random numbers for one purpose, the same whatever else is shuffled.
    fn rng(&self, about: &str) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.hash(about))
    }

    /// Returns a name that hints at nothing.
    fn name(&self, old: &str) -> Arc<str> {
        format!("n{:x}", self.hash(old)).into()
    }

    /// A number for the seed and `about` (FNV-1a).
    fn hash(&self, about: &str) -> u64 {
        let bytes = self.seed.to_le_bytes();
        let bytes = bytes.iter().chain(about.as_bytes());
        bytes
            .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
    }
}

/// Returns the new position of an item.
fn position(order: &[usize], old: usize) -> usize {
    order.iter().position(|&at| at == old).unwrap_or(old)
}

/// Returns the items in the new order.
fn reorder<I: Idx, T: Clone>(all: &IndexVec<I, T>, order: &[usize]) -> IndexVec<I, T> {
    order.iter().map(|&at| all[I::new(at)].clone()).collect()
}
