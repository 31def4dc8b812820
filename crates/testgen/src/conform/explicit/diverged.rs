//! The pairs of a search whose sides are in different states, in the order in which a difference is likely to show.
//!
//! Every other pair taken is the one that the fewest steps seem to separate from a switch that reads a variable in
//! which the sides differ; the others are taken in the order in which they were met, in case the estimate misleads.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, VecDeque};

use ioxide_model::concrete::ConcreteState;
use ioxide_model::term::{TermPool, VarId};
use rustc_hash::FxHashMap;

use super::PairToExplore;
use super::plan_costs::PlanCosts;
use super::world::EnumeratedSide;

/// The pairs with different states that are not explored yet.
pub(super) struct DivergedPairs<'p> {
    plan: &'p PlanCosts,
    /// The pairs that have no estimate yet.
    fresh: Vec<PairToExplore>,
    waiting: FxHashMap<usize, PairToExplore>,
    /// The estimated steps, the depth and the number of each pair.
    nearest: BinaryHeap<Reverse<(u32, u32, usize)>>,
    oldest: VecDeque<usize>,
    takes_oldest: bool,
}

impl<'p> DivergedPairs<'p> {
    pub fn new(plan: &'p PlanCosts) -> Self {
        let (fresh, waiting) = (Vec::new(), FxHashMap::default());
        let (nearest, oldest) = (BinaryHeap::new(), VecDeque::new());
        Self { plan, fresh, waiting, nearest, oldest, takes_oldest: false }
    }

    /// Drops all pairs.
    pub fn clear(&mut self) {
        self.fresh.clear();
        self.waiting.clear();
        self.nearest.clear();
        self.oldest.clear();
    }

    pub fn push(&mut self, pair: PairToExplore) {
        self.fresh.push(pair);
    }

    /// Takes the pair to explore next.
    pub fn pop(
        &mut self,
        pool: &TermPool,
        (imp, spec): (&EnumeratedSide<'_>, &EnumeratedSide<'_>),
    ) -> Option<PairToExplore> {
        for pair in std::mem::take(&mut self.fresh) {
            let (at, depth, left, right) = &pair;
            let steps = self.estimate(pool, &imp.states_of(left), &spec.states_of(right));
            self.nearest.push(Reverse((steps, *depth, *at)));
            self.oldest.push_back(*at);
            self.waiting.insert(*at, pair);
        }
        self.takes_oldest = !self.takes_oldest;
        while !self.waiting.is_empty() {
            let next = if self.takes_oldest {
                self.oldest.pop_front()
            } else {
                self.nearest.pop().map(|Reverse((_, _, at))| at)
            };
            // A pair is in both queues; the other one took it before.
            if let Some(pair) = next.and_then(|at| self.waiting.remove(&at)) {
                return Some(pair);
            }
        }
        None
    }

    /// Returns the estimated number of steps until the two sides show something different.
    fn estimate(&self, pool: &TermPool, left: &[&ConcreteState], right: &[&ConcreteState]) -> u32 {
        let known: BTreeSet<&ConcreteState> = right.iter().copied().collect();
        let of_state = |state: &ConcreteState| {
            // The nearest state of the specification is the one that shows least.
            let differing = right.iter().map(|other| differing_variables(state, other));
            let least = differing.min_by_key(Vec::len).unwrap_or_default();
            self.plan.cost_of_reading(&self.plan.in_state(pool, state), &least)
        };
        left.iter().filter(|state| !known.contains(*state)).map(|state| of_state(state)).min().unwrap_or(0)
    }
}

/// Returns the variables that have different values in two states.
fn differing_variables(one: &ConcreteState, other: &ConcreteState) -> Vec<VarId> {
    one.values
        .iter()
        .filter(|(var, value)| other.values.get(*var) != Some(value))
        .map(|(var, _)| var)
        .collect()
}
