//! The choice among the inputs that are possible, by the preferences of the walk.

use std::collections::BTreeMap;

use rand::RngExt;
use rand::seq::IndexedRandom;

use ioxide_model::sts::{Sts, SwitchId};

use super::super::walk_preferences::InputPreference;
use super::{MAX_GRAM, RandomWalks};
use crate::data::ModelLexicon;

/// One preference in this many keeps to one key. Chosen by feel: most faults of a store need one key or two.
const HOLD_ONE_IN: u32 = 2;
/// The number of inputs, drawn by their weights, among which the newest is chosen where the model gives weights. Chosen
/// by feel: with more of them, weights matter less; with fewer, novelty does.
const NEWEST_OF: usize = 3;

impl RandomWalks {
    /// Returns the candidate that the preferences choose; new ones are dealt if none are left.
    pub(super) fn choose_switch(&mut self, sts: &Sts, candidates: &[SwitchId], outline: u64) -> SwitchId {
        if self.run.preferences.as_ref().is_none_or(|preferences| preferences.left == 0) {
            let met: Vec<SwitchId> = self.met.keys().copied().collect();
            let weights: Vec<u32> = met.iter().map(|id| sts.switches[*id].weight).collect();
            self.run.preferences = Some(self.cycle.next_preferences(&mut self.rng, &met, &weights));
            // Faults of caches and indices need several messages about one key: set, remove, set, get.
            let has_keys = self.lexicon.as_ref().is_some_and(ModelLexicon::has_keys);
            self.run.keys.hold(has_keys && self.rng.random_ratio(1, HOLD_ONE_IN));
        }
        let (way, left) =
            self.run.preferences.as_ref().map_or((InputPreference::Novel, 0), |preferences| {
                (preferences.way.clone(), preferences.left)
            });
        match way {
            InputPreference::Novel => self.newest_drawn(sts, candidates, outline),
            InputPreference::Even => self.draw_weighted(sts, candidates, &even(candidates), outline),
            InputPreference::Swarm(weights) => self.draw_weighted(sts, candidates, &weights, outline),
            InputPreference::Pump { fill, drain, times } => {
                // The first moves fill, the last `times` drain: what grows is emptied within the same preference.
                let wanted = if left > times { fill } else { drain };
                if candidates.contains(&wanted) {
                    wanted
                } else {
                    same_message(sts, candidates, wanted)
                        .unwrap_or_else(|| self.newest_drawn(sts, candidates, outline))
                }
            }
        }
    }

    /// Returns the newest of a few candidates that are drawn by the weights of the model; of all, if it has none.
    fn newest_drawn(&mut self, sts: &Sts, candidates: &[SwitchId], outline: u64) -> SwitchId {
        let weight = |id: &SwitchId| sts.switches[*id].weight;
        if candidates.iter().all(|id| weight(id) == weight(&candidates[0])) {
            return self.newest_candidate(candidates, outline);
        }
        let drawn: Vec<SwitchId> =
            (0..NEWEST_OF).map(|_| self.draw_weighted(sts, candidates, &even(candidates), outline)).collect();
        self.newest_candidate(&drawn, outline)
    }

    /// Returns a candidate never tried in a state of this outline; among those, or if there is none, one that makes the
    /// shortest sequence of inputs that was never sent; if all up to [`MAX_GRAM`] were, the one whose longest sequence
    /// was sent the least often.
    fn newest_candidate(&mut self, candidates: &[SwitchId], outline: u64) -> SwitchId {
        let inputs = &self.run.inputs;
        let most = (MAX_GRAM - 1).min(inputs.len());
        let times = |id: SwitchId, before: usize| {
            let gram = [&inputs[inputs.len() - before..], &[id]].concat();
            self.grams.get(&gram).copied().unwrap_or(0)
        };
        let rank = |id: SwitchId| {
            let was_tried = self.tried.contains_key(&(outline, id));
            match (0..=most).find(|&before| times(id, before) == 0) {
                Some(before) => (was_tried, before, 0),
                None => (was_tried, MAX_GRAM, times(id, most)),
            }
        };
        // The rank has no random part, so that ties are broken by the generator alone and the same seed makes the same
        // walk.
        let best = candidates.iter().map(|&id| rank(id)).min();
        let best: Vec<SwitchId> = candidates.iter().copied().filter(|&id| Some(rank(id)) == best).collect();
        *best.choose(&mut self.rng).unwrap_or(&candidates[0])
    }

    fn draw_weighted(
        &mut self,
        sts: &Sts,
        candidates: &[SwitchId],
        weights: &BTreeMap<SwitchId, u32>,
        outline: u64,
    ) -> SwitchId {
        let weight = |&id: &SwitchId| {
            u64::from(weights.get(&id).copied().unwrap_or(0)) * u64::from(sts.switches[id].weight)
        };
        let total: u64 = candidates.iter().map(weight).sum();
        if total == 0 {
            return self.newest_candidate(candidates, outline);
        }
        let mut left = self.rng.random_range(0..total);
        let chosen = candidates.iter().find(|id| {
            let weight = weight(id);
            let here = left < weight;
            left = left.saturating_sub(weight);
            here
        });
        *chosen.unwrap_or(&candidates[0])
    }
}

/// The same weight for all candidates.
fn even(candidates: &[SwitchId]) -> BTreeMap<SwitchId, u32> {
    candidates.iter().map(|&id| (id, 1)).collect()
}

/// Returns a candidate with the message of `wanted`, which is not a candidate itself.
fn same_message(sts: &Sts, candidates: &[SwitchId], target: SwitchId) -> Option<SwitchId> {
    let gate = sts.switches[target].gate;
    candidates.iter().copied().find(|&id| sts.switches[id].gate == gate)
}
