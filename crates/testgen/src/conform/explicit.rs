//! ioco by enumeration: the second opinion on the symbolic check, and what it is measured against.
//!
//! Both systems are read as labelled transition systems (003 Def. 2.2): every value of every
//! message is tried in every state. The product of the two, determinised, is searched breadth
//! first for an output or a silence only the implementation has. It shares no code with the
//! symbolic search, knows no terms beyond their evaluation, and needs finite messages.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::concrete::{self, State};
use ioxide_model::label::Label;
use ioxide_model::relation::Relation;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_model::value::Value;

use super::Completion;

/// What enumeration found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// All was enumerated, and everything is allowed.
    Conforms,
    /// A shortest trace whose last label only the implementation has.
    Fails(Trace),
    /// A domain is infinite or too large, a value is unknown, or the limit was reached.
    GaveUp,
}

/// How much to enumerate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// At most this many states of one system.
    pub states: usize,
    /// At most this many steps of one system, over all states.
    pub steps: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self { states: 2_000_000, steps: 50_000_000 }
    }
}

/// Whether `imp` is ioco `spec`, two systems with the same gates over one pool.
#[must_use]
pub fn ioco(pool: &TermPool, imp: &Sts, spec: &Sts, completion: Completion, budget: Budget) -> Found {
    conforms(pool, imp, spec, Relation::Ioco, completion, budget)
}

/// Whether `imp` conforms to `spec` under `relation`, two systems with the same gates over one pool.
#[must_use]
pub fn conforms(
    pool: &TermPool,
    imp: &Sts,
    spec: &Sts,
    relation: Relation,
    completion: Completion,
    budget: Budget,
) -> Found {
    enumerate(pool, imp, spec, relation, completion, budget).unwrap_or(Found::GaveUp)
}

/// Whether the messages of `sts` can be listed within `budget`.
#[must_use]
pub fn is_enumerable(pool: &TermPool, sts: &Sts, budget: Budget) -> bool {
    labels(pool, sts, budget).is_some()
}

/// A belief: numbers of states, sorted.
type Belief = Vec<usize>;

fn enumerate(
    pool: &TermPool,
    imp: &Sts,
    spec: &Sts,
    relation: Relation,
    completion: Completion,
    budget: Budget,
) -> Option<Found> {
    let labels = labels(pool, spec, budget)?;
    let mut imp = World::new(pool, imp, &labels, budget)?;
    let mut spec = World::new(pool, spec, &labels, budget)?;
    let start = (imp.start()?, spec.start()?);
    let mut parents: Vec<Option<(usize, Option<usize>)>> = vec![None];
    let mut seen: FxHashSet<(Belief, Belief)> = [start.clone()].into_iter().collect();
    let mut frontier: VecDeque<(usize, Belief, Belief)> = [(0, start.0, start.1)].into();
    while let Some((at, left, right)) = frontier.pop_front() {
        let (doing, allowed) = (imp.reactions(&left)?, spec.reactions(&right)?);
        if let Some((bad, _)) = doing.iter().find(|(label, _)| !allowed.contains_key(label)) {
            return Some(Found::Fails(trace(&labels, &parents, at, *bad)));
        }
        let mut next: Vec<(Option<usize>, Belief, Belief)> = Vec::new();
        for (label, to) in doing {
            next.push((label, to, allowed[&label].clone()));
        }
        for (label, to) in spec.inputs(&right)? {
            if relation == Relation::Uioco && spec.refuses(&right, label)? {
                continue;
            }
            let same = completion == Completion::Restricted && imp.same(&left, &spec, &right);
            let reached = imp.given(&left, label, completion, same.then_some((&spec, &right)))?;
            if !reached.is_empty() {
                next.push((Some(label), reached, to));
            }
        }
        for (label, left, right) in next {
            if seen.insert((left.clone(), right.clone())) {
                parents.push(Some((at, label)));
                frontier.push_back((parents.len() - 1, left, right));
            }
        }
    }
    Some(Found::Conforms)
}

/// The labels on the way to `at`, then `last`; no label is silence.
fn trace(
    labels: &[Label],
    parents: &[Option<(usize, Option<usize>)>],
    at: usize,
    last: Option<usize>,
) -> Trace {
    let label = |label: Option<usize>| label.map_or(Label::Quiescence, |number| labels[number].clone());
    let mut found = vec![label(last)];
    let mut at = at;
    while let Some((parent, step)) = parents[at] {
        found.push(label(step));
        at = parent;
    }
    found.reverse();
    found.into_iter().collect()
}

/// Every message there is.
fn labels(pool: &TermPool, sts: &Sts, budget: Budget) -> Option<Vec<Label>> {
    let mut all = Vec::new();
    for (id, gate) in sts.gates.iter_enumerated() {
        let mut messages: Vec<Vec<Value>> = vec![Vec::new()];
        for &field in &gate.fields {
            let domain = pool.finite_domain(pool.var_info(field).sort)?;
            if messages.len().checked_mul(domain.len())? > budget.steps {
                return None;
            }
            let longer = |message: &Vec<Value>| {
                let with = |value: &Value| [&message[..], std::slice::from_ref(value)].concat();
                domain.iter().map(with).collect::<Vec<_>>()
            };
            messages = messages.iter().flat_map(longer).collect();
        }
        all.extend(messages.into_iter().filter_map(|values| Label::message(sts, id, values)));
    }
    Some(all)
}

/// What a state does.
#[derive(Clone, Default)]
struct Steps {
    internal: Vec<usize>,
    outputs: Vec<(usize, usize)>,
    inputs: Vec<(usize, usize)>,
}

/// A system, its states enumerated as they are met.
struct World<'w> {
    pool: &'w TermPool,
    sts: &'w Sts,
    labels: &'w [Label],
    by_gate: BTreeMap<GateId, Vec<usize>>,
    states: Vec<State>,
    numbers: FxHashMap<State, usize>,
    steps: Vec<Option<Steps>>,
    taken: usize,
    budget: Budget,
}

impl<'w> World<'w> {
    fn new(pool: &'w TermPool, sts: &'w Sts, labels: &'w [Label], budget: Budget) -> Option<Self> {
        let mut by_gate: BTreeMap<GateId, Vec<usize>> = BTreeMap::new();
        for (number, label) in labels.iter().enumerate() {
            if let Label::Input(gate, _) | Label::Output(gate, _) = label {
                by_gate.entry(*gate).or_default().push(number);
            }
        }
        let mut world = Self {
            pool,
            sts,
            labels,
            by_gate,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            steps: Vec::new(),
            taken: 0,
            budget,
        };
        let start = concrete::initial_state(pool, sts)?;
        world.number(start)?;
        Some(world)
    }

    fn number(&mut self, state: State) -> Option<usize> {
        if let Some(&known) = self.numbers.get(&state) {
            return Some(known);
        }
        if self.states.len() >= self.budget.states {
            return None;
        }
        self.states.push(state.clone());
        self.steps.push(None);
        self.numbers.insert(state, self.states.len() - 1);
        Some(self.states.len() - 1)
    }

    /// The steps of a state, computed once.
    fn steps(&mut self, at: usize) -> Option<&Steps> {
        if self.steps[at].is_none() {
            let steps = self.computed(at)?;
            self.steps[at] = Some(steps);
        }
        self.steps[at].as_ref()
    }

    fn computed(&mut self, at: usize) -> Option<Steps> {
        let state = self.states[at].clone();
        let mut steps = Steps::default();
        let (pool, sts, labels) = (self.pool, self.sts, self.labels);
        for next in concrete::internal_successors(pool, sts, &state).ok()? {
            steps.internal.push(self.number(next.state)?);
        }
        for (_, switch) in sts.switches_from(state.loc) {
            let numbers = self.by_gate.get(&switch.gate).cloned().unwrap_or_default();
            for number in numbers {
                let (Label::Input(_, values) | Label::Output(_, values)) = &labels[number] else { continue };
                self.taken += 1;
                if self.taken > self.budget.steps {
                    return None;
                }
                if !concrete::is_enabled(pool, sts, &state, switch, values).ok()? {
                    continue;
                }
                let to = concrete::successor(pool, sts, &state, switch, values).ok()?;
                let to = self.number(to)?;
                match sts.gates[switch.gate].kind {
                    GateKind::Output => steps.outputs.push((number, to)),
                    GateKind::Input | GateKind::Observed => steps.inputs.push((number, to)),
                    GateKind::Internal => (),
                }
            }
        }
        Some(steps)
    }

    fn start(&mut self) -> Option<Belief> {
        self.closed([0].into())
    }

    fn closed(&mut self, mut belief: BTreeSet<usize>) -> Option<Belief> {
        let mut open: Vec<usize> = belief.iter().copied().collect();
        while let Some(at) = open.pop() {
            for to in self.steps(at)?.internal.clone() {
                if belief.insert(to) {
                    open.push(to);
                }
            }
        }
        Some(belief.into_iter().collect())
    }

    /// The outputs of a belief, and silence as no label, each with the belief after it.
    fn reactions(&mut self, belief: &Belief) -> Option<BTreeMap<Option<usize>, Belief>> {
        let mut reached: BTreeMap<Option<usize>, BTreeSet<usize>> = BTreeMap::new();
        for &at in belief {
            let steps = self.steps(at)?;
            if steps.internal.is_empty() && steps.outputs.is_empty() {
                reached.entry(None).or_default().insert(at);
            }
            for &(label, to) in &steps.outputs {
                reached.entry(Some(label)).or_default().insert(to);
            }
        }
        reached.into_iter().map(|(label, to)| Some((label, self.closed(to)?))).collect()
    }

    /// The inputs a belief mentions, each with the belief after it.
    fn inputs(&mut self, belief: &Belief) -> Option<BTreeMap<usize, Belief>> {
        let mut reached: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for &at in belief {
            for &(label, to) in &self.steps(at)?.inputs {
                reached.entry(label).or_default().insert(to);
            }
        }
        reached.into_iter().map(|(label, to)| Some((label, self.closed(to)?))).collect()
    }

    /// Whether some state of a belief that no internal step can leave does not accept the input.
    fn refuses(&mut self, belief: &Belief, label: usize) -> Option<bool> {
        for &at in belief {
            let steps = self.steps(at)?;
            if steps.internal.is_empty() && steps.inputs.iter().all(|(other, _)| *other != label) {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The belief after an input, completed; where the specification is in the same states, a state
    /// ignores the input only if the specification would accept it there.
    fn given(
        &mut self,
        belief: &Belief,
        label: usize,
        completion: Completion,
        same: Option<(&World<'_>, &Belief)>,
    ) -> Option<Belief> {
        let mut reached = BTreeSet::new();
        for &at in belief {
            let steps = self.steps(at)?;
            let accepted: Vec<usize> =
                steps.inputs.iter().filter(|(other, _)| *other == label).map(|(_, to)| *to).collect();
            let stable = steps.internal.is_empty();
            let may = completion != Completion::None
                && same.is_none_or(|(spec, states)| spec.accepts(states, &self.states[at], label));
            if accepted.is_empty() && stable && may {
                reached.insert(at);
            }
            reached.extend(accepted);
        }
        self.closed(reached)
    }

    /// Whether `state`, which is one of `belief`, accepts the input.
    fn accepts(&self, belief: &Belief, state: &State, label: usize) -> bool {
        let takes = |&&at: &&usize| {
            self.states[at] == *state
                && self.steps[at]
                    .as_ref()
                    .is_some_and(|steps| steps.inputs.iter().any(|(it, _)| *it == label))
        };
        belief.iter().find(takes).is_some()
    }

    /// Whether two beliefs of two systems are the same states.
    fn same(&self, belief: &Belief, other: &World<'_>, theirs: &Belief) -> bool {
        let mine: BTreeSet<&State> = belief.iter().map(|&at| &self.states[at]).collect();
        let theirs: BTreeSet<&State> = theirs.iter().map(|&at| &other.states[at]).collect();
        mine == theirs
    }
}
