//! Moods: what a walk prefers for a while.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::SwitchId;

use crate::data::Taste;

/// How often the inputs of a pump are repeated.
const PUMPS: [usize; 6] = [3, 8, 24, 24, 70, 150];

/// What a walk prefers for so many inputs.
#[derive(Clone, Debug)]
pub(super) struct Mood {
    pub(super) way: Way,
    /// Inputs left.
    pub(super) left: usize,
    /// How often, in percent, it sends where it could also look.
    pub(super) eager: u32,
    pub(super) taste: Taste,
}

/// How an input is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By weights of its own; those without one are left out while others are there.
    Swarm(BTreeMap<SwitchId, u32>),
    /// What makes a sequence of inputs that was not sent yet, the shortest first.
    Novel,
    /// One input so many times, then another one as often.
    Pump {
        /// The first.
        fill: SwitchId,
        /// The second.
        drain: SwitchId,
        /// How often each.
        times: usize,
    },
}

impl Mood {
    /// A mood for walk number `walk`, these inputs having been met.
    pub(super) fn new(rng: &mut ChaCha8Rng, inputs: &[SwitchId], walk: u32) -> Self {
        let eager = [50, 50, 95, 95, 15][rng.random_range(0..5usize)];
        let (way, left) = way(rng, inputs, walk);
        Self { way, left, eager, taste: taste(rng) }
    }
}

/// New sequences half of the time; the longest pumps are for later walks.
fn way(rng: &mut ChaCha8Rng, inputs: &[SwitchId], walk: u32) -> (Way, usize) {
    let length = 1usize << rng.random_range(3..=5u32);
    match rng.random_range(0..10u32) {
        0..=4 => (Way::Novel, length),
        5 | 6 if inputs.len() > 1 => {
            let mut pair = inputs.to_vec();
            pair.shuffle(rng);
            let most = if walk < 3 { 4 } else { PUMPS.len() };
            let times = PUMPS[rng.random_range(0..most)];
            (Way::Pump { fill: pair[0], drain: pair[1], times }, 2 * times)
        }
        _ => (Way::Swarm(swarm(rng, inputs)), length),
    }
}

/// Half of the inputs, or all of them, with weights that differ widely.
fn swarm(rng: &mut ChaCha8Rng, inputs: &[SwitchId]) -> BTreeMap<SwitchId, u32> {
    let mut kept = inputs.to_vec();
    kept.shuffle(rng);
    if rng.random_ratio(1, 2) {
        kept.truncate(kept.len().div_ceil(2));
    }
    let skew = rng.random_range(0..=4u32);
    kept.into_iter().map(|id| (id, 1 << rng.random_range(0..=skew))).collect()
}

/// All kinds of values most of the time, else mostly one.
fn taste(rng: &mut ChaCha8Rng) -> Taste {
    let plain = Taste::default();
    match rng.random_range(0..8u32) {
        0..=3 => plain,
        4 | 5 => Taste { near: 12, small: 1, edge: 1, wide: 0, onto_edges: 10 },
        6 => Taste { near: 4, small: 8, edge: 0, wide: 0, onto_edges: 10 },
        _ => Taste { near: 3, small: 1, edge: 5, wide: 5, onto_edges: 25 },
    }
}
