//! Cheaper harmonised identifiers, by search.
//!
//! Identifiers decide the size of a suite. The search grows some pair by pair
//! in several orders, a few orders at a time, and goes on with those that came
//! out cheapest: it grows the identifiers of one state after the other again,
//! the others being as they are, and keeps what makes all of them together
//! cheaper. The identifiers given are improved in the same way.
//!
//! *Promises* identifiers that are harmonised and cost no more than those
//! given, with the words that only inner words of the suite are followed by,
//! and the same ones in every run: the effort is bounded by a number of steps,
//! not by time.

use ioxide_model::index::{Idx, IndexVec};

use crate::distinguish::characterise::cheapest_cover;
use crate::distinguish::harmonise::{Identifiers, PairGrower};
use crate::distinguish::{SeparatingWords, WordCosts};
use crate::mealy::{StateId, SuiteModel};
use crate::word::Word;

// These numbers and ratios were picked by feel: larger ones make the search longer and the identifiers a little
// cheaper, and never decide whether they are harmonised.

/// The number of orders in which identifiers are grown in a round.
const ORDERS_PER_ROUND: u64 = 3;

/// The greatest number of rounds. Chosen by feel.
const MAX_ROUNDS: u64 = 4;

/// The factor by which identifiers just grown may be more expensive than the best and still be improved; the cheapest
/// of a round always are.
const MAX_RATIO_TO_IMPROVE: f64 = 2.0;

/// The factor by which identifiers may be more expensive than the best after each was grown again, before they are
/// given up.
const MAX_RATIO_TO_GO_ON: f64 = 1.06;

/// The factor by which an identifier grown again may be more expensive than before and still be trimmed.
const MAX_RATIO_TO_TRIM: f64 = 1.4;

/// Identifiers that cost no more than `given`, found in about `effort` steps.
pub fn improve_identifiers(
    spec: &SuiteModel,
    costs: &WordCosts,
    given: IndexVec<StateId, Vec<Word>>,
    effort: usize,
) -> IndexVec<StateId, Vec<Word>> {
    if effort < minimum_effort(spec) {
        return given;
    }
    let shortest = SeparatingWords::new(spec);
    let mut search = ImproveSearch::new(PairGrower::new(spec, &shortest, costs), effort, given);
    for round in 0..MAX_ROUNDS {
        if !search.run_round(round) {
            break;
        }
    }
    search.best
}

/// The steps that a search takes at least: a word for every pair in some orders, and the tables.
fn minimum_effort(spec: &SuiteModel) -> usize {
    let n = spec.n_states();
    let pairs = n.saturating_mul(n);
    pairs.saturating_mul(ORDERS_PER_ROUND as usize).saturating_add(pairs.saturating_mul(spec.n_inputs()) / 8)
}

pub struct ImproveSearch<'a> {
    pub grower: PairGrower<'a>,
    /// The best identifiers so far and their cost.
    pub best: IndexVec<StateId, Vec<Word>>,
    pub best_cost: f64,
    /// The current cost of the identifier of each state.
    pub costs: IndexVec<StateId, f64>,
    /// The other states of each state, those first that short words separate.
    by_distance: IndexVec<StateId, Vec<StateId>>,
    /// For each state a lower bound on the cost of its identifier: one word as long as the longest separating word it
    /// needs.
    floors: IndexVec<StateId, f64>,
    /// Scratch: the other states whose identifiers have grown, and by what cost.
    grown: Vec<(StateId, f64)>,
    pub effort: usize,
}

impl<'a> ImproveSearch<'a> {
    /// Makes a search that starts from the identifiers `given`, one set for each state, and may spend `effort` on
    /// improving them.
    pub fn new(grower: PairGrower<'a>, effort: usize, given: IndexVec<StateId, Vec<Word>>) -> Self {
        let by_distance = |state| {
            let mut others: Vec<StateId> = grower.spec.states().filter(|&other| other != state).collect();
            others.sort_by_key(|&other| grower.shortest.distance(state, other));
            others
        };
        let by_distance: IndexVec<StateId, Vec<StateId>> = grower.spec.states().map(by_distance).collect();
        let floor = |state: StateId| {
            let hardest =
                by_distance[state].last().map_or(0, |&other| grower.shortest.distance(state, other));
            grower.weights.uses[state] * (grower.weights.access + hardest as f64)
        };
        let floors = grower.spec.states().map(floor).collect();
        let best_cost =
            grower.weights.cost_of_all(&given) + inner_words_cost(&grower, &Identifiers::from_words(&given));
        let (best, costs, grown) = (given, IndexVec::new(), Vec::new());
        Self { grower, best, best_cost, costs, by_distance, floors, grown, effort }
    }

    /// Grows identifiers in some orders and improves those that are cheap; returns whether there is effort left.
    fn run_round(&mut self, round: u64) -> bool {
        // Growing is cheap, improving is not: grow in all orders of the round first, then improve the cheapest.
        let mut starts = Vec::new();
        for number in round * ORDERS_PER_ROUND..(round + 1) * ORDERS_PER_ROUND {
            self.grow_in_order(number);
            starts.push((self.total_cost(), std::mem::take(&mut self.grower.identifiers)));
            if self.grower.steps > self.effort {
                break;
            }
        }
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (i, (grown, identifiers)) in starts.into_iter().enumerate() {
            if i > 0 && grown > MAX_RATIO_TO_IMPROVE * self.best_cost {
                break;
            }
            self.grower.identifiers = identifiers;
            if !self.improve_current() {
                return false;
            }
        }
        // The identifiers given, or the best by now, are improved once; later rounds would start from the same ones.
        if round > 0 {
            return true;
        }
        self.grower.identifiers = Identifiers::from_words(&self.best);
        self.improve_current()
    }

    /// Grows identifiers pair by pair in an order of this number.
    pub fn grow_in_order(&mut self, number: u64) {
        self.grower.identifiers = Identifiers::new(self.grower.spec);
        for (a, b) in self.pairs_in_order(number) {
            self.grower.separate(a, b);
        }
        self.recompute_costs();
    }

    /// Recomputes the cost of the identifier of each state.
    fn recompute_costs(&mut self) {
        let cost = |state| self.grower.identifiers.state_cost(state, self.grower.weights);
        self.costs = self.grower.spec.states().map(cost).collect();
    }

    /// All pairs of states: those that need long words first, of these the ones that are seldom reached, then in
    /// mixed orders.
    fn pairs_in_order(&self, number: u64) -> Vec<(StateId, StateId)> {
        let (spec, uses) = (self.grower.spec, &self.grower.weights.uses);
        let below = |a: StateId| spec.states().take(a.index()).map(move |b| (a, b));
        let mut pairs: Vec<(StateId, StateId)> = spec.states().flat_map(below).collect();
        // Hard pairs first: they force the long words, and easy pairs then find a prefix of one that separates them.
        if number == 0 {
            let key = |&(a, b): &(StateId, StateId)| (self.grower.shortest.distance(a, b), uses[a] + uses[b]);
            pairs.sort_by(|one, other| {
                let (one, other) = (key(one), key(other));
                other.0.cmp(&one.0).then(one.1.total_cmp(&other.1))
            });
        } else {
            // 20 bits for each state below the seed; larger machines have no effort left for a search.
            let seed = (4 * number + 5) << 40;
            pairs.sort_by_cached_key(|&(a, b)| scramble(seed | (a.index() as u64) << 20 | b.index() as u64));
        }
        pairs
    }

    pub fn total_cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    /// Improves the identifiers and keeps them if they become the best; returns whether there is effort left.
    pub fn improve_current(&mut self) -> bool {
        self.recompute_costs();
        let left = self.rebuild_all();
        // The tries stay harmonised through every rebuild, so whatever they are now may be kept.
        let cost = self.total_cost() + inner_words_cost(&self.grower, &self.grower.identifiers);
        if cost < self.best_cost {
            self.best_cost = cost;
            self.best = self.grower.identifiers.all_words(self.grower.spec);
        }
        left
    }

    /// Grows identifiers again until that no longer helps, or will not lead below the best; returns whether there is
    /// effort left.
    fn rebuild_all(&mut self) -> bool {
        let mut states: Vec<StateId> = self.grower.spec.states().collect();
        states.sort_by(|&a, &b| self.costs[b].total_cmp(&self.costs[a]));
        let mut since_better = 0;
        let mut before = f64::INFINITY;
        for i in 0.. {
            if self.grower.steps > self.effort {
                return false;
            }
            if i % states.len() == 0 {
                let now = self.total_cost();
                // After a pass over all states: would another gain as large as the last one still not reach the best?
                let hopeless =
                    i > 0 && 2.0 * now - before > self.best_cost && now > MAX_RATIO_TO_GO_ON * self.best_cost;
                if hopeless {
                    break;
                }
                before = now;
            }
            if since_better >= states.len() {
                break;
            }
            // Passes alternate, because an order that did not help a state once will not help it in the next pass
            // either.
            let hardest_first = (i / states.len()).is_multiple_of(2);
            since_better = if self.rebuild_if_cheaper(states[i % states.len()], hardest_first) {
                0
            } else {
                since_better + 1
            };
        }
        true
    }

    /// Grows the identifier of `state` again and goes back unless that is cheaper; returns whether it is.
    fn rebuild_if_cheaper(&mut self, state: StateId, hardest_first: bool) -> bool {
        debug_assert!(
            self.costs[state] > self.floors[state] - 1e-6 || self.grower.spec.n_states() < 2,
            "a floor is a lower bound"
        );
        if self.costs[state] - self.floors[state] < 1e-6 {
            return false;
        }
        let mark = self.grower.identifiers.mark();
        let Some((own, others)) = self.rebuild_identifier(state, hardest_first) else {
            self.grower.identifiers.restore(mark);
            return false;
        };
        if self.costs[state] - own - others < 1e-6 {
            self.grower.identifiers.restore(mark);
            return false;
        }
        self.costs[state] = own;
        for i in 0..self.grown.len() {
            let (other, growth) = self.grown[i];
            self.costs[other] += growth;
        }
        true
    }

    /// Empties the set of `state` and separates it from all others; returns its new cost and the cost added to the
    /// others, `None` if that cannot be cheaper.
    fn rebuild_identifier(&mut self, state: StateId, hardest_first: bool) -> Option<(f64, f64)> {
        let grower = &mut self.grower;
        let before = self.costs[state];
        let room = before - self.floors[state];
        // Clearing breaks harmony only between `state` and the others, and every such pair is separated again below.
        grower.identifiers.clear(state);
        self.grown.clear();
        let mut others = 0.0;
        let by_distance = &self.by_distance[state];
        for i in 0..by_distance.len() {
            let other = by_distance[if hardest_first { by_distance.len() - 1 - i } else { i }];
            let [_, growth] = grower.separate(state, other);
            if growth > 0.0 {
                self.grown.push((other, growth));
                others += growth;
                if others >= room {
                    return None;
                }
            }
        }
        // Trimming is the expensive part; an identifier far too expensive is left to be given up by the caller.
        if grower.identifiers.state_cost(state, grower.weights) + others < MAX_RATIO_TO_TRIM * before {
            trim_identifier(grower, state);
        }
        Some((grower.identifiers.state_cost(state, grower.weights), others))
    }
}

/// Returns the cost of identifiers after inner words of the suite, which any input may follow: a word counts unless,
/// without its first input, it begins a word of the next state, whose identifier is applied there in any case.
fn inner_words_cost(grower: &PairGrower<'_>, identifiers: &Identifiers) -> f64 {
    let PairGrower { spec, weights, .. } = grower;
    let loose = |state: StateId| {
        let words = identifiers.identifier_words(state);
        let goes_on = |word: &&Word| identifiers.contains(spec.next(state, word[0]), &word[1..]);
        let cost = |word: &Word| word.len() as f64 + weights.access;
        weights.inner[state] * words.iter().filter(|word| !goes_on(word)).map(cost).sum::<f64>()
    };
    spec.states().map(loose).sum()
}

/// Drops and cuts words that other words of `state` make unnecessary.
fn trim_identifier(grower: &mut PairGrower<'_>, state: StateId) {
    let (spec, identifiers) = (grower.spec, &grower.identifiers);
    let words = identifiers.identifier_words(state);
    if words.len() < 2 {
        return;
    }
    // A prefix may only be relied on if the other identifier has it too: that is what harmonised means [LPB94].
    let end = |word: &Word, other| {
        let end = if other == state { None } else { spec.separation_length(state, other, word) };
        end.filter(|&end| identifiers.contains(other, &word[..end])).unwrap_or(0)
    };
    let ends: Vec<usize> =
        words.iter().flat_map(|word| spec.states().map(move |other| end(word, other))).collect();
    // Filling the table is work as well, about an eighth of a step of exploration per entry (estimated, not measured).
    grower.steps += ends.len() / 8;
    let cover = cheapest_cover(spec.n_states(), state, &words, &ends, grower.weights);
    grower.identifiers.clear(state);
    cover.iter().for_each(|word| grower.identifiers.add(state, word));
}

/// Returns a pseudo-random number determined by `number`.
fn scramble(number: u64) -> u64 {
    // The finaliser of SplitMix64: the order must look random and be the same in every run and on every machine.
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
