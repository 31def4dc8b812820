//! Conformance by enumeration: where there are few states, evaluating beats reasoning.
//!
//! Both systems are read as labelled transition systems ([AT15] Def. 2.2): every message is tried in every state. The
//! product of the two, determinised, is searched breadth first for an output or a silence only the implementation
//! has. It shares no code with the symbolic search and knows no terms beyond their evaluation, so each of the two is
//! the second opinion on the other. It needs known initial values, no clocks, messages that can be listed, and a
//! completion that does not compare states (see [`InputCompletion::Restricted`]).

mod offer;
mod strategy;
mod world;

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;

pub use self::strategy::{AdaptiveTest, TestNode, adaptive_test};

use self::offer::MessageList;
use self::world::{EnumeratedSide, StateSet};
use super::search::SearchEffort;
use super::{InputCompletion, InputRule};

/// The number of evaluations between two calls of the function that may stop the search.
const BREATH: usize = 10_000;

/// The result of enumeration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EnumerationResult {
    /// All states were enumerated, and the specification allows everything.
    Conforms,
    /// A shortest trace whose last label only the implementation has.
    Fails(Trace),
    /// Messages cannot be listed, a value is unknown, or a limit was reached.
    GaveUp,
}

/// The limits of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnumerationBudget {
    /// The greatest number of states of one system.
    pub states: usize,
    /// The greatest number of guards evaluated in all.
    pub steps: usize,
}

impl Default for EnumerationBudget {
    fn default() -> Self {
        Self { states: 2_000_000, steps: 50_000_000 }
    }
}

/// The enumeration is impossible or exceeds its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EnumerationGivenUp;

/// The labels met so far, in the gates of the specification.
#[derive(Default)]
pub(super) struct MetLabels {
    all: Vec<Label>,
    numbers: FxHashMap<Label, usize>,
}

impl MetLabels {
    fn number(&mut self, label: Label) -> usize {
        if let Some(&known) = self.numbers.get(&label) {
            return known;
        }
        self.all.push(label.clone());
        self.numbers.insert(label, self.all.len() - 1);
        self.all.len() - 1
    }

    fn label(&self, number: usize) -> &Label {
        &self.all[number]
    }
}

/// Decides whether `imp` is ioco `spec`, two systems with the same gates over one pool.
#[must_use]
pub fn ioco(
    pool: &TermPool,
    imp: &Sts,
    spec: &Sts,
    completion: InputCompletion,
    budget: EnumerationBudget,
) -> EnumerationResult {
    conforms(pool, imp, spec, ConformanceRelation::Ioco, completion, budget)
}

/// Decides whether `imp` conforms to `spec` under `relation`, two systems with the same gates over one pool.
#[must_use]
pub fn conforms(
    pool: &TermPool,
    imp: &Sts,
    spec: &Sts,
    relation: ConformanceRelation,
    completion: InputCompletion,
    budget: EnumerationBudget,
) -> EnumerationResult {
    searched((pool, budget), imp, spec, (relation, completion, InputRule::Free))
}

/// Decides whether the suspension traces of `imp` are among those of `spec`, two systems with the same gates over one
/// pool.
#[must_use]
pub fn includes(pool: &TermPool, imp: &Sts, spec: &Sts, budget: EnumerationBudget) -> EnumerationResult {
    searched(
        (pool, budget),
        imp,
        spec,
        (ConformanceRelation::Ioco, InputCompletion::None, InputRule::Compared),
    )
}

fn searched(
    (pool, budget): (&TermPool, EnumerationBudget),
    imp: &Sts,
    spec: &Sts,
    meaning: (ConformanceRelation, InputCompletion, InputRule),
) -> EnumerationResult {
    let gates: Vec<(GateId, Option<GateId>)> = spec.gates.ids().map(|gate| (gate, Some(gate))).collect();
    let mut search = Enumeration::new(imp, spec, &gates, meaning, budget.states);
    let possible = meaning.1 != InputCompletion::Restricted && !spec.is_timed() && !imp.is_timed();
    let found = possible.then(|| search.run(pool, budget.steps, &mut |_| false)).flatten();
    found.unwrap_or(EnumerationResult::GaveUp)
}

/// Returns whether `sts` has no clocks, its initial values are known, and its messages can be listed.
#[must_use]
pub fn is_enumerable(pool: &TermPool, sts: &Sts) -> bool {
    let visible = sts.switches.iter().filter(|switch| sts.kind_of(switch) != GateKind::Internal);
    let known = sts.vars.iter().all(|var| var.init.is_some());
    !sts.is_timed() && known && visible.into_iter().all(|it| MessageList::of(pool, sts, it).is_some())
}

/// A search in progress; a further run resumes it.
pub(crate) struct Enumeration<'w> {
    relation: ConformanceRelation,
    completion: InputCompletion,
    inputs: InputRule,
    labels: MetLabels,
    imp: EnumeratedSide<'w>,
    spec: EnumeratedSide<'w>,
    /// The pair of state sets from which each pair was reached first, with the label of the step; no label is silence.
    parents: Vec<Option<(usize, Option<usize>)>>,
    seen: FxHashSet<(StateSet, StateSet)>,
    frontier: VecDeque<(usize, u32, StateSet, StateSet)>,
    /// Pairs, each with a label that only the implementation has there, not yet returned.
    different: VecDeque<(usize, Option<usize>)>,
    pub effort: SearchEffort,
}

impl<'w> Enumeration<'w> {
    /// Makes a search over `gates`, pairs of a gate of the specification and the gate of the implementation, if it has
    /// one.
    pub fn new(
        imp: &'w Sts,
        spec: &'w Sts,
        gates: &[(GateId, Option<GateId>)],
        (relation, completion, inputs): (ConformanceRelation, InputCompletion, InputRule),
        max_states: usize,
    ) -> Self {
        let ours = gates.iter().filter_map(|&(spec, imp)| Some((spec, imp?)));
        let theirs = gates.iter().map(|&(spec, _)| (spec, spec));
        Self {
            relation,
            completion,
            inputs,
            labels: MetLabels::default(),
            imp: EnumeratedSide::new(imp, ours, max_states),
            spec: EnumeratedSide::new(spec, theirs, max_states),
            parents: Vec::new(),
            seen: FxHashSet::default(),
            frontier: VecDeque::new(),
            different: VecDeque::new(),
            effort: SearchEffort::default(),
        }
    }

    /// Continues until a difference is found, `steps` guards were evaluated in all, or `stop` returns true; `None` if
    /// more is left to explore. After a difference, a further run looks for the next.
    pub fn run(
        &mut self,
        pool: &TermPool,
        steps: usize,
        stop: &mut dyn FnMut(&SearchEffort) -> bool,
    ) -> Option<EnumerationResult> {
        self.search(pool, steps, stop).unwrap_or(Some(EnumerationResult::GaveUp))
    }

    fn evaluated(&self) -> usize {
        self.imp.evaluated + self.spec.evaluated
    }

    fn search(
        &mut self,
        pool: &TermPool,
        steps: usize,
        stop: &mut dyn FnMut(&SearchEffort) -> bool,
    ) -> Result<Option<EnumerationResult>, EnumerationGivenUp> {
        if self.parents.is_empty() {
            let start = (self.imp.start(pool, &mut self.labels)?, self.spec.start(pool, &mut self.labels)?);
            self.reach(start.0, start.1, 0, None);
        }
        let mut looked = self.evaluated();
        if let Some((at, label)) = self.different.pop_front() {
            return Ok(Some(EnumerationResult::Fails(self.trace(at, label))));
        }
        while let Some((at, depth, left, right)) = self.frontier.pop_front() {
            let evaluated = self.evaluated();
            let out_of_breath = evaluated - looked >= BREATH;
            if out_of_breath {
                looked = evaluated;
            }
            if evaluated > steps || out_of_breath && stop(&self.effort) {
                self.frontier.push_front((at, depth, left, right));
                return Ok(None);
            }
            self.effort.states += 1;
            self.effort.depth = self.effort.depth.max(depth);
            self.expand(pool, (at, depth), &left, &right)?;
            if let Some((at, label)) = self.different.pop_front() {
                return Ok(Some(EnumerationResult::Fails(self.trace(at, label))));
            }
        }
        Ok(Some(EnumerationResult::Conforms))
    }

    /// Takes every step of a pair, and records the labels that only the implementation has.
    fn expand(
        &mut self,
        pool: &TermPool,
        (at, depth): (usize, u32),
        left: &StateSet,
        right: &StateSet,
    ) -> Result<(), EnumerationGivenUp> {
        let labels = &mut self.labels;
        let doing = self.imp.reactions(pool, labels, left)?;
        let allowed = self.spec.reactions(pool, labels, right)?;
        self.follow((at, depth), doing, allowed);
        match self.inputs {
            InputRule::Free => self.stimulate(pool, (at, depth), left, right),
            InputRule::Compared => {
                let labels = &mut self.labels;
                let doing = self.imp.inputs(pool, labels, left)?;
                let allowed = self.spec.inputs(pool, labels, right)?;
                let some = |all: BTreeMap<usize, StateSet>| {
                    all.into_iter().map(|(label, to)| (Some(label), to)).collect()
                };
                self.follow((at, depth), some(doing), some(allowed));
                Ok(())
            }
        }
    }

    /// Takes the steps that both sides have, and records those that only the implementation has.
    fn follow(
        &mut self,
        (at, depth): (usize, u32),
        doing: BTreeMap<Option<usize>, StateSet>,
        mut allowed: BTreeMap<Option<usize>, StateSet>,
    ) {
        for (label, to) in doing {
            match allowed.remove(&label) {
                Some(theirs) => self.reach(to, theirs, depth + 1, Some((at, label))),
                None => self.different.push_back((at, label)),
            }
        }
    }

    /// Gives both sides every input that the specification mentions.
    fn stimulate(
        &mut self,
        pool: &TermPool,
        (at, depth): (usize, u32),
        left: &StateSet,
        right: &StateSet,
    ) -> Result<(), EnumerationGivenUp> {
        for (label, to) in self.spec.inputs(pool, &mut self.labels, right)? {
            if self.relation == ConformanceRelation::Uioco
                && self.spec.refuses(pool, &mut self.labels, right, label)?
            {
                continue;
            }
            let given = self.imp.given(pool, &mut self.labels, (left, label), self.completion)?;
            if !given.is_empty() {
                self.reach(given, to, depth + 1, Some((at, Some(label))));
            }
        }
        Ok(())
    }

    fn reach(&mut self, left: StateSet, right: StateSet, depth: u32, parent: Option<(usize, Option<usize>)>) {
        if !self.seen.insert((left.clone(), right.clone())) {
            self.effort.merged += 1;
            return;
        }
        self.parents.push(parent);
        self.frontier.push_back((self.parents.len() - 1, depth, left, right));
    }

    /// The labels on the way to pair `at`, then `last`; no label is silence.
    fn trace(&self, at: usize, last: Option<usize>) -> Trace {
        let label = |label: Option<usize>| {
            label.map_or(Label::Quiescence, |number| self.labels.label(number).clone())
        };
        let mut found = vec![label(last)];
        let mut at = at;
        while let Some((parent, step)) = self.parents[at] {
            found.push(label(step));
            at = parent;
        }
        found.reverse();
        found.into_iter().collect()
    }
}
