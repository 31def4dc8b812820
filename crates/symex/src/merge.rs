//! The recognition of symbolic states that were seen before.
//!
//! Two states are equivalent if they stand for the same concrete states (\[AT15] Def. 2.5);
//! one subsumes another if it stands for all of the other's (the inclusion of \[AT15] sec. 2.3,
//! the merging of \[BT19] sec. 7). Three steps, cheapest first:
//!
//! 1. *Projection.* Dead variables are dropped from the store, and facts that share no
//!    variable with it are dropped from the path: the path is satisfiable, so they say
//!    nothing about the state. What is left becomes a condition on the values of the live
//!    variables alone, everything else quantified away and eliminated where that is easy.
//! 2. *Equality.* States with equal conditions are equivalent.
//! 3. *Inclusion by solver*, against earlier states at the same location, where the
//!    condition is free of quantifiers.
//!
//! States of a system made of parts are compared with [interchangeable](crate::symmetry) parts in one order.
//!
//! *Promises* that a state is only dropped if an explored state stands for all of it.

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::sort::Sort;
use ioxide_model::sts::LocId;
use ioxide_model::term::{Substitution, Term, TermNode, VarId};
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::SolverDecision;

use crate::cx::Ctx;
use crate::graph::ExploredId;
use crate::leaves::{Leaves, with_leaves};
use crate::live::LiveVars;
use crate::state::{PathCondition, Store, SymState};
use crate::symmetry::Symmetry;

/// The treatment of a state that an explored one covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionRevisit {
    /// Explore it all the same: the graph is a tree.
    Explore,
    /// Merge it with an equivalent state.
    MergeEquivalent,
    /// Merge it with a state that subsumes it.
    MergeSubsumed,
}

/// The greatest number of earlier states compared with a new one for subsumption. Chosen by feel: each costs a
/// question to the solver; fewer leave more states unmerged, which is slower but never wrong.
const MAX_CANDIDATES: usize = 32;

/// The set of concrete states a symbolic state stands for: the values of the live variables,
/// constants or names given by position, under a condition on the names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct StateRegion {
    loc: LocId,
    /// The shape of collections; states of different shapes are never compared.
    shape: Vec<u32>,
    terms: Vec<Term>,
    facts: Vec<Term>,
}

/// The explored regions, indexed to recognise states.
pub(crate) struct SeenRegions {
    revisit: RegionRevisit,
    live: LiveVars,
    symmetry: Symmetry,
    by_region: FxHashMap<StateRegion, ExploredId>,
    by_loc: FxHashMap<LocId, Vec<(StateRegion, ExploredId)>>,
}

/// The result of looking a state up among the explored ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RegionMatch {
    /// New; this is the summary to continue from.
    New(SymState),
    /// Equivalent to this explored state.
    Equivalent(ExploredId),
    /// Subsumed by this explored state.
    Subsumed(ExploredId),
}

impl SeenRegions {
    /// Makes an index without regions; `live` says which variables matter where.
    pub fn new(revisit: RegionRevisit, live: LiveVars, symmetry: Symmetry) -> Self {
        Self { revisit, live, symmetry, by_region: FxHashMap::default(), by_loc: FxHashMap::default() }
    }

    /// Looks for an explored state that covers `state`; records `state` as `node` if there is none.
    pub fn find_or_record(&mut self, cx: &mut Ctx<'_>, state: SymState, node: ExploredId) -> RegionMatch {
        if self.revisit == RegionRevisit::Explore {
            return RegionMatch::New(state);
        }
        // Two regions: the search goes on from the state as it is (`own`), and looks it up as its canonical
        // permutation. The summary must not permute parts, or the steps of the graph would not fit together.
        let own = self.region_of(cx, &state);
        let region = self.canonical_region(cx, &state, &own);
        if let Some(known) = self.find_match(cx, &region) {
            return known;
        }
        let summary = self.summarise(cx, state, &own);
        self.by_region.insert(region.clone(), node);
        self.by_loc.entry(region.loc).or_default().push((region, node));
        RegionMatch::New(summary)
    }

    /// Returns the explored state that covers `state`. `state` itself may not exist and so is not recorded.
    pub fn find_covering(&self, cx: &mut Ctx<'_>, state: &SymState) -> Option<ExploredId> {
        if self.revisit == RegionRevisit::Explore {
            return None;
        }
        let own = self.region_of(cx, state);
        let region = self.canonical_region(cx, state, &own);
        match self.find_match(cx, &region)? {
            RegionMatch::Equivalent(node) | RegionMatch::Subsumed(node) => Some(node),
            RegionMatch::New(_) => None,
        }
    }

    fn find_match(&self, cx: &mut Ctx<'_>, region: &StateRegion) -> Option<RegionMatch> {
        if let Some(&known) = self.by_region.get(region) {
            return Some(RegionMatch::Equivalent(known));
        }
        let subsumes = self.revisit == RegionRevisit::MergeSubsumed;
        subsumes.then(|| self.find_subsuming(cx, region)).flatten().map(RegionMatch::Subsumed)
    }

    /// The region of `state` with interchangeable parts in one order.
    fn canonical_region(&self, cx: &mut Ctx<'_>, state: &SymState, own: &StateRegion) -> StateRegion {
        if self.symmetry.is_empty() {
            return own.clone();
        }
        let canonical = self.symmetry.canonical_state(cx, state);
        if canonical == *state { own.clone() } else { self.region_of(cx, &canonical) }
    }

    /// Returns the state that stands for `region` with as few facts as possible, which keeps later questions small
    /// however long the path is; dead variables get plain values.
    fn summarise(&self, cx: &mut Ctx<'_>, state: SymState, region: &StateRegion) -> SymState {
        // A summary with a quantifier would make every later question harder than the long path does.
        if region.facts.iter().any(|&fact| cx.pool.has_quantifier(fact)) {
            return state;
        }
        let places = self.live.part_places(cx, &state);
        let mut names = Substitution::new();
        let mut terms = Vec::with_capacity(state.store.terms().len());
        let mut regional = region.terms.iter();
        let all: Vec<(VarId, Term)> = state.store.iter(cx.sts).collect();
        for (var, stored) in all {
            if !self.live.is_live_in(&places, state.loc, var) {
                let plain = cx.pool.default_value(cx.pool.var_info(var).sort);
                terms.push(cx.pool.value(plain));
                continue;
            }
            let sort = cx.pool.var_info(var).sort;
            // The terms of a region are the leaves of the live variables, one after the other; this many belong to
            // this one.
            let n = Leaves::new(cx.pool, [(stored, sort)]).terms.len();
            let mut leaves = Vec::with_capacity(n);
            for &term in regional.by_ref().take(n) {
                let TermNode::Var(position) = *cx.pool.node(term) else {
                    leaves.push(term);
                    continue;
                };
                // The element of a collection is called after its position, a value after its variable.
                let name = cx.pool.indexed_var(if n == 1 { var } else { position }, state.depth);
                let name = if cx.pool.var_info(name).sort == cx.pool.var_info(position).sort {
                    name
                } else {
                    cx.pool.indexed_var(position, state.depth)
                };
                let name = cx.pool.var(name);
                names.set(position, name);
                leaves.push(name);
            }
            terms.extend(with_leaves(cx.pool, [(stored, sort)], &mut leaves.into_iter()));
        }
        let facts: Vec<Term> = region.facts.iter().map(|&fact| cx.pool.substitute(fact, &names)).collect();
        let facts = cx.pool.and(facts);
        SymState { store: Store::new(terms), path: PathCondition::default().with_fact(cx, facts), ..state }
    }

    /// The most recent explored region that stands for all of `region`.
    fn find_subsuming(&self, cx: &mut Ctx<'_>, region: &StateRegion) -> Option<ExploredId> {
        let candidates = self.by_loc.get(&region.loc)?;
        // The latest first: loops come back to where the search just was.
        let plausible = candidates.iter().rev().filter(|(other, _)| may_include(cx, other, region));
        let few: Vec<&(StateRegion, ExploredId)> = plausible.take(MAX_CANDIDATES).collect();
        few.into_iter().find(|(other, _)| is_included(cx, other, region)).map(|(_, node)| *node)
    }

    /// Returns the region of `state`: the concrete states it stands for, by their live variables.
    fn region_of(&self, cx: &mut Ctx<'_>, state: &SymState) -> StateRegion {
        let places = self.live.part_places(cx, state);
        let is_live = |(var, _): &(VarId, Term)| self.live.is_live_in(&places, state.loc, *var);
        let live: Vec<(VarId, Term)> = state.store.iter(cx.sts).filter(is_live).collect();
        let stored: Vec<Term> = live.iter().map(|(_, term)| *term).collect();
        let mut facts = connected_facts(cx, &stored, state.path.facts());
        let mut hidden = stored.clone();
        hidden.extend(&facts);
        let hidden = cx.pool.free_vars_of(&hidden);
        let sorted: Vec<(Term, Sort)> =
            live.iter().map(|(var, term)| (*term, cx.pool.var_info(*var).sort)).collect();
        let leaves = Leaves::new(cx.pool, sorted);
        let mut terms = Vec::with_capacity(leaves.terms.len());
        for (position, (term, sort)) in (0..).zip(leaves.terms.into_iter().zip(leaves.sorts)) {
            if cx.pool.is_ground(term) {
                terms.push(term);
                continue;
            }
            let name = cx.position_name(position, sort);
            // The region says what the names are, under the path; everything else is quantified away below.
            facts.push(cx.pool.eq(name, term));
            terms.push(name);
        }
        let all = cx.pool.and(facts);
        let some = cx.pool.exists(&hidden, all);
        let some = eliminate(cx.pool, some);
        StateRegion { loc: state.loc, shape: leaves.shape, terms, facts: cx.pool.conjuncts(some) }
    }
}

/// Returns the facts connected to `terms` through shared variables; if all facts together are satisfiable, the others
/// do not constrain `terms`.
#[must_use]
pub fn connected_facts(cx: &Ctx<'_>, terms: &[Term], facts: &[Term]) -> Vec<Term> {
    let mut reached: FxHashSet<VarId> = cx.pool.free_vars_of(terms).into_iter().collect();
    let mut rest: Vec<(Term, Vec<VarId>)> =
        facts.iter().map(|&fact| (fact, cx.pool.free_vars(fact))).collect();
    let mut kept = Vec::new();
    loop {
        // Facts reached through a fact reached before: a fixed point, at most one round per fact.
        let (now, later): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|(_, vars)| vars.iter().any(|var| reached.contains(var)));
        if now.is_empty() {
            return kept;
        }
        for (fact, vars) in now {
            reached.extend(vars);
            kept.push(fact);
        }
        rest = later;
    }
}

/// A cheap necessary condition for [`is_included`]: a constant covers only itself.
fn may_include(cx: &Ctx<'_>, big: &StateRegion, small: &StateRegion) -> bool {
    // As many values as well: which variables are live may depend on where the parts of a system are.
    big.shape == small.shape
        && big.terms.len() == small.terms.len()
        && big.terms.iter().zip(&small.terms).all(|(&b, &s)| b == s || !cx.pool.is_ground(b))
}

/// Returns whether every concrete state of `small` is one of `big`: no values satisfy the condition of `small` and not
/// that of `big`. False, without a question, if a quantifier is left.
fn is_included(cx: &mut Ctx<'_>, big: &StateRegion, small: &StateRegion) -> bool {
    let names = big.terms.iter().zip(&small.terms).filter_map(|(&name, &value)| match cx.pool.node(name) {
        TermNode::Var(name) => Some((*name, value)),
        _ => None,
    });
    // Names stand at the same positions in both, so the condition of `big` can be read over the values of `small`.
    debug_assert_eq!(big.terms.len(), small.terms.len(), "regions of one shape have as many values");
    let names: Substitution = names.collect();
    let condition = cx.pool.and(big.facts.iter().copied());
    let condition = cx.pool.substitute(condition, &names);
    if cx.pool.has_quantifier(condition) {
        return false;
    }
    let mut question = small.facts.clone();
    question.push(cx.pool.not(condition));
    cx.decide(&question) == SolverDecision::Unsat
}
