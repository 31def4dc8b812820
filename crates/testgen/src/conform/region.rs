//! The recognition of product states that were seen before (\[AT15] sec. 4.2).
//!
//! A product state is brought into a *canonical* form: the values that are not constants get names by position, equal
//! values the same name; the path condition becomes a condition on the names alone, everything else quantified away.
//! States with equal forms are equivalent, and one state covers another if the condition of the other implies its own,
//! which is a query to the solver.
//!
//! Where states of one shape keep coming, they can be *widened*: the least general generalisation of two states keeps
//! the constants, the equalities (between the two sides too) and the conditions they share, and stands for both. Chains
//! of widenings are finite.
//!
//! *Promises* that a state is only dropped if a remembered one stands for all of it.

use rustc_hash::FxHashMap;

use ioxide_model::sort::Sort;
use ioxide_model::sts::{LocId, Sts};
use ioxide_model::term::{Substitution, Term, TermNode, VarId};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::leaves::{Leaves, apply_decision, find_undecided, with_leaves};
use ioxide_symex::{Ctx, Store, connected_facts, keep_tightest};

use super::branch::{BranchCase, assume, fork};
use super::private::{self, SpecCover, has_own};
use super::product::ProductState;
use super::side::SideMember;

/// The greatest number of remembered states that are compared with a new one. Chosen by feel: each costs a question;
/// fewer explore states twice, which is slower but never wrong.
const MAX_CANDIDATES: usize = 24;

/// The greatest size of a domain that is enumerated. Chosen by feel: every value becomes a state of its own.
const MAX_DOMAIN: usize = 64;

/// The treatment of states that are not covered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Widening {
    /// The states stay as they are.
    Never,
    /// The states are widened once there are this many of one shape.
    Beyond(usize),
}

/// Names for the values of canonical states.
#[derive(Clone, Debug)]
pub(crate) struct CanonicalNames {
    /// The sorts of the variables of either side.
    imp: Vec<Sort>,
    spec: Vec<Sort>,
    /// True if one of the systems has clocks.
    timed: bool,
    bases: FxHashMap<(NameUse, Sort), VarId>,
}

/// The use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum NameUse {
    /// A value of a canonical state.
    State,
    /// A value over a member's own variables.
    Own,
    /// A value over a member's own variables, during a projection.
    OwnPassing,
    /// A value of a canonical state, during a projection, apart from the names that it replaces.
    Passing,
    /// A sum of instants that facts of members mention.
    Sum,
}

/// The locations of both sides and the shapes of their collections: states of different shapes never
/// cover each other.
type ProductShape = (Vec<LocId>, Vec<LocId>, Vec<u32>);

/// The remembered states.
#[derive(Clone, Debug)]
pub(crate) struct SeenProducts {
    spec_cover: SpecCover,
    by_form: FxHashMap<ProductState, usize>,
    /// The states of each shape, in order of discovery.
    by_shape: FxHashMap<ProductShape, Vec<Remembered>>,
}

/// A state with its leaves and its number.
#[derive(Clone, Debug)]
struct Remembered {
    state: ProductState,
    leaves: Vec<Term>,
    number: usize,
}

/// The result of looking for a state among those seen before.
pub(crate) enum ProductMatch {
    /// The state is new; the search goes on from this.
    New(ProductState),
    /// The state is new and was widened to this, which stands for more than was reached.
    Widened(ProductState),
    /// The state remembered under this number stands for all of it.
    Covered(usize),
}

impl SeenProducts {
    pub fn new(spec_cover: SpecCover) -> Self {
        Self { spec_cover, by_form: FxHashMap::default(), by_shape: FxHashMap::default() }
    }

    /// Looks for a state that covers `state`, which is canonical; remembers it as `number` if there is none.
    pub fn visit(
        &mut self,
        cx: &mut Ctx<'_>,
        names: &mut CanonicalNames,
        state: ProductState,
        number: usize,
        widening: Widening,
    ) -> ProductMatch {
        if let Some(known) = self.covering(cx, names, &state) {
            return ProductMatch::Covered(known);
        }
        // Widening with the latest of the shape alone: each generalisation drops a constant, an equality or a fact, so
        // a chain of them ends, while a widening with all of them would lose at once what only some have.
        let shape = shape_of(cx, names, &state);
        let alike = self.by_shape.get(&shape).map_or(&[][..], Vec::as_slice);
        let widen = matches!(widening, Widening::Beyond(many) if alike.len() >= many);
        let (pair, widened) = match alike.last() {
            Some(last)
                if widen
                    && state.fresh == 0
                    && last.state.fresh == 0
                    && !has_own(&state)
                    && !has_own(&last.state) =>
            {
                (generalise(cx, names, &last.state, &state), true)
            }
            _ => (state, false),
        };
        self.by_form.insert(pair.clone(), number);
        let leaves = names.leaves(cx, &pair).terms;
        self.by_shape.entry(shape).or_default().push(Remembered { state: pair.clone(), leaves, number });
        if widened { ProductMatch::Widened(pair) } else { ProductMatch::New(pair) }
    }

    /// The state that covers `state`, if one is known.
    pub fn covering(&self, cx: &mut Ctx<'_>, names: &CanonicalNames, state: &ProductState) -> Option<usize> {
        if let Some(&known) = self.by_form.get(state) {
            return Some(known);
        }
        let candidates = self.by_shape.get(&shape_of(cx, names, state))?;
        let small = names.leaves(cx, state).terms;
        // The latest first: a search comes back to where it just was more often than to where it began.
        let mut tried = 0;
        for Remembered { state: big, leaves, number } in candidates.iter().rev() {
            if !may_cover(cx, (big, leaves), &small) {
                continue;
            }
            tried += 1;
            if covers(cx, (big, leaves), (state, &small), self.spec_cover) {
                return Some(*number);
            }
            if tried == MAX_CANDIDATES {
                break;
            }
        }
        None
    }
}

/// Returns the shape of `state`.
fn shape_of(cx: &mut Ctx<'_>, names: &CanonicalNames, state: &ProductState) -> ProductShape {
    let locations = |members: &[SideMember]| members.iter().map(|member| member.loc).collect();
    (locations(&state.imp), locations(&state.spec), names.leaves(cx, state).shape)
}

/// The terms of all members, in order.
fn terms(state: &ProductState) -> impl Iterator<Item = Term> + '_ {
    state.imp.iter().chain(&state.spec).flat_map(|member| member.store.terms().iter().copied())
}

/// Returns whether a value of `state` is too large to be computed with.
pub(crate) fn is_too_large(cx: &Ctx<'_>, state: &ProductState) -> bool {
    terms(state).any(|term| cx.pool.is_too_heavy(term))
}

/// Returns the cases of `state` in which the presence of every item of a collection is decided.
pub(crate) fn decided_cases(
    cx: &mut Ctx<'_>,
    names: &CanonicalNames,
    state: ProductState,
    doubt: bool,
) -> Vec<(ProductState, bool)> {
    let (mut done, mut open) = (Vec::new(), vec![(state, doubt)]);
    while let Some((pair, doubt)) = open.pop() {
        let stored: Vec<(Term, Sort)> = terms(&pair).zip(names.sorts(&pair)).collect();
        // Too many cases: the rest stays undecided, which is sound but seldom covers or is covered.
        let full = done.len() + open.len() >= MAX_DOMAIN;
        let question = find_undecided(cx.pool, stored.iter().copied(), &pair.path);
        let Some(question) = question.filter(|_| !full) else {
            done.push((pair, doubt));
            continue;
        };
        let (yes, no) = fork(cx, BranchCase { path: pair.path.clone(), doubt }, question.condition);
        for (case, truth) in [(no, false), (yes, true)] {
            let Some(mut case) = case else { continue };
            let fact = if truth { question.condition } else { cx.pool.not(question.condition) };
            // What the path says in other words is said in these, so that it is not asked again.
            case.path.extend(cx.pool.conjuncts(fact));
            let terms = apply_decision(cx.pool, stored.iter().copied(), question, truth);
            open.push((ProductState { path: case.path, ..with_stored(&pair, terms) }, case.doubt));
        }
    }
    done
}

/// `state` with other leaves, in the order of [`CanonicalNames::leaves`].
fn with_terms(
    cx: &mut Ctx<'_>,
    names: &CanonicalNames,
    state: &ProductState,
    leaves: &[Term],
    path: Vec<Term>,
) -> ProductState {
    let stored: Vec<(Term, Sort)> = terms(state).zip(names.sorts(state)).collect();
    let terms = with_leaves(cx.pool, stored, &mut leaves.iter().copied());
    ProductState { path, fresh: 0, ..with_stored(state, terms) }
}

/// `state` with other terms, in the order of [`terms`].
fn with_stored(state: &ProductState, terms: Vec<Term>) -> ProductState {
    let mut rest = terms.into_iter();
    let mut side = |members: &[SideMember]| {
        let member = |member: &SideMember| SideMember {
            store: Store::new(rest.by_ref().take(member.store.terms().len()).collect()),
            ..member.clone()
        };
        members.iter().map(member).collect::<Vec<_>>()
    };
    let (imp, spec) = (side(&state.imp), side(&state.spec));
    ProductState { imp, spec, ..state.clone() }
}

/// Returns the canonical form of `state`; if a quantifier is left, `state` without irrelevant facts.
pub(crate) fn canonical(cx: &mut Ctx<'_>, names: &mut CanonicalNames, state: ProductState) -> ProductState {
    let pair = if names.timed || has_own(&state) { substitute_fixed(cx, state) } else { state };
    let (pair, is_plain) = private::canonical(cx, names, pair);
    let Leaves { terms: mut stored, mut sorts, .. } = names.leaves(cx, &pair);
    let n_stored = stored.len();
    for var in private::shared_variables(cx, &pair) {
        sorts.push(cx.pool.var_info(var).sort);
        stored.push(cx.pool.var(var));
    }
    // The path is satisfiable and says nothing about constants, so the form needs none of it.
    if stored.iter().all(|&term| cx.pool.is_ground(term)) {
        return ProductState { path: Vec::new(), fresh: 0, ..pair };
    }
    let facts = connected_facts(cx, &stored, &pair.path);
    let own = private::own_variables(&pair);
    let values = CanonicalValues { stored: &stored, sorts: &sorts, own: &own };
    // Renaming is cheap and keeps every fact as it is; projection quantifies, and may leave a quantifier.
    let found = is_plain.then(|| {
        rename_values(cx, names, values, &facts).or_else(|| project_values(cx, names, values, &facts))
    });
    match found.flatten() {
        Some((terms, path)) => {
            debug_assert_eq!(terms.len(), stored.len(), "a form names every value");
            let named = private::rename_variables(cx, pair, &stored[n_stored..], &terms[n_stored..]);
            with_terms(cx, names, &named, &terms[..n_stored], path)
        }
        None => ProductState { path: facts, ..pair },
    }
}

/// Returns `state` with every variable that a fact equates with a constant replaced by it.
fn substitute_fixed(cx: &mut Ctx<'_>, mut state: ProductState) -> ProductState {
    while let Some((var, value)) = state.path.iter().find_map(|&fact| fixed_variable(cx, fact)) {
        let known: Substitution = [(var, value)].into_iter().collect();
        for member in state.imp.iter_mut().chain(&mut state.spec) {
            for term in member.store.terms_mut().iter_mut().chain(&mut member.facts) {
                *term = cx.pool.substitute(*term, &known);
            }
        }
        let facts = state.path.iter().map(|&fact| cx.pool.substitute(fact, &known)).collect();
        state.path = conjuncts(cx, facts);
    }
    // A constant may have made two members equal that only differed in the variable.
    for side in [&mut state.imp, &mut state.spec] {
        let mut kept: Vec<SideMember> = Vec::with_capacity(side.len());
        for member in side.drain(..) {
            if !kept.contains(&member) {
                kept.push(member);
            }
        }
        *side = kept;
    }
    state
}

/// The variable that `fact` equates with a constant, and the constant.
fn fixed_variable(cx: &Ctx<'_>, fact: Term) -> Option<(VarId, Term)> {
    let TermNode::Eq(a, b) = *cx.pool.node(fact) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(one, other)| match *cx.pool.node(one) {
        TermNode::Var(var) if cx.pool.is_ground(other) => Some((var, other)),
        _ => None,
    })
}

/// The values that a canonical form names, with their sorts; values over members' own variables keep their form.
#[derive(Clone, Copy)]
struct CanonicalValues<'v> {
    stored: &'v [Term],
    sorts: &'v [Sort],
    own: &'v [VarId],
}

impl CanonicalValues<'_> {
    /// Returns whether `term` keeps its form: a constant, or a value over a member's own variables.
    fn stays(&self, cx: &Ctx<'_>, term: Term) -> bool {
        let is_own = |var: &VarId| self.own.contains(var);
        cx.pool.is_ground(term) || !self.own.is_empty() && cx.pool.free_vars(term).iter().any(is_own)
    }
}

/// Renames in the easy case: every value that is no constant is a variable, and the facts mention these only; `None`
/// else.
fn rename_values(
    cx: &mut Ctx<'_>,
    names: &mut CanonicalNames,
    values: CanonicalValues<'_>,
    facts: &[Term],
) -> Option<(Vec<Term>, Vec<Term>)> {
    let mut renaming = Substitution::new();
    let mut terms = Vec::with_capacity(values.stored.len());
    for (at, &term) in values.stored.iter().enumerate() {
        if values.stays(cx, term) {
            terms.push(term);
            continue;
        }
        let TermNode::Var(var) = *cx.pool.node(term) else { return None };
        if renaming.get(var).is_none() {
            renaming.set(var, names.name_for(cx, NameUse::State, at, values.sorts[at]));
        }
        terms.push(renaming.get(var)?);
    }
    if cx.pool.free_vars_of(facts).into_iter().any(|var| renaming.get(var).is_none()) {
        return None;
    }
    let facts: Vec<Term> = facts.iter().map(|&fact| cx.pool.substitute(fact, &renaming)).collect();
    Some((terms, conjuncts(cx, facts)))
}

/// Names the values in the general case, and quantifies everything else away; `None` if a quantifier is left.
fn project_values(
    cx: &mut Ctx<'_>,
    names: &mut CanonicalNames,
    values: CanonicalValues<'_>,
    facts: &[Term],
) -> Option<(Vec<Term>, Vec<Term>)> {
    let sorts = values.sorts;
    let hidden = values.stored.iter().filter(|&&term| !values.stays(cx, term));
    let hidden: Vec<Term> = hidden.chain(facts).copied().collect();
    let hidden = cx.pool.free_vars_of(&hidden);
    // Two sets of names: the state may already be over the canonical ones, from an earlier projection, and those are
    // among what is quantified away here. Passing names keep the old and the new apart until that is done.
    let mut given: FxHashMap<Term, Term> = FxHashMap::default();
    let mut facts = facts.to_vec();
    let mut back = Substitution::new();
    let mut terms = Vec::with_capacity(values.stored.len());
    for (at, &term) in values.stored.iter().enumerate() {
        if values.stays(cx, term) {
            terms.push(term);
            continue;
        }
        // Equal values get one name, so that two values are equal is part of the form and need not be a fact.
        if let Some(&name) = given.get(&term) {
            terms.push(name);
            continue;
        }
        let (passing, name) = (
            names.name_for(cx, NameUse::Passing, at, sorts[at]),
            names.name_for(cx, NameUse::State, at, sorts[at]),
        );
        if let TermNode::Var(var) = *cx.pool.node(passing) {
            back.set(var, name);
        }
        facts.push(cx.pool.eq(passing, term));
        given.insert(term, name);
        terms.push(name);
    }
    let all = cx.pool.and(facts);
    let some = cx.pool.exists(&hidden, all);
    let some = eliminate(cx.pool, some);
    if cx.pool.has_quantifier(some) {
        return None;
    }
    let some = cx.pool.substitute(some, &back);
    Some((terms, conjuncts(cx, vec![some])))
}

/// Returns the facts one by one, without those that others imply by their bounds.
fn conjuncts(cx: &mut Ctx<'_>, facts: Vec<Term>) -> Vec<Term> {
    let all = cx.pool.and(facts);
    let all = if cx.pool.is_true(all) { Vec::new() } else { cx.pool.conjuncts(all) };
    keep_tightest(cx, &all)
}

impl CanonicalNames {
    /// Names for states of these systems.
    pub fn new(cx: &Ctx<'_>, imp: &Sts, spec: &Sts) -> Self {
        let sorts = |sts: &Sts| sts.stored_vars().map(|var| cx.pool.var_info(var).sort).collect();
        let timed = imp.is_timed() || spec.is_timed();
        Self { imp: sorts(imp), spec: sorts(spec), timed, bases: FxHashMap::default() }
    }

    /// The sorts of the values of `state`, in the order of [`terms`]; guards keep values in their ranges.
    pub fn sorts(&self, state: &ProductState) -> Vec<Sort> {
        let imp = std::iter::repeat_n(&self.imp, state.imp.len());
        imp.chain(std::iter::repeat_n(&self.spec, state.spec.len())).flatten().copied().collect()
    }

    /// The values of `state`, elements of collections one by one.
    pub fn leaves(&self, cx: &mut Ctx<'_>, state: &ProductState) -> Leaves {
        let stored: Vec<(Term, Sort)> = terms(state).zip(self.sorts(state)).collect();
        Leaves::new(cx.pool, stored)
    }

    /// The name of the value at position `at`.
    pub(super) fn name_for(&mut self, cx: &mut Ctx<'_>, what: NameUse, at: usize, sort: Sort) -> Term {
        let base = *self.bases.entry((what, sort)).or_insert_with(|| cx.pool.declare("v", sort));
        let name = cx.pool.indexed_var(base, u32::try_from(at).unwrap_or(u32::MAX));
        cx.pool.var(name)
    }
}

/// Returns the pairs of concrete states that `state` stands for; `None` if a domain is not small, or a member has
/// variables of its own.
pub(crate) fn concretise(
    cx: &mut Ctx<'_>,
    names: &CanonicalNames,
    state: &ProductState,
    doubt: bool,
) -> Option<Vec<(ProductState, bool)>> {
    if has_own(state) {
        return None;
    }
    let leaves = names.leaves(cx, state);
    let mut open = vec![(leaves.terms, BranchCase { path: state.path.clone(), doubt })];
    for (at, sort) in leaves.sorts.into_iter().enumerate() {
        if open.iter().all(|(terms, _)| cx.pool.is_ground(terms[at])) {
            continue;
        }
        // One leaf at a time, each choice checked at once: most combinations are refuted before they are complete.
        let domain = cx.pool.finite_domain(sort).filter(|domain| domain.len() <= MAX_DOMAIN)?;
        let mut next = Vec::new();
        for (terms, case) in open {
            if cx.pool.is_ground(terms[at]) {
                next.push((terms, case));
                continue;
            }
            for value in &domain {
                let value = cx.pool.value(value.clone());
                let fact = cx.pool.eq(terms[at], value);
                let Some(case) = assume(cx, &case, fact) else { continue };
                // The same term elsewhere has the same value.
                let same = terms[at];
                let terms = terms.iter().map(|&term| if term == same { value } else { term }).collect();
                next.push((terms, case));
            }
        }
        open = next;
    }
    let mut pairs = Vec::with_capacity(open.len());
    for (terms, case) in open {
        let pair = with_terms(cx, names, state, &terms, Vec::new());
        pairs.push((sort_members(cx, pair), case.doubt));
    }
    Some(pairs)
}

/// The concrete `state` with every member once, in order of their values.
fn sort_members(cx: &Ctx<'_>, mut state: ProductState) -> ProductState {
    for members in [&mut state.imp, &mut state.spec] {
        let values = |member: &SideMember| {
            let values: Vec<Option<Value>> =
                member.store.terms().iter().map(|&term| cx.pool.as_value(term).cloned()).collect();
            (member.loc, values)
        };
        members.sort_by_cached_key(values);
        members.dedup();
    }
    state
}

/// Returns a cheap necessary condition for [`covers`]: a constant covers only itself.
fn may_cover(cx: &Ctx<'_>, (big, leaves): (&ProductState, &[Term]), small: &[Term]) -> bool {
    big.fresh == 0 && leaves.iter().zip(small).all(|(&b, &s)| b == s || !cx.pool.is_ground(b))
}

/// Returns whether every pair of states that `small` stands for is one of `big`; false if the solver does not decide.
fn covers(
    cx: &mut Ctx<'_>,
    (big, big_leaves): (&ProductState, &[Term]),
    (small, leaves): (&ProductState, &[Term]),
    spec_cover: SpecCover,
) -> bool {
    let (own, same_own) = (private::own_variables(big), private::own_variables(small));
    let (extra, same_extra) = (private::shared_variables(cx, big), private::shared_variables(cx, small));
    let sorts = |vars: &[VarId]| vars.iter().map(|&var| cx.pool.var_info(var).sort).collect::<Vec<_>>();
    if own != same_own || sorts(&extra) != sorts(&same_extra) {
        return false;
    }
    // `big` covers `small` if there is an instance of its names that makes its terms those of `small` and whose facts
    // follow from what `small` assumes. Names occur at leaves, so the instance is read off; what is left is one
    // question.
    let mut names = Substitution::new();
    let mut demands = Vec::new();
    let extra: Vec<Term> = extra.into_iter().map(|var| cx.pool.var(var)).collect();
    let same_extra: Vec<Term> = same_extra.into_iter().map(|var| cx.pool.var(var)).collect();
    let pairs = big_leaves.iter().zip(leaves).chain(extra.iter().zip(&same_extra));
    for (&b, &s) in pairs {
        match *cx.pool.node(b) {
            TermNode::Var(name) if own.contains(&name) => {
                if b != s {
                    return false;
                }
            }
            TermNode::Var(name) => match names.get(name) {
                None => {
                    demands.push(cx.pool.domain_fact(cx.pool.var_info(name).sort, s));
                    names.set(name, s);
                }
                Some(other) => demands.push(cx.pool.eq(other, s)),
            },
            _ => demands.push(cx.pool.eq(b, s)),
        }
    }
    demands.extend(big.path.iter().map(|&fact| cx.pool.substitute(fact, &names)));
    let demand = cx.pool.and(demands);
    if cx.pool.has_quantifier(demand) {
        return false;
    }
    let mut question = small.path.clone();
    question.push(cx.pool.not(demand));
    // Only a proof covers: a state that is explored twice costs time, one that is dropped wrongly costs a fault.
    cx.decide(&question) == SolverDecision::Unsat && private::covers(cx, big, small, &names, spec_cover)
}

/// Returns the least general canonical state that stands for both.
fn generalise(
    cx: &mut Ctx<'_>,
    names: &mut CanonicalNames,
    old: &ProductState,
    new: &ProductState,
) -> ProductState {
    let mut given: FxHashMap<(Term, Term), Term> = FxHashMap::default();
    let mut image = Vec::new();
    let Leaves { terms: new_leaves, sorts, .. } = names.leaves(cx, new);
    let old_leaves = names.leaves(cx, old).terms;
    for (at, (&a, &b)) in old_leaves.iter().zip(&new_leaves).enumerate() {
        if a == b && cx.pool.is_ground(a) {
            image.push(a);
            continue;
        }
        // The least general generalisation of Plotkin (1970): a pair of values that occurs twice gets the same name,
        // which is what keeps the equalities that both states have.
        let name = *given.entry((a, b)).or_insert_with(|| names.name_for(cx, NameUse::State, at, sorts[at]));
        image.push(name);
    }
    let path = shared_facts(cx, (old, &old_leaves), (new, &new_leaves), &given);
    with_terms(cx, names, new, &image, path)
}

/// Returns the facts of `old`, in the names of `given`, that hold in `new` too.
fn shared_facts(
    cx: &mut Ctx<'_>,
    (old, old_leaves): (&ProductState, &[Term]),
    (new, new_leaves): (&ProductState, &[Term]),
    given: &FxHashMap<(Term, Term), Term>,
) -> Vec<Term> {
    let mut renaming = Substitution::new();
    let mut in_new = Substitution::new();
    // A fact of `old` is kept if it also holds in `new`, read through the values that its names have there.
    for (&a, &b) in old_leaves.iter().zip(new_leaves) {
        let (TermNode::Var(var), Some(&name)) = (cx.pool.node(a), given.get(&(a, b))) else { continue };
        let var = *var;
        if renaming.get(var).is_none() {
            renaming.set(var, name);
            in_new.set(var, b);
        }
    }
    let mut kept = Vec::new();
    for &fact in &old.path {
        let there = cx.pool.substitute(fact, &in_new);
        let mut question = new.path.clone();
        question.push(cx.pool.not(there));
        if cx.decide(&question) == SolverDecision::Unsat {
            kept.push(cx.pool.substitute(fact, &renaming));
        }
    }
    conjuncts(cx, kept)
}
