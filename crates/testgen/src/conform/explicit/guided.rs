//! A search for one place: a set of states in which a changed switch matters, where none was reached beforehand.
//!
//! Best first: sets of states come first from which few steps seem to lead to the switch (see
//! [`PlanCosts`]). It begins at the sets that were reached beforehand, so that only the rest of the way is new.
//!
//! *Promises.* The trace returned is one of the specification. Finding none says nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::{LocId, Sts, Switch};
use ioxide_model::term::{Term, TermPool};
use ioxide_smt::halt::Halt;
use rustc_hash::FxHashSet;

use super::plan_costs::{PlanCosts, StateCosts};
use super::reached::{ChangedSwitch, ReachedBeliefs, SwitchPair};
use super::world::{EnumeratedSide, OpenValues, StateSet};
use super::{EnumerationGivenUp, MetLabels};

/// The number of sets reached beforehand from which the search begins. Chosen by feel: the best ones are mostly near
/// each other.
const MAX_SEEDS: usize = 40;
/// The number of sets of which the way is estimated to choose these; those of most true conjuncts. Chosen by feel: an
/// estimate takes a tenth of a millisecond.
const ESTIMATED_SEEDS: usize = 200;
/// The number of guards evaluated for one place. Chosen by feel: half of what reaching the sets of states takes.
const MAX_EVALUATIONS: usize = 200_000;
/// The number of states that are numbered. Chosen by feel, for their memory.
const MAX_STATES: usize = 200_000;

/// A switch to be reached: its location, and the conjuncts of its guard that mention no field.
struct SwitchGoal {
    loc: LocId,
    conjuncts: Vec<Term>,
}

/// A set of states of the search.
struct GuidedNode {
    states: StateSet,
    /// The node before, and the label between them; the number of the seed for the first ones.
    parent: Result<(usize, Option<usize>), usize>,
}

struct GuidedSearch<'w, 's> {
    pool: &'w TermPool,
    side: EnumeratedSide<'w>,
    labels: MetLabels,
    goals: &'s [SwitchGoal],
    plan: &'s PlanCosts,
    nodes: Vec<GuidedNode>,
    seen: FxHashSet<StateSet>,
    /// Least distance first, then fewest steps.
    queue: BinaryHeap<Reverse<(usize, usize, usize)>>,
}

impl ReachedBeliefs {
    /// Looks for the trace to a place at which one of `changes` matters, from the sets of states reached beforehand.
    pub fn seek_place(
        &self,
        pool: &TermPool,
        spec: &Sts,
        changes: &[ChangedSwitch<'_>],
        (plan, halt): (&PlanCosts, &Halt),
    ) -> Option<Vec<Label>> {
        let goals: Vec<SwitchGoal> = changes
            .iter()
            // Both guards are goals: a change matters where one of them is true and the other is not.
            .flat_map(|change| [&spec.switches[change.id], change.after])
            .map(|switch| SwitchGoal::new(pool, spec, switch))
            .collect();
        let pairs: Vec<SwitchPair<'_>> =
            changes.iter().map(|change| SwitchPair::new(pool, spec, *change)).collect();
        let gates = spec.gates.iter_enumerated().map(|(gate, _)| (gate, gate));
        let side = EnumeratedSide::new(spec, gates, MAX_STATES).with_samples().with_halt(halt.clone());
        let mut search = GuidedSearch {
            pool,
            side,
            labels: MetLabels::default(),
            goals: &goals,
            plan,
            nodes: Vec::new(),
            seen: FxHashSet::default(),
            queue: BinaryHeap::new(),
        };
        search.enter_seeds(self).ok()?;
        let matters = |state: &ConcreteState| pairs.iter().any(|pair| pair.differs(pool, spec, state));
        let found = search.run(&matters).ok()??;
        Some(search.trace_to(self, found))
    }
}

impl SwitchGoal {
    fn new(pool: &TermPool, spec: &Sts, switch: &Switch) -> Self {
        let mut conjuncts = pool.conjuncts(switch.guard);
        let fields = &spec.gates[switch.gate].fields;
        // A message may have any fields, so what depends on them says nothing about the distance of a state.
        conjuncts.retain(|&term| !pool.free_vars(term).iter().any(|var| fields.contains(var)));
        Self { loc: switch.source, conjuncts }
    }

    /// Returns the number of conditions of the switch that are false in a state.
    fn count_false(&self, pool: &TermPool, state: &ConcreteState) -> usize {
        let is_false = |term: &&Term| pool.holds(**term, &state.values) == Ok(false);
        self.conjuncts.iter().filter(is_false).count() + usize::from(state.loc != self.loc)
    }

    /// Returns the number of steps from a state to the switch: estimated, plus the conditions that are false.
    fn distance(
        &self,
        pool: &TermPool,
        (plan, costs): (&PlanCosts, &StateCosts),
        state: &ConcreteState,
    ) -> usize {
        let steps = costs.of(plan, self.loc, &self.conjuncts);
        // A changed guard may have conjuncts of its own, which the estimate does not know.
        self.count_false(pool, state) + usize::try_from(steps).unwrap_or(usize::MAX)
    }
}

impl GuidedSearch<'_, '_> {
    /// Enters the nearest of the sets reached beforehand.
    fn enter_seeds(&mut self, reached: &ReachedBeliefs) -> Result<(), EnumerationGivenUp> {
        let least_false = |at: usize| {
            let of_goal = |goal: &SwitchGoal| {
                reached.states(at).iter().map(|state| goal.count_false(self.pool, state)).min()
            };
            self.goals.iter().filter_map(of_goal).min().unwrap_or(usize::MAX)
        };
        let mut seeds: Vec<(usize, usize)> = (0..reached.len()).map(|at| (least_false(at), at)).collect();
        // They are ordered by the length of their trace.
        seeds.sort_unstable();
        seeds.truncate(ESTIMATED_SEEDS);
        for (distance, at) in &mut seeds {
            *distance = self.distance(&reached.states(*at).iter().collect::<Vec<_>>());
        }
        seeds.sort_unstable();
        for (_, seed) in seeds.into_iter().take(MAX_SEEDS) {
            let states: Result<StateSet, _> =
                reached.states(seed).iter().map(|state| self.side.number_of(state.clone())).collect();
            let mut states = states?;
            states.sort_unstable();
            self.enter(states, Err(seed), 0);
        }
        Ok(())
    }

    /// Returns the least distance of some states from one of the goals.
    fn distance(&self, states: &[&ConcreteState]) -> usize {
        let of_state = |state: &&ConcreteState| {
            let costs = self.plan.in_state(self.pool, state);
            let of_goal = |goal: &SwitchGoal| goal.distance(self.pool, (self.plan, &costs), state);
            self.goals.iter().map(of_goal).min().unwrap_or(usize::MAX)
        };
        // The nearest state counts: the tester does not see which of the states it is in, but one in which the change
        // matters is enough.
        states.iter().map(of_state).min().unwrap_or(usize::MAX)
    }

    /// Adds a set of states, unless it was met before.
    fn enter(&mut self, states: StateSet, parent: Result<(usize, Option<usize>), usize>, depth: usize) {
        if !self.seen.insert(states.clone()) {
            return;
        }
        let distance = self.distance(&self.side.states_of(&states));
        self.nodes.push(GuidedNode { states, parent });
        // What seems to be out of reach comes last, as the estimate may be wrong.
        self.queue.push(Reverse((distance, depth, self.nodes.len() - 1)));
    }

    /// Returns the first node with a state in which the change `matters`.
    fn run(&mut self, matters: &dyn Fn(&ConcreteState) -> bool) -> Result<Option<usize>, EnumerationGivenUp> {
        while let Some(Reverse((distance, depth, at))) = self.queue.pop() {
            let states = self.nodes[at].states.clone();
            // Elsewhere no guard is true, and nothing can differ.
            if distance == 0 && self.side.states_of(&states).into_iter().any(matters) {
                return Ok(Some(at));
            }
            if self.side.evaluated > MAX_EVALUATIONS {
                return Ok(None);
            }
            let none = OpenValues::new();
            // The tester chooses inputs, the specification outputs: a trace of it may have either.
            let outputs = self.side.reactions(self.pool, &mut self.labels, &states, &none)?;
            for (label, to) in outputs {
                self.enter(to, Ok((at, label)), depth + 1);
            }
            for (label, to) in self.side.inputs(self.pool, &mut self.labels, &states, &none)? {
                self.enter(to, Ok((at, Some(label))), depth + 1);
            }
        }
        Ok(None)
    }

    /// Returns the labels to the node `at`, those to its seed first.
    fn trace_to(&self, reached: &ReachedBeliefs, at: usize) -> Vec<Label> {
        let mut steps = Vec::new();
        let mut at = at;
        // The steps come backwards; the trace to the seed is known forwards.
        let seed = loop {
            match self.nodes[at].parent {
                Ok((parent, label)) => {
                    let label = label.map_or(Label::Quiescence, |label| self.labels.label(label).clone());
                    steps.push(label);
                    at = parent;
                }
                Err(seed) => break seed,
            }
        };
        steps.reverse();
        [reached.trace(seed), &steps].concat()
    }
}
