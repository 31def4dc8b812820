//! Difference first: the places where a change matters, reached beforehand, and a short search from each.
//!
//! A breadth-first product search of a model with a hundred messages ends at depth four or five, while a change often
//! matters far deeper. What leads there does not depend on the change. So the specification is explored once, alone,
//! and every set of states met is kept with its trace; first come sets in which a variable has a new value, then those
//! with a new pair of values. Fields of many values take a few of them. For a mutant the sets are found in which the
//! changed switch and the original one have different messages or effects; the mutant follows the trace to the nearest
//! of them, and a bounded search of pairs begins there (\[AT15] sec. 4.4 goes on from where the mutated switch can be
//! taken, too, but has to find that place first).
//!
//! *Promises.* A difference counts only if a replay on both systems confirms it. Finding none says nothing.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::index::Idx as _;
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, Sts, Switch, SwitchId};
use ioxide_model::term::TermPool;
use ioxide_model::value::Value;

use super::diverged::DivergedPairs;
use super::offer::MessageList;
use super::world::StateSet;
use super::{Enumeration, EnumerationGivenUp, PairToExplore, same_gates};
use crate::conform::InputRule;
use crate::conform::product::InputCompletion;

/// The number of guards that are evaluated to reach states, once for all mutants. Chosen by feel: as long as a few
/// mutants take.
const COLLECTED_STEPS: usize = 400_000;
/// The number of sets of states that are kept. Chosen by feel: every mutant looks at all of them.
const MAX_BELIEFS: usize = 20_000;
/// The ranks of novelty: a new value, a new pair of values, neither.
const RANKS: usize = 3;
/// The number of variables of which pairs are looked at. Chosen by feel: the pairs grow with its square.
const MAX_PAIRED: usize = 32;
/// The number of states of one system that are numbered. Chosen by feel, for their memory.
const MAX_STATES: usize = 200_000;
/// The number of places from which a search begins. Chosen by feel: a change that shows nowhere near the first ones is
/// rarely seen from others.
const MAX_PLACES: usize = 12;
/// The number of guards evaluated from one place. Chosen by feel: two to three steps further in a large model.
const STEPS_PER_PLACE: usize = 40_000;

/// The sets of states that the specification was seen in, nearest first, each with its trace.
#[derive(Clone, Default)]
pub(crate) struct ReachedBeliefs {
    beliefs: Vec<ReachedBelief>,
}

/// A set of states and the way to it.
#[derive(Clone)]
struct ReachedBelief {
    states: Vec<ConcreteState>,
    trace: Vec<Label>,
}

impl fmt::Debug for ReachedBeliefs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReachedBeliefs({})", self.beliefs.len())
    }
}

/// A switch before and after a change.
#[derive(Clone, Copy)]
pub(crate) struct ChangedSwitch<'c> {
    pub id: SwitchId,
    pub after: &'c Switch,
}

impl ReachedBeliefs {
    /// Explores `spec`; nothing is reached if it cannot be followed state by state. `is_over` ends it early.
    pub fn collect(pool: &TermPool, spec: &Sts, is_over: &dyn Fn() -> bool) -> Self {
        let meaning = (ConformanceRelation::Ioco, InputCompletion::Angelic, InputRule::Free);
        // The specification against itself: the enumeration is of pairs, and here both sides are the same set of
        // states.
        let search = Enumeration::sampled(spec, spec, &same_gates(spec), meaning, MAX_STATES);
        search.and_then(|search| search.collect_beliefs(pool, is_over).ok()).unwrap_or_default()
    }

    /// The number of sets of states.
    pub fn len(&self) -> usize {
        self.beliefs.len()
    }

    /// The states of a set.
    pub fn states(&self, at: usize) -> &[ConcreteState] {
        &self.beliefs[at].states
    }

    /// The trace to a set.
    pub fn trace(&self, at: usize) -> &[Label] {
        &self.beliefs[at].trace
    }

    /// Returns the traces to the nearest places at which one of `changes` matters, at most [`MAX_PLACES`].
    pub fn places(&self, pool: &TermPool, spec: &Sts, changes: &[ChangedSwitch<'_>]) -> Vec<&[Label]> {
        let pairs: Vec<SwitchPair<'_>> =
            changes.iter().map(|change| SwitchPair::new(pool, spec, *change)).collect();
        let mut seen: BTreeSet<&ConcreteState> = BTreeSet::new();
        let mut found = Vec::new();
        for belief in &self.beliefs {
            let mut matters = false;
            for state in &belief.states {
                // A state that was a place before shows the same again.
                matters |= seen.insert(state) && pairs.iter().any(|pair| pair.differs(pool, spec, state));
            }
            if matters {
                found.push(&belief.trace[..]);
            }
            if found.len() == MAX_PLACES {
                break;
            }
        }
        found
    }
}

/// The values seen so far, and the pairs of them: sets of states with something new are explored first, as what guards
/// ask for mostly depends on one or two variables (Lipovetzky and Geffner, "Width and serialization of classical
/// planning problems", 2012).
#[derive(Default)]
struct ValueNovelty {
    numbers: FxHashMap<(usize, Value), u32>,
    pairs: FxHashSet<(u32, u32)>,
}

impl ValueNovelty {
    /// Returns the rank of some states, and remembers their values.
    fn rank(&mut self, states: &[&ConcreteState]) -> usize {
        let mut rank = RANKS - 1;
        for state in states {
            let loc = Value::int(i64::try_from(state.loc.index()).unwrap_or(i64::MAX));
            let values = state.values.iter().map(|(_, value)| value.clone()).chain([loc]);
            let mut held: Vec<u32> = Vec::new();
            for (at, value) in values.enumerate() {
                let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                let number = *self.numbers.entry((at, value)).or_insert(next);
                // A number just given out is a value never seen for this variable.
                rank = if number == next { 0 } else { rank };
                held.push(number);
            }
            // The last variables and the location, which stands at the end.
            let first = held.len().saturating_sub(MAX_PAIRED);
            for (at, &one) in held.iter().enumerate().skip(first) {
                for &other in &held[first..at] {
                    rank = if self.pairs.insert((other, one)) { rank.min(1) } else { rank };
                }
            }
        }
        rank
    }
}

/// A switch before and after a change, with the messages of both.
pub(super) struct SwitchPair<'c> {
    switches: [&'c Switch; 2],
    lists: [Option<MessageList>; 2],
}

impl<'c> SwitchPair<'c> {
    pub fn new(pool: &TermPool, spec: &'c Sts, change: ChangedSwitch<'c>) -> Self {
        let switches = [&spec.switches[change.id], change.after];
        let lists = switches.map(|switch| MessageList::sampled(pool, spec, switch, &[]));
        Self { switches, lists }
    }

    /// Returns whether the two have different messages or effects in `state`; true if that is not known.
    pub fn differs(&self, pool: &TermPool, spec: &Sts, state: &ConcreteState) -> bool {
        if self.switches.iter().all(|switch| switch.source != state.loc) {
            return false;
        }
        let [before, after] = [0, 1].map(|at| self.steps(at, pool, spec, state));
        // In doubt it is a place: the search from there decides, and finding nothing claims nothing.
        before.is_none() || after.is_none() || before != after
    }

    /// Returns the messages of one of the two in `state`, each with the state after it.
    fn steps(
        &self,
        at: usize,
        pool: &TermPool,
        spec: &Sts,
        state: &ConcreteState,
    ) -> Option<BTreeSet<(GateId, Vec<Value>, ConcreteState)>> {
        let (switch, list) = (self.switches[at], self.lists[at].as_ref());
        // Most guards are false by the variables alone, whatever the message is.
        if pool.is_refuted_at_once(switch.guard, |var| state.values.get(var)) {
            return Some(BTreeSet::new());
        }
        let mut steps = BTreeSet::new();
        for values in list?.in_state(pool, state, |_| None)? {
            if concrete::is_enabled(pool, spec, state, switch, &values).ok()? {
                let next = concrete::successor(pool, spec, state, switch, &values).ok()?;
                steps.insert((switch.gate, values, next));
            }
        }
        Some(steps)
    }
}

impl Enumeration<'_> {
    /// Explores the specification against itself, and returns the sets of states met, those with short traces first.
    fn collect_beliefs(
        mut self,
        pool: &TermPool,
        is_over: &dyn Fn() -> bool,
    ) -> Result<ReachedBeliefs, EnumerationGivenUp> {
        let mut met: Vec<(usize, StateSet)> = Vec::new();
        let mut novelty = ValueNovelty::default();
        self.enter_start(pool)?;
        // One queue for each rank of novelty; the oldest pair of the first queue that has one comes next.
        let mut queues: [VecDeque<PairToExplore>; RANKS] = [const { VecDeque::new() }; RANKS];
        queues[0].append(&mut self.frontier);
        while let Some((at, depth, left, right)) = queues.iter_mut().find_map(VecDeque::pop_front) {
            met.push((at, right.clone()));
            // Where the limit of states ends this, what was met stays.
            if met.len() == MAX_BELIEFS
                || self.count_evaluations() > COLLECTED_STEPS
                || is_over()
                || self.expand(pool, (at, depth), &left, &right).is_err()
            {
                break;
            }
            // The two sides are one system; what differs here is no finding.
            self.different.clear();
            for pair in std::mem::take(&mut self.frontier) {
                queues[novelty.rank(&self.spec.states_of(&pair.3))].push_back(pair);
            }
        }
        // What waits in the queues was reached too, and has a trace.
        let room = MAX_BELIEFS - met.len();
        met.extend(queues.into_iter().flatten().take(room).map(|(at, _, _, right)| (at, right)));
        let belief = |(at, right): (usize, StateSet)| ReachedBelief {
            states: self.spec.states_of(&right).into_iter().cloned().collect(),
            trace: self.labels_to(at),
        };
        let mut beliefs: Vec<ReachedBelief> = met.into_iter().map(belief).collect();
        beliefs.sort_by_key(|belief| belief.trace.len());
        Ok(ReachedBeliefs { beliefs })
    }

    /// Returns the number of guards that may have been evaluated when the search from one more place ends.
    pub fn end_of_place(&self) -> usize {
        self.count_evaluations() + STEPS_PER_PLACE
    }

    /// Begins the search at the pair after `labels`; returns false if one of the two does not get there.
    ///
    /// # Errors
    /// If a guard or an update on the way cannot be evaluated.
    pub(in crate::conform) fn begin_at(
        &mut self,
        pool: &TermPool,
        labels: &[Label],
    ) -> Result<bool, EnumerationGivenUp> {
        self.seen.clear();
        self.parents.clear();
        self.different.clear();
        self.enter_start(pool)?;
        for label in labels {
            let Some((at, depth, left, right)) = self.pop_pair(pool) else { return Ok(false) };
            let Some((label, left, right)) = self.step_both(pool, label, &left, &right)? else {
                return Ok(false);
            };
            // A pair met before on this trace was left again by the labels after it.
            self.seen.clear();
            self.reach(left, right, depth + 1, Some((at, label)));
        }
        Ok(true)
    }

    /// Makes the pair of initial states the only one to explore.
    fn enter_start(&mut self, pool: &TermPool) -> Result<(), EnumerationGivenUp> {
        self.frontier.clear();
        self.diverged.iter_mut().for_each(DivergedPairs::clear);
        let left = self.imp.initial_states(pool, &mut self.labels)?;
        let right = self.spec.initial_states(pool, &mut self.labels)?;
        self.reach(left, right, 0, None);
        Ok(())
    }

    /// Returns the pair after `label`, and its number; `None` if one of the two does not have it.
    fn step_both(
        &mut self,
        pool: &TermPool,
        label: &Label,
        left: &StateSet,
        right: &StateSet,
    ) -> Result<Option<(Option<usize>, StateSet, StateSet)>, EnumerationGivenUp> {
        let values = self.values(pool, left, right)?;
        let number = match label {
            Label::Quiescence => None,
            message => Some(self.labels.number_of(message.clone())),
        };
        let labels = &mut self.labels;
        if let (Label::Input(..), Some(input)) = (label, number) {
            let theirs = self.spec.give_input(pool, labels, (right, input), InputCompletion::None)?;
            let ours = self.imp.give_input(pool, labels, (left, input), self.completion)?;
            return Ok((!ours.is_empty() && !theirs.is_empty()).then_some((number, ours, theirs)));
        }
        let ours = self.imp.reactions(pool, labels, left, &values)?.remove(&number);
        let theirs = self.spec.reactions(pool, labels, right, &values)?.remove(&number);
        Ok(ours.zip(theirs).map(|(ours, theirs)| (number, ours, theirs)))
    }
}
