//! Cheaper harmonised identifiers, by search.
//!
//! Identifiers decide the size of a suite. The search starts from given ones,
//! and again from others grown pair by pair in several orders; from each start
//! it grows the identifiers of one state after the other anew, the others being
//! as they are, and keeps what makes all of them together cheaper.
//!
//! *Promises* identifiers that are harmonised and cost no more than those
//! given, the same ones in every run: the effort is bounded by a number of
//! steps, not by time.

use ioxide_model::index::{Idx, IndexVec};

use crate::distinguish::characterise::cheapest_cover;
use crate::distinguish::harmonise::{Identifiers, PairGrower};
use crate::distinguish::{SeparatingWords, Weights};
use crate::mealy::{Spec, StateId};
use crate::word::Word;

/// How often the search begins anew at most.
const MAX_STARTS: u64 = 12;

/// The start that is not grown.
const GIVEN: u64 = 3;

/// By what factor all identifiers may be dearer than the best, each having been grown anew.
const PROMISING: f64 = 1.06;

/// By what factor identifiers may be dearer before they are trimmed.
const HOPE: f64 = 1.4;

/// Identifiers that cost no more than `given`, found in about `effort` steps.
pub(super) fn improved_identifiers(
    spec: &Spec,
    weights: &Weights,
    given: IndexVec<StateId, Vec<Word>>,
    effort: usize,
) -> IndexVec<StateId, Vec<Word>> {
    let n = spec.n_states();
    if n.saturating_mul(n).saturating_mul(spec.n_inputs()) > effort {
        return given;
    }
    let shortest = SeparatingWords::new(spec);
    let mut cost = weights.cost_of_all(&given);
    let mut best = given;
    let mut search = Search::new(PairGrower::new(spec, &shortest, weights), effort);
    for start in 0..MAX_STARTS {
        search.start(if start == GIVEN { None } else { Some(start) }, &best);
        let left = search.improve(cost);
        let found = search.total();
        if found < cost {
            (best, cost) = (search.grower.identifiers.all_words(spec), found);
        }
        if !left {
            break;
        }
    }
    best
}

struct Search<'a> {
    grower: PairGrower<'a>,
    /// What the identifier of each state costs.
    costs: IndexVec<StateId, f64>,
    /// The other states of each state, those first that short words separate.
    by_distance: IndexVec<StateId, Vec<StateId>>,
    /// Scratch: identifiers that have grown, and by what.
    grown: Vec<(StateId, f64)>,
    effort: usize,
}

impl<'a> Search<'a> {
    fn new(grower: PairGrower<'a>, effort: usize) -> Self {
        let by_distance = |state| {
            let mut others: Vec<StateId> = grower.spec.states().filter(|&other| other != state).collect();
            others.sort_by_key(|&other| grower.shortest.distance(state, other));
            others
        };
        let by_distance = grower.spec.states().map(by_distance).collect();
        Self { grower, costs: IndexVec::new(), by_distance, grown: Vec::new(), effort }
    }

    /// Begins with the identifiers given, or with others grown in an order of this number.
    fn start(&mut self, order: Option<u64>, given: &IndexVec<StateId, Vec<Word>>) {
        let spec = self.grower.spec;
        self.grower.identifiers = Identifiers::new(spec);
        match order {
            None => {
                for (state, words) in given.iter_enumerated() {
                    words.iter().for_each(|word| self.grower.identifiers.add(state, word));
                }
            }
            Some(number) => {
                for (a, b) in self.pairs(number) {
                    self.grower.separate(a, b);
                }
            }
        }
        let cost = |state| self.grower.identifiers.cost(state, self.grower.weights);
        self.costs = spec.states().map(cost).collect();
    }

    /// All pairs of states: those that need long words first, then in mixed orders.
    fn pairs(&self, number: u64) -> Vec<(StateId, StateId)> {
        let spec = self.grower.spec;
        let below = |a: StateId| spec.states().take(a.index()).map(move |b| (a, b));
        let mut pairs: Vec<(StateId, StateId)> = spec.states().flat_map(below).collect();
        if number == 0 {
            pairs.sort_by_key(|&(a, b)| std::cmp::Reverse(self.grower.shortest.distance(a, b)));
        } else {
            pairs.sort_by_cached_key(|&(a, b)| {
                mixed(number << 40 | (a.index() as u64) << 20 | b.index() as u64)
            });
        }
        pairs
    }

    fn total(&self) -> f64 {
        self.costs.iter().sum()
    }

    /// Grows identifiers anew until that no longer helps, or will not lead below `best`; tells whether there is effort left.
    fn improve(&mut self, best: f64) -> bool {
        let mut states: Vec<StateId> = self.grower.spec.states().collect();
        states.sort_by(|&a, &b| self.costs[b].total_cmp(&self.costs[a]));
        let mut since_better = 0;
        for i in 0.. {
            if self.grower.steps > self.effort {
                return false;
            }
            let hopeless = i % states.len() == 0 && i > 0 && self.total() > PROMISING * best;
            if since_better >= states.len() || hopeless {
                break;
            }
            let hardest_first = (i / states.len()).is_multiple_of(2);
            since_better =
                if self.regrow(states[i % states.len()], hardest_first) { 0 } else { since_better + 1 };
        }
        true
    }

    /// Grows the identifier of `state` anew and goes back unless that is cheaper; tells whether it is.
    fn regrow(&mut self, state: StateId, hardest_first: bool) -> bool {
        let mark = self.grower.identifiers.mark();
        let Some((own, others)) = self.grow_anew(state, hardest_first) else {
            self.grower.identifiers.go_back(mark);
            return false;
        };
        if self.costs[state] - own - others < 1e-6 {
            self.grower.identifiers.go_back(mark);
            return false;
        }
        self.costs[state] = own;
        for i in 0..self.grown.len() {
            let (other, growth) = self.grown[i];
            self.costs[other] += growth;
        }
        true
    }

    /// Separates `state`, its set being emptied, from all others: what it costs then, and what that
    /// adds to the others; `None` if that is surely too much.
    fn grow_anew(&mut self, state: StateId, hardest_first: bool) -> Option<(f64, f64)> {
        let grower = &mut self.grower;
        let before = self.costs[state];
        let room = before - grower.weights.uses[state] * (grower.weights.access + 1.0);
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
        if grower.identifiers.cost(state, grower.weights) + others < HOPE * before {
            trim(grower, state);
        }
        Some((grower.identifiers.cost(state, grower.weights), others))
    }
}

/// Drops and cuts words that other words of `state` make unnecessary.
fn trim(grower: &mut PairGrower<'_>, state: StateId) {
    let (spec, identifiers) = (grower.spec, &grower.identifiers);
    let words = identifiers.words(state);
    if words.len() < 2 {
        return;
    }
    let end = |word: &Word, other| {
        let end = if other == state { None } else { spec.separated_at(state, other, word) };
        end.filter(|&end| identifiers.contains(other, &word[..end])).unwrap_or(0)
    };
    let ends = words.iter().map(|word| spec.states().map(|other| end(word, other)).collect()).collect();
    let cover = cheapest_cover(spec.n_states(), state, &words, ends, grower.weights);
    grower.identifiers.clear(state);
    cover.iter().for_each(|word| grower.identifiers.add(state, word));
}

/// A number that looks like chance.
fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::cover::state_cover;
    use crate::distinguish::{SplittingTree, adaptive::nested_identifiers};
    use crate::mealy::Mealy;

    /// Whether a common prefix of two identifiers separates every two states, by looking at all of them.
    fn harmonised(spec: &Spec, identifiers: &IndexVec<StateId, Vec<Word>>) -> bool {
        let prefixes = |state: StateId| {
            identifiers[state]
                .iter()
                .flat_map(|word| (1..=word.len()).map(|end| &word[..end]))
                .collect::<Vec<_>>()
        };
        spec.states().all(|a| {
            let mine = prefixes(a);
            spec.states().filter(|&b| b != a).all(|b| {
                let theirs = prefixes(b);
                let separates = |word: &&[_]| spec.separated_at(a, b, word).is_some();
                mine.iter().any(|word| theirs.contains(word) && separates(word))
            })
        })
    }

    #[test]
    fn a_search_that_is_stopped_anywhere_keeps_identifiers_harmonised_and_no_dearer() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let (mut tried, mut cheaper) = (0, 0);
        while tried < 60 {
            let states = rng.random_range(2..12);
            let entry = |_| Some((rng.random_range(0..states), rng.random_range(0..2)));
            let table: Vec<_> = (0..states * 3).map(entry).collect();
            let Ok(spec) = Spec::check(&Mealy::from_table(states, 3, 2, &table).unwrap()) else { continue };
            tried += 1;
            let weights = Weights::new(&spec, &state_cover(&spec), tried % 3);
            let given = nested_identifiers(&spec, &SplittingTree::new(&spec));
            assert!(harmonised(&spec, &given));
            let mut last = weights.cost_of_all(&given);
            for effort in [0, 400, 450, 500, 600, 1_000, 3_000, 100_000] {
                let found = improved_identifiers(&spec, &weights, given.clone(), effort);
                assert!(harmonised(&spec, &found), "{states} states, {effort} steps");
                let cost = weights.cost_of_all(&found);
                assert!(cost <= last + 1e-6, "more effort, and dearer");
                last = cost;
            }
            cheaper += usize::from(last < weights.cost_of_all(&given) - 1e-6);
        }
        assert!(cheaper > 30, "the search finds something: {cheaper} of {tried}");
    }

    #[test]
    fn what_the_search_reckons_is_what_the_words_cost() {
        let mut rng = ChaCha8Rng::seed_from_u64(6);
        let mut tried = 0;
        while tried < 40 {
            let entry = |_| Some((rng.random_range(0..7), rng.random_range(0..2)));
            let table: Vec<_> = (0..14).map(entry).collect();
            let Ok(spec) = Spec::check(&Mealy::from_table(7, 2, 2, &table).unwrap()) else { continue };
            tried += 1;
            let weights = Weights::new(&spec, &state_cover(&spec), 0);
            let shortest = SeparatingWords::new(&spec);
            let mut search = Search::new(PairGrower::new(&spec, &shortest, &weights), 100_000);
            for order in 0..4 {
                search.start(Some(order), &IndexVec::new());
                search.improve(f64::INFINITY);
                let words = search.grower.identifiers.all_words(&spec);
                assert!((search.total() - weights.cost_of_all(&words)).abs() < 1e-6);
            }
        }
    }
}
