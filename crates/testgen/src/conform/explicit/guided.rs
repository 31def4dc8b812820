//! A search for one place: a set of states in which a changed switch matters, where none was reached beforehand.
//!
//! Best first: sets of states come first in which most of the guard of the switch is true already, and that are few
//! switches away from its location. It begins at the sets that were reached beforehand, so that only the rest of the
//! way is new (goal counting, as in Lipovetzky and Geffner, "Best-first width search", 2017).
//!
//! *Promises.* The trace returned is one of the specification. Finding none says nothing.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use ioxide_model::concrete::ConcreteState;
use ioxide_model::index::IndexVec;
use ioxide_model::label::Label;
use ioxide_model::sts::{LocId, Sts, Switch};
use ioxide_model::term::{Term, TermPool};
use ioxide_smt::halt::Halt;
use rustc_hash::FxHashSet;

use super::reached::{ChangedSwitch, ReachedBeliefs, SwitchPair};
use super::world::{EnumeratedSide, OpenValues, StateSet};
use super::{EnumerationGivenUp, MetLabels};

/// The number of sets reached beforehand from which the search begins. Chosen by feel: the best ones are mostly near
/// each other.
const MAX_SEEDS: usize = 40;
/// The number of guards evaluated for one place. Chosen by feel: half of what reaching the sets of states takes.
const MAX_EVALUATIONS: usize = 200_000;
/// The number of states that are numbered. Chosen by feel, for their memory.
const MAX_STATES: usize = 200_000;

/// The distance of a state from a place: the conjuncts of the guard that are false, and the switches to its location.
struct GoalDistance {
    conjuncts: Vec<Term>,
    switches_to: IndexVec<LocId, usize>,
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
    goals: &'s [GoalDistance],
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
        halt: &Halt,
    ) -> Option<Vec<Label>> {
        let goals: Vec<GoalDistance> = changes
            .iter()
            // Both guards are goals: a change matters where one of them is true and the other is not.
            .flat_map(|change| [&spec.switches[change.id], change.after])
            .map(|switch| GoalDistance::new(pool, spec, switch))
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

impl GoalDistance {
    fn new(pool: &TermPool, spec: &Sts, switch: &Switch) -> Self {
        let mut conjuncts = pool.conjuncts(switch.guard);
        let fields = &spec.gates[switch.gate].fields;
        // A message may have any fields, so what depends on them says nothing about the distance of a state.
        conjuncts.retain(|&term| !pool.free_vars(term).iter().any(|var| fields.contains(var)));
        let mut switches_to = IndexVec::from_elem(usize::MAX, spec.locations.len());
        switches_to[switch.source] = 0;
        let mut waiting = vec![switch.source];
        // Backwards, level by level.
        for hops in 1.. {
            let before = |loc: &LocId| {
                let into = spec.switches.iter().filter(move |switch| switch.target == *loc);
                into.map(|switch| switch.source).collect::<Vec<_>>()
            };
            let next: BTreeSet<LocId> = waiting.iter().flat_map(before).collect();
            waiting = next.into_iter().filter(|&loc| switches_to[loc] == usize::MAX).collect();
            waiting.iter().for_each(|&loc| switches_to[loc] = hops);
            if waiting.is_empty() {
                break;
            }
        }
        Self { conjuncts, switches_to }
    }

    fn of(&self, pool: &TermPool, state: &ConcreteState) -> usize {
        let is_false = |term: &&Term| pool.holds(**term, &state.values) == Ok(false);
        self.conjuncts.iter().filter(is_false).count().saturating_add(self.switches_to[state.loc])
    }
}

impl GuidedSearch<'_, '_> {
    /// Enters the nearest of the sets reached beforehand.
    fn enter_seeds(&mut self, reached: &ReachedBeliefs) -> Result<(), EnumerationGivenUp> {
        let mut seeds: Vec<(usize, usize)> = (0..reached.len())
            .map(|at| (self.distance(&reached.states(at).iter().collect::<Vec<_>>()), at))
            .collect();
        // They are ordered by the length of their trace.
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
        let of_goal = |goal: &GoalDistance| {
            states.iter().map(|state| goal.of(self.pool, state)).min().unwrap_or(usize::MAX)
        };
        // The nearest state counts: the tester does not see which of the states it is in, but one in which the change
        // matters is enough.
        self.goals.iter().map(of_goal).min().unwrap_or(usize::MAX)
    }

    /// Adds a set of states, unless it was met before.
    fn enter(&mut self, states: StateSet, parent: Result<(usize, Option<usize>), usize>, depth: usize) {
        if !self.seen.insert(states.clone()) {
            return;
        }
        let distance = self.distance(&self.side.states_of(&states));
        self.nodes.push(GuidedNode { states, parent });
        // A goal that no switch leads to is never reached from there.
        if distance < usize::MAX {
            self.queue.push(Reverse((distance, depth, self.nodes.len() - 1)));
        }
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
