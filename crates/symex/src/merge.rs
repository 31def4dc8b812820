//! Deciding that a symbolic state was seen before.
//!
//! Two states are equivalent if they stand for the same concrete states (003 Def. 2.5);
//! one subsumes another if it stands for all of the other's (the inclusion of 003 sec. 2.3,
//! the merging of 000 sec. 7). Three steps, cheapest first:
//!
//! 1. *Projection.* Dead variables are dropped from the store, and facts that share no
//!    variable with it are dropped from the path: the path is satisfiable, so they say
//!    nothing about the state. Variables left only in facts are quantified away.
//! 2. *Canonical names.* The variables that are left are renamed by first occurrence; states
//!    with equal keys are equivalent.
//! 3. *Inclusion by solver*, against earlier states at the same location.
//!
//! *Promises* that a state is only dropped if an explored state stands for all of it.

use rustc_hash::{FxHashMap, FxHashSet};

use ioxide_model::sts::LocId;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::solver::Decision;

use crate::cx::Ctx;
use crate::graph::NodeId;
use crate::live::LiveVars;
use crate::state::SymState;

/// What to do with a state that is covered by an explored one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revisit {
    /// Explore it all the same: the graph is a tree.
    Explore,
    /// Merge it with an equivalent state.
    MergeEquivalent,
    /// Merge it with a state that subsumes it.
    MergeSubsumed,
}

/// At most this many earlier states are asked whether they subsume a new one.
const MAX_CANDIDATES: usize = 32;

/// The set of concrete states a symbolic state stands for, in canonical form: the values
/// `terms` (of the live variables) take under the valuations that satisfy `facts`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Region {
    loc: LocId,
    terms: Vec<Term>,
    facts: Vec<Term>,
}

/// The explored regions, ready to answer "seen before?".
pub(crate) struct Seen {
    revisit: Revisit,
    live: LiveVars,
    by_region: FxHashMap<Region, NodeId>,
    by_loc: FxHashMap<LocId, Vec<(Region, NodeId)>>,
}

/// How a state was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// It is new.
    New,
    /// An explored state stands for the same.
    Equivalent(NodeId),
    /// An explored state stands for more.
    Subsumed(NodeId),
}

impl Seen {
    pub fn new(revisit: Revisit, live: LiveVars) -> Self {
        Self { revisit, live, by_region: FxHashMap::default(), by_loc: FxHashMap::default() }
    }

    /// Looks for a state that covers `state`; remembers it as `node` if there is none.
    pub fn visit(&mut self, cx: &mut Ctx<'_>, state: &SymState, node: NodeId) -> Match {
        if self.revisit == Revisit::Explore {
            return Match::New;
        }
        let region = self.region(cx, state);
        if let Some(&known) = self.by_region.get(&region) {
            return Match::Equivalent(known);
        }
        if self.revisit == Revisit::MergeSubsumed
            && let Some(known) = self.subsuming(cx, &region)
        {
            return Match::Subsumed(known);
        }
        self.by_region.insert(region.clone(), node);
        self.by_loc.entry(region.loc).or_default().push((region, node));
        Match::New
    }

    /// The most recent explored region that stands for all of `region`.
    fn subsuming(&self, cx: &mut Ctx<'_>, region: &Region) -> Option<NodeId> {
        let candidates = self.by_loc.get(&region.loc)?;
        let plausible = candidates.iter().rev().filter(|(other, _)| may_include(cx, other, region));
        let few: Vec<&(Region, NodeId)> = plausible.take(MAX_CANDIDATES).collect();
        few.into_iter().find(|(other, _)| includes(cx, other, region)).map(|(_, node)| *node)
    }

    /// The canonical form of what `state` stands for.
    fn region(&self, cx: &mut Ctx<'_>, state: &SymState) -> Region {
        let live: Vec<Term> = state
            .store
            .iter(cx.sts)
            .filter(|(var, _)| self.live.is_live(state.loc, *var))
            .map(|(_, term)| term)
            .collect();
        let facts = relevant(cx, &live, state.path.facts());
        let facts = projected(cx, &live, facts);
        canonical(cx, state.loc, live, facts)
    }
}

/// The facts connected to `terms` through shared variables.
fn relevant(cx: &Ctx<'_>, terms: &[Term], facts: &[Term]) -> Vec<Term> {
    let mut reached: FxHashSet<VarId> = cx.pool.free_vars_of(terms).into_iter().collect();
    let mut rest: Vec<(Term, Vec<VarId>)> =
        facts.iter().map(|&fact| (fact, cx.pool.free_vars(fact))).collect();
    let mut kept = Vec::new();
    loop {
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

/// `facts` with the variables that do not occur in `terms` quantified away.
fn projected(cx: &mut Ctx<'_>, terms: &[Term], facts: Vec<Term>) -> Vec<Term> {
    let visible = cx.pool.free_vars_of(terms);
    let hidden: Vec<VarId> =
        cx.pool.free_vars_of(&facts).into_iter().filter(|var| !visible.contains(var)).collect();
    let all = cx.pool.and(facts);
    let some = cx.pool.exists(&hidden, all);
    cx.pool.conjuncts(some)
}

/// The region with its variables renamed by first occurrence, facts in order.
fn canonical(cx: &mut Ctx<'_>, loc: LocId, terms: Vec<Term>, facts: Vec<Term>) -> Region {
    let mut names = Substitution::new();
    let mut count: FxHashMap<VarId, u32> = FxHashMap::default();
    for &term in terms.iter().chain(&facts) {
        for var in cx.pool.free_vars(term) {
            if names.get(var).is_some() {
                continue;
            }
            // Names are taken per sort, so that a name has the sort of what it stands for.
            let base = cx.canonical_base(var);
            let n = count.entry(base).or_insert(0);
            let name = cx.pool.indexed(base, *n);
            *n += 1;
            names.set(var, cx.pool.var(name));
        }
    }
    let terms = terms.into_iter().map(|term| cx.pool.substitute(term, &names)).collect();
    let mut facts: Vec<Term> = facts.into_iter().map(|fact| cx.pool.substitute(fact, &names)).collect();
    facts.sort_unstable();
    facts.dedup();
    Region { loc, terms, facts }
}

/// A cheap necessary condition for [`includes`]: a constant covers only itself.
fn may_include(cx: &Ctx<'_>, big: &Region, small: &Region) -> bool {
    big.terms.iter().zip(&small.terms).all(|(&b, &s)| b == s || cx.pool.as_value(b).is_none())
}

/// Whether every concrete state of `small` is one of `big`: no valuation satisfies the facts
/// of `small` such that no valuation of `big` gives the same values.
fn includes(cx: &mut Ctx<'_>, big: &Region, small: &Region) -> bool {
    let (terms, facts, vars) = primed(cx, big);
    let mut same: Vec<Term> = terms.iter().zip(&small.terms).map(|(&b, &s)| cx.pool.eq(b, s)).collect();
    same.extend(facts);
    let same = cx.pool.and(same);
    let covered = cx.pool.exists(&vars, same);
    let outside = cx.pool.not(covered);
    let mut question = small.facts.clone();
    question.push(outside);
    cx.decide(&question) == Decision::Unsat
}

/// `region` with its variables made different from those of any other region.
fn primed(cx: &mut Ctx<'_>, region: &Region) -> (Vec<Term>, Vec<Term>, Vec<VarId>) {
    let mut names = Substitution::new();
    let mut vars = Vec::new();
    let all: Vec<Term> = region.terms.iter().chain(&region.facts).copied().collect();
    for var in cx.pool.free_vars_of(&all) {
        let prime = cx.pool.indexed(var, u32::MAX);
        names.set(var, cx.pool.var(prime));
        vars.push(prime);
    }
    let mut rename =
        |list: &[Term]| list.iter().map(|&term| cx.pool.substitute(term, &names)).collect::<Vec<_>>();
    let terms = rename(&region.terms);
    let facts = rename(&region.facts);
    (terms, facts, vars)
}
