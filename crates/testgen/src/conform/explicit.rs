//! Conformance by enumeration: where there are few states, evaluating beats reasoning.
//!
//! Both systems are read as labelled transition systems (\[AT15] Def. 2.2): every message is tried in every state. The
//! product of the two, determinised, is searched breadth first for an output or a silence only the implementation has.
//! It shares no code with the symbolic search and knows no terms beyond their evaluation, so each of the two is the
//! second opinion on the other. It needs known initial values, no clocks, messages that can be listed or represented
//! (see `free`), and a completion that does not compare states (see [`InputCompletion::Restricted`]).

mod diverged;
mod free;
mod guided;
pub(crate) mod offer;
mod plan_costs;
mod reached;
mod strategy;
pub mod world;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, GateKind, Sts};
use ioxide_model::term::TermPool;
use ioxide_model::trace::Trace;
use ioxide_smt::halt::Halt;

pub(crate) use self::plan_costs::PlanCosts;
pub(crate) use self::reached::{ChangedSwitch, ReachedBeliefs};
pub use self::strategy::{AdaptiveTest, TestNode, adaptive_test};

use self::diverged::DivergedPairs;
use self::free::{FreeFields, FreeSide};
use self::world::{EnumeratedSide, OpenValues, StateSet};
use super::search::SearchEffort;
use super::{InputCompletion, InputRule};

/// The number of evaluations between two calls of the function that may stop the search. Chosen by feel: often enough
/// for an interrupt to be noticed at once, seldom enough to cost nothing.
const EVALUATIONS_PER_CHECK: usize = 10_000;

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
pub struct EnumerationGivenUp;

/// The labels met so far, in the gates of the specification.
#[derive(Default)]
pub struct MetLabels {
    all: Vec<Label>,
    numbers: FxHashMap<Label, usize>,
}

impl MetLabels {
    /// The number of `label`, a new one where it was not met before.
    pub fn number_of(&mut self, label: Label) -> usize {
        if let Some(&known) = self.numbers.get(&label) {
            return known;
        }
        self.all.push(label.clone());
        self.numbers.insert(label, self.all.len() - 1);
        self.all.len() - 1
    }

    /// The label with this number.
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
    search_product((pool, budget), imp, spec, (relation, completion, InputRule::Free))
}

/// Decides whether the suspension traces of `imp` are among those of `spec`, two systems with the same gates over one
/// pool.
#[must_use]
pub fn includes(pool: &TermPool, imp: &Sts, spec: &Sts, budget: EnumerationBudget) -> EnumerationResult {
    search_product(
        (pool, budget),
        imp,
        spec,
        (ConformanceRelation::Ioco, InputCompletion::None, InputRule::Compared),
    )
}

fn search_product(
    (pool, budget): (&TermPool, EnumerationBudget),
    imp: &Sts,
    spec: &Sts,
    meaning: (ConformanceRelation, InputCompletion, InputRule),
) -> EnumerationResult {
    let gates = same_gates(spec);
    let possible = meaning.1 != InputCompletion::Restricted && !spec.is_timed() && !imp.is_timed();
    let search =
        possible.then(|| Enumeration::new(pool, imp, spec, &gates, meaning, budget.states)).flatten();
    let found = search.and_then(|mut search| search.run_search(pool, budget.steps, &mut |_| false));
    found.unwrap_or(EnumerationResult::GaveUp)
}

/// The visible gates of `sts`, each as its own counterpart.
pub fn same_gates(sts: &Sts) -> Vec<(GateId, Option<GateId>)> {
    let visible = sts.gates.iter_enumerated().filter(|(_, gate)| gate.kind != GateKind::Internal);
    visible.map(|(gate, _)| (gate, Some(gate))).collect()
}

/// Returns whether `sts` has no clocks, its initial values are known, and its messages can be listed or represented.
#[must_use]
pub fn is_enumerable(pool: &TermPool, sts: &Sts) -> bool {
    let gates = same_gates(sts);
    let meaning = (ConformanceRelation::Ioco, InputCompletion::Angelic, InputRule::Free);
    Enumeration::new(pool, sts, sts, &gates, meaning, 1).is_some()
}

/// A pair of sets of states to explore: its number, its depth, and the sets.
type PairToExplore = (usize, u32, StateSet, StateSet);

/// A search in progress; a further run resumes it.
pub(crate) struct Enumeration<'w> {
    relation: ConformanceRelation,
    completion: InputCompletion,
    inputs: InputRule,
    labels: MetLabels,
    systems: [&'w Sts; 2],
    imp: EnumeratedSide<'w>,
    spec: EnumeratedSide<'w>,
    free: FreeFields,
    /// The pair of state sets from which each pair was reached first, with the label of the step; no label is silence.
    parents: Vec<Option<(usize, Option<usize>)>>,
    seen: FxHashSet<(StateSet, StateSet)>,
    frontier: VecDeque<PairToExplore>,
    /// The pairs with different states, where these come first; `None` in a search in breadth.
    diverged: Option<DivergedPairs<'w>>,
    /// Pairs, each with a label that only the implementation has there, not yet returned.
    different: VecDeque<(usize, Option<usize>)>,
    pub effort: SearchEffort,
}

impl<'w> Enumeration<'w> {
    /// Makes a search over `gates`, pairs of a gate of the specification and the gate of the implementation, if it has
    /// one; `None` if the systems have clocks or unknown initial values, or if messages can be neither listed nor
    /// represented.
    pub fn new(
        pool: &TermPool,
        imp: &'w Sts,
        spec: &'w Sts,
        gates: &[(GateId, Option<GateId>)],
        (relation, completion, inputs): (ConformanceRelation, InputCompletion, InputRule),
        max_states: usize,
    ) -> Option<Self> {
        // Without clocks and with known values every state is concrete; nothing here asks a solver.
        let starts_known = |sts: &Sts| !sts.is_timed() && sts.vars.iter().all(|var| var.init.is_some());
        if !starts_known(imp) || !starts_known(spec) {
            return None;
        }
        let ours: BTreeMap<GateId, GateId> =
            gates.iter().filter_map(|&(spec, imp)| Some((spec, imp?))).collect();
        let theirs: BTreeMap<GateId, GateId> = gates.iter().map(|&(spec, _)| (spec, spec)).collect();
        let sides = [FreeSide { sts: imp, gates: &ours }, FreeSide { sts: spec, gates: &theirs }];
        let free = FreeFields::find(pool, sides)?;
        Some(Self::with_free(imp, spec, (ours, theirs), (relation, completion, inputs), max_states, free))
    }

    /// Makes a search as [`new`](Self::new) does, in which fields of many values take a few of them, also where nothing
    /// shows that these stand for the others: it proves nothing, and what it finds has to be confirmed.
    pub fn sampled(
        imp: &'w Sts,
        spec: &'w Sts,
        gates: &[(GateId, Option<GateId>)],
        meaning: (ConformanceRelation, InputCompletion, InputRule),
        max_states: usize,
    ) -> Option<Self> {
        let starts_known = |sts: &Sts| !sts.is_timed() && sts.vars.iter().all(|var| var.init.is_some());
        if !starts_known(imp) || !starts_known(spec) {
            return None;
        }
        let ours = gates.iter().filter_map(|&(spec, imp)| Some((spec, imp?))).collect();
        let theirs = gates.iter().map(|&(spec, _)| (spec, spec)).collect();
        let mut search =
            Self::with_free(imp, spec, (ours, theirs), meaning, max_states, FreeFields::default());
        (search.imp, search.spec) = (search.imp.with_samples(), search.spec.with_samples());
        Some(search)
    }

    /// Explores pairs with different states before all others: only these lead to a difference.
    #[must_use]
    pub fn with_diverged_first(self, plan: &'w PlanCosts) -> Self {
        Self { diverged: Some(DivergedPairs::new(plan)), ..self }
    }

    fn with_free(
        imp: &'w Sts,
        spec: &'w Sts,
        (ours, theirs): (BTreeMap<GateId, GateId>, BTreeMap<GateId, GateId>),
        (relation, completion, inputs): (ConformanceRelation, InputCompletion, InputRule),
        max_states: usize,
        free: FreeFields,
    ) -> Self {
        let side = |sts, gates: BTreeMap<GateId, GateId>| {
            EnumeratedSide::new(sts, gates, max_states).with_free(&free)
        };
        Self {
            relation,
            completion,
            inputs,
            labels: MetLabels::default(),
            systems: [imp, spec],
            imp: side(imp, ours),
            spec: side(spec, theirs),
            free,
            parents: Vec::new(),
            seen: FxHashSet::default(),
            frontier: VecDeque::new(),
            diverged: None,
            different: VecDeque::new(),
            effort: SearchEffort::default(),
        }
    }

    /// Returns whether some values stand for others.
    pub fn is_represented(&self) -> bool {
        !self.free.is_empty()
    }

    /// The representatives of a pair.
    fn values(
        &self,
        pool: &TermPool,
        left: &StateSet,
        right: &StateSet,
    ) -> Result<OpenValues, EnumerationGivenUp> {
        if self.free.is_empty() {
            return Ok(OpenValues::new());
        }
        let (imp, spec) = (self.imp.states_of(left), self.spec.states_of(right));
        self.free.values(pool, self.systems, [&imp, &spec])
    }

    /// Ends the search once `halt` says so, wherever it is.
    #[must_use]
    pub fn with_halt(self, halt: &Halt) -> Self {
        let side = |side: EnumeratedSide<'w>| side.with_halt(halt.clone());
        Self { imp: side(self.imp), spec: side(self.spec), ..self }
    }

    /// Continues until a difference is found, `steps` guards were evaluated in all, or `stop` returns true; `None` if
    /// more is left to explore. After a difference, a further run looks for the next.
    pub fn run_search(
        &mut self,
        pool: &TermPool,
        steps: usize,
        stop: &mut dyn FnMut(&SearchEffort) -> bool,
    ) -> Option<EnumerationResult> {
        self.search(pool, steps, stop).unwrap_or(Some(EnumerationResult::GaveUp))
    }

    fn count_evaluations(&self) -> usize {
        self.imp.evaluated + self.spec.evaluated
    }

    /// Searches until `steps` evaluations in all; `None` if it stopped before an answer and can be resumed.
    fn search(
        &mut self,
        pool: &TermPool,
        steps: usize,
        stop: &mut dyn FnMut(&SearchEffort) -> bool,
    ) -> Result<Option<EnumerationResult>, EnumerationGivenUp> {
        // The first run only: a resumed search has its root already.
        if self.parents.is_empty() {
            let start = (
                self.imp.initial_states(pool, &mut self.labels)?,
                self.spec.initial_states(pool, &mut self.labels)?,
            );
            self.reach(start.0, start.1, 0, None);
        }
        let mut looked = self.count_evaluations();
        // Differences of the pair expanded last are returned one by one, by one run each.
        if let Some((at, label)) = self.different.pop_front() {
            return Ok(Some(EnumerationResult::Fails(self.trace(at, label))));
        }
        while let Some((at, depth, left, right)) = self.pop_pair(pool) {
            let evaluated = self.count_evaluations();
            let out_of_breath = evaluated - looked >= EVALUATIONS_PER_CHECK;
            if out_of_breath {
                looked = evaluated;
            }
            if evaluated > steps || out_of_breath && stop(&self.effort) {
                // Put back in front, so that the resumed search stays breadth first and its traces shortest.
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
        // Both sides get the same representatives: a label that only one of them listed would be no difference.
        let values = self.values(pool, left, right)?;
        let labels = &mut self.labels;
        let doing = self.imp.reactions(pool, labels, left, &values)?;
        let allowed = self.spec.reactions(pool, labels, right, &values)?;
        self.follow_observations((at, depth), doing, allowed);
        match self.inputs {
            InputRule::Free => self.stimulate(pool, (at, depth), left, right, &values),
            InputRule::Compared => {
                let labels = &mut self.labels;
                let doing = self.imp.inputs(pool, labels, left, &values)?;
                let allowed = self.spec.inputs(pool, labels, right, &values)?;
                let some = |all: BTreeMap<usize, StateSet>| {
                    all.into_iter().map(|(label, to)| (Some(label), to)).collect()
                };
                self.follow_observations((at, depth), some(doing), some(allowed));
                Ok(())
            }
        }
    }

    /// Takes the steps that both sides have, and records those that only the implementation has.
    fn follow_observations(
        &mut self,
        (at, depth): (usize, u32),
        doing: BTreeMap<Option<usize>, StateSet>,
        mut allowed: BTreeMap<Option<usize>, StateSet>,
    ) {
        // out(imp after t) must be within out(spec after t), silence included; what only the specification has is no
        // fault.
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
        values: &OpenValues,
    ) -> Result<(), EnumerationGivenUp> {
        for (label, to) in self.spec.inputs(pool, &mut self.labels, right, values)? {
            // uioco quantifies over traces whose inputs no state of the specification refuses.
            if self.relation == ConformanceRelation::Uioco
                && self.spec.refuses(pool, &mut self.labels, right, label)?
            {
                continue;
            }
            let given = self.imp.give_input(pool, &mut self.labels, (left, label), self.completion)?;
            // Empty means that the implementation does not take it and its completion does not ignore it: the pair
            // ends.
            if !given.is_empty() {
                self.reach(given, to, depth + 1, Some((at, Some(label))));
            }
        }
        Ok(())
    }

    /// Records the pair of state sets, unless it was met before.
    fn reach(&mut self, left: StateSet, right: StateSet, depth: u32, parent: Option<(usize, Option<usize>)>) {
        // The search is breadth first, so the first way to a pair is a shortest one.
        if !self.seen.insert((left.clone(), right.clone())) {
            self.effort.merged += 1;
            return;
        }
        debug_assert!(
            parent.is_none_or(|(at, _)| at < self.parents.len()),
            "a parent comes before its child"
        );
        self.parents.push(parent);
        let is_diverged = self.diverged.is_some() && !self.is_within(&left, &right);
        let pair = (self.parents.len() - 1, depth, left, right);
        match &mut self.diverged {
            Some(diverged) if is_diverged => diverged.push(pair),
            _ => self.frontier.push_back(pair),
        }
    }

    /// Returns whether the specification may be in every state that the implementation may be in; each side numbers its
    /// states in its own order.
    fn is_within(&self, left: &StateSet, right: &StateSet) -> bool {
        let theirs: BTreeSet<&ConcreteState> = self.spec.states_of(right).into_iter().collect();
        self.imp.states_of(left).into_iter().all(|state| theirs.contains(state))
    }

    /// Takes the pair to explore next.
    fn pop_pair(&mut self, pool: &TermPool) -> Option<PairToExplore> {
        let sides = (&self.imp, &self.spec);
        let diverged = self.diverged.as_mut().and_then(|pairs| pairs.pop(pool, sides));
        diverged.or_else(|| self.frontier.pop_front())
    }

    /// The labels on the way to pair `at`, then `last`.
    fn trace(&self, at: usize, last: Option<usize>) -> Trace {
        self.labels_to(at).into_iter().chain([self.label(last)]).collect()
    }

    /// The labels on the way to pair `at`.
    fn labels_to(&self, at: usize) -> Vec<Label> {
        let mut found = Vec::new();
        let mut at = at;
        while let Some((parent, step)) = self.parents[at] {
            found.push(self.label(step));
            at = parent;
        }
        found.reverse();
        found
    }

    /// The label with this number; without one it is silence.
    fn label(&self, number: Option<usize>) -> Label {
        number.map_or(Label::Quiescence, |number| self.labels.label(number).clone())
    }
}
