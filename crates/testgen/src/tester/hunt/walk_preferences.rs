//! Moods: the preferences of a walk for a while.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::{IndexedRandom, SliceRandom};
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::SwitchId;

use crate::data::ValueWeights;

/// The numbers of repetitions of the inputs of a pump, in the order in which they are used. Chosen by feel: mostly
/// numbers that cross small limits (3, 8, 24), now and then one that crosses a larger one (70, 150).
const PUMPS: [usize; 12] = [8, 24, 3, 24, 70, 8, 24, 3, 150, 8, 24, 3];
/// The greatest number of repetitions where the model gives weights: it says how often it wants an input. Chosen by
/// feel.
const MAX_WEIGHTED_PUMP: usize = 8;
/// The number of preferences after which they last longer. Chosen by feel: long ones find what needs many equal steps,
/// short ones everything else.
const GROWS_EVERY: usize = 4;

/// The preferences of a walk for a number of inputs.
#[derive(Clone, Debug)]
pub(super) struct WalkPreferences {
    pub(super) way: InputPreference,
    /// The number of inputs left.
    pub(super) left: usize,
    /// The percentage of moves at which it sends where it could also look.
    pub(super) eager: u32,
    pub(super) weights: ValueWeights,
}

/// The rule by which an input is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InputPreference {
    /// By its weight; inputs without a weight are left out while others are possible.
    Swarm(BTreeMap<SwitchId, u32>),
    /// An input that makes the shortest sequence of inputs not sent yet.
    Novel,
    /// All inputs alike, whatever came before.
    Even,
    /// One input this many times, then another one as often.
    Pump {
        /// The first.
        fill: SwitchId,
        /// The second.
        drain: SwitchId,
        /// The number of repetitions of each.
        times: usize,
    },
}

/// The cycle that preferences are dealt from: every kind, and every pair of inputs to pump, comes once before any
/// again, so that no seed waits long for a kind.
#[derive(Clone, Debug, Default)]
pub(super) struct PreferenceCycle {
    kinds: Vec<PreferenceKind>,
    pairs: Vec<(SwitchId, SwitchId)>,
    /// The numbers of preferences and of pumps given so far.
    n_given: usize,
    pumps: usize,
}

/// A kind of preference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PreferenceKind {
    Novel,
    Even,
    Pump,
    Swarm,
}

/// The kinds of one cycle; new sequences are half of them.
const KINDS: [PreferenceKind; 8] = [
    PreferenceKind::Novel,
    PreferenceKind::Pump,
    PreferenceKind::Novel,
    PreferenceKind::Swarm,
    PreferenceKind::Novel,
    PreferenceKind::Pump,
    PreferenceKind::Novel,
    PreferenceKind::Even,
];

impl PreferenceCycle {
    /// Returns the next preferences; `inputs` are those met so far. The first ones are short and mild: many faults are
    /// near, and an extreme preference that does not suit a system costs a lot.
    /// `weights` are those that the model gives the inputs.
    pub(super) fn next_preferences(
        &mut self,
        rng: &mut ChaCha8Rng,
        inputs: &[SwitchId],
        weights: &[u32],
    ) -> WalkPreferences {
        // Fair, eager and patient, chosen by feel: some faults need several pending inputs, some need that every
        // reply is awaited.
        let eager = [50, 50, 95, 95, 15][rng.random_range(0..5usize)];
        let length = 1usize << rng.random_range(2..=3 + (self.n_given / GROWS_EVERY).min(2));
        // With a single input there is nothing to pump against and nothing to leave out.
        let (way, left) = match self.kind(rng) {
            PreferenceKind::Pump if inputs.len() > 1 => self.pump(rng, inputs, weights),
            PreferenceKind::Swarm if inputs.len() > 1 => (InputPreference::Swarm(swarm(rng, inputs)), length),
            PreferenceKind::Even => (InputPreference::Even, length),
            PreferenceKind::Novel | PreferenceKind::Pump | PreferenceKind::Swarm => {
                (InputPreference::Novel, 2 * length)
            }
        };
        self.n_given += 1;
        WalkPreferences { way, left, eager, weights: draw_weights(rng) }
    }

    /// Draws the kind of the next preferences; every kind comes once before any comes again.
    fn kind(&mut self, rng: &mut ChaCha8Rng) -> PreferenceKind {
        if self.kinds.is_empty() {
            self.kinds = KINDS.to_vec();
            // The last ones are dealt first.
            let mild = if self.n_given == 0 { 2 } else { 0 };
            self.kinds[..KINDS.len() - mild].shuffle(rng);
        }
        self.kinds.pop().unwrap_or(PreferenceKind::Novel)
    }

    /// Returns the preference to send one input several times, then another.
    fn pump(
        &mut self,
        rng: &mut ChaCha8Rng,
        inputs: &[SwitchId],
        weights: &[u32],
    ) -> (InputPreference, usize) {
        let times = PUMPS[self.pumps % PUMPS.len()];
        self.pumps += 1;
        // Inputs that the model wants to be rare are not repeated dozens of times.
        let is_even = weights.iter().all(|weight| Some(weight) == weights.first());
        let weighted: Vec<(SwitchId, u32)> = inputs.iter().copied().zip(weights.iter().copied()).collect();
        let mut draw = || weighted.choose_weighted(rng, |(_, weight)| *weight).ok().map(|(id, _)| *id);
        if !is_even && let (Some(fill), Some(drain)) = (draw(), draw()) {
            let times = times.min(MAX_WEIGHTED_PUMP);
            return (InputPreference::Pump { fill, drain, times }, 2 * times);
        }
        if self.pairs.is_empty() {
            let with =
                |&fill| inputs.iter().filter(move |&&drain| drain != fill).map(move |&drain| (fill, drain));
            self.pairs = inputs.iter().flat_map(with).collect();
            self.pairs.shuffle(rng);
        }
        let (fill, drain) = self.pairs.pop().unwrap_or((inputs[0], inputs[0]));
        (InputPreference::Pump { fill, drain, times }, 2 * times)
    }
}

impl WalkPreferences {
    /// Returns whether every input may be chosen.
    pub(super) fn is_open(&self) -> bool {
        match &self.way {
            InputPreference::Novel | InputPreference::Even => true,
            InputPreference::Swarm(_) | InputPreference::Pump { .. } => false,
        }
    }
}

/// Draws half of the inputs, with weights that differ widely.
fn swarm(rng: &mut ChaCha8Rng, inputs: &[SwitchId]) -> BTreeMap<SwitchId, u32> {
    let mut kept = inputs.to_vec();
    kept.shuffle(rng);
    // Swarm testing: leaving inputs out reaches states that any one of them would undo.
    kept.truncate(kept.len().div_ceil(2));
    let skew = rng.random_range(0..=4u32);
    kept.into_iter().map(|id| (id, 1 << rng.random_range(0..=skew))).collect()
}

/// Draws the weights of values: all kinds half of the time, else mostly one.
fn draw_weights(rng: &mut ChaCha8Rng) -> ValueWeights {
    let plain = ValueWeights::default();
    match rng.random_range(0..8u32) {
        0..=3 => plain,
        4 | 5 => ValueWeights { near: 12, fresh: 1, small: 1, edge: 1, wide: 0, onto_edges: 10 },
        6 => ValueWeights { near: 4, fresh: 0, small: 8, edge: 0, wide: 0, onto_edges: 10 },
        _ => ValueWeights { near: 3, fresh: 0, small: 1, edge: 5, wide: 5, onto_edges: 25 },
    }
}
