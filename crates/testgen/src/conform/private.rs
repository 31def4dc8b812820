//! Members that are sets of states: their own variables in canonical form.
//!
//! A value over a member's own variables is named by its position, and the facts become conditions on these names and
//! on the variables that both sides share. Own variables that no value mentions are projected away. Then one set of
//! states is within another if the facts of the one imply those of the other.

use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::term::{Substitution, Term, TermNode, VarId};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;
use rustc_hash::FxHashMap;

use super::branch::{BranchCase, assume};
use super::product::ProductState;
use super::region::{CanonicalNames, NameUse};
use super::side::SideMember;

/// The greatest size of a domain that is enumerated. Chosen by feel: every value becomes a case of the formula.
const MAX_DOMAIN: usize = 16;

/// Returns whether a member of `state` is a set of states.
pub(super) fn has_own(state: &ProductState) -> bool {
    members(state).any(|member| !member.own.is_empty())
}

/// The own variables of the members.
pub(super) fn own_variables(state: &ProductState) -> Vec<VarId> {
    members(state).flat_map(|member| member.own.iter().copied()).collect()
}

/// The members of both sides.
fn members(state: &ProductState) -> impl Iterator<Item = &SideMember> {
    state.imp.iter().chain(&state.spec)
}

/// Returns the variables in the facts of members that are not their own, in order of first appearance.
pub(super) fn shared_variables(cx: &Ctx<'_>, state: &ProductState) -> Vec<VarId> {
    let mut found = Vec::new();
    for member in members(state) {
        for var in member.facts.iter().flat_map(|&fact| cx.pool.free_vars(fact)) {
            if !member.own.contains(&var) && !found.contains(&var) {
                found.push(var);
            }
        }
    }
    found
}

/// Returns `state` with the own variables of its members named by position, and whether that succeeded for all of them.
pub(super) fn canonical(
    cx: &mut Ctx<'_>,
    names: &mut CanonicalNames,
    mut state: ProductState,
) -> (ProductState, bool) {
    if !has_own(&state) {
        return (state, true);
    }
    let mut is_plain = true;
    for member in state.imp.iter_mut().chain(&mut state.spec) {
        if !member.own.is_empty() {
            resolve(cx, member);
            is_plain &= name(cx, names, member);
            shorten(cx, &state.path, member);
        }
    }
    gather(cx, names, &mut state);
    // After every member is in its own canonical form, equal members are equal terms: duplicates can go.
    for side in [&mut state.imp, &mut state.spec] {
        let mut kept: Vec<SideMember> = Vec::with_capacity(side.len());
        for member in side.drain(..) {
            if !kept.contains(&member) {
                kept.push(member);
            }
        }
        *side = kept;
    }
    // Positions in the pair are given last: they depend on which members are left.
    let mut at = 0;
    for member in state.imp.iter_mut().chain(&mut state.spec) {
        if is_plain {
            rename_own_variables(cx, names, member, at);
        }
        at += member.store.terms().len();
    }
    (state, is_plain)
}

/// Returns the cases of `state` in which variables that facts of members mention, and no stored value does, have known
/// values, so that old observations do not pile up in the facts. Only small domains are enumerated.
pub(super) fn known_values(
    cx: &mut Ctx<'_>,
    names: &mut CanonicalNames,
    state: ProductState,
    doubt: bool,
) -> Vec<(ProductState, bool)> {
    if !has_own(&state) {
        return vec![(state, doubt)];
    }
    let (pair, _) = canonical(cx, names, state);
    let mut open = vec![(pair, doubt)];
    for var in shared_variables(cx, &open[0].0) {
        let stored: Vec<Term> =
            members(&open[0].0).flat_map(|member| member.store.terms().to_vec()).collect();
        let sort = cx.pool.var_info(var).sort;
        let domain = cx.pool.finite_domain(sort).filter(|domain| domain.len() <= MAX_DOMAIN);
        // A variable that a stored value mentions is part of the state and must stay.
        let (Some(domain), false) = (domain, cx.pool.free_vars_of(&stored).contains(&var)) else { continue };
        let term = cx.pool.var(var);
        let mut next = Vec::new();
        for (pair, doubt) in open {
            for value in &domain {
                let value = cx.pool.value(value.clone());
                let fact = cx.pool.eq(term, value);
                let case = BranchCase { path: pair.path.clone(), doubt };
                // Values that the path excludes give no case.
                let Some(case) = assume(cx, &case, fact) else { continue };
                let path = case.path;
                let pair = rename_variables(cx, ProductState { path, ..pair.clone() }, &[term], &[value]);
                next.push((pair, case.doubt));
            }
        }
        open = next;
    }
    open
}

/// Replaces own variables of `member` that a fact equates with a term.
fn resolve(cx: &mut Ctx<'_>, member: &mut SideMember) {
    // Each round removes one own variable, so this ends.
    while let Some((var, value)) =
        member.facts.iter().find_map(|&fact| solve_private_variable(cx, &member.own, fact))
    {
        let known: Substitution = [(var, value)].into_iter().collect();
        let in_sort = cx.pool.domain_fact(cx.pool.var_info(var).sort, value);
        let facts = member.facts.iter().map(|&fact| cx.pool.substitute(fact, &known));
        let facts: Vec<Term> = facts.chain([in_sort]).collect();
        member.facts = flatten_facts(cx, facts);
        for term in member.store.terms_mut() {
            *term = cx.pool.substitute(*term, &known);
        }
        member.own.retain(|own| *own != var);
    }
    // Facts of a member are about its own variables; those about shared ones are on the path.
    if member.own.is_empty() {
        member.facts.clear();
    }
}

/// The variable among `own` that `fact` equates with a term, and that term.
fn solve_private_variable(cx: &Ctx<'_>, own: &[VarId], fact: Term) -> Option<(VarId, Term)> {
    let TermNode::Eq(a, b) = *cx.pool.node(fact) else { return None };
    [(a, b), (b, a)].into_iter().find_map(|(one, other)| match *cx.pool.node(one) {
        TermNode::Var(var) if own.contains(&var) && !cx.pool.mentions(other, var) => Some((var, other)),
        _ => None,
    })
}

/// Returns the conjuncts of all `facts`.
fn flatten_facts(cx: &mut Ctx<'_>, facts: Vec<Term>) -> Vec<Term> {
    let all = cx.pool.and(facts);
    if cx.pool.is_true(all) { Vec::new() } else { cx.pool.conjuncts(all) }
}

/// Names the values of `member` by their positions in it; false if a quantifier is left.
fn name(cx: &mut Ctx<'_>, names: &mut CanonicalNames, member: &mut SideMember) -> bool {
    if member.own.is_empty() {
        return true;
    }
    let mentions = |cx: &Ctx<'_>, term: Term| {
        let vars = cx.pool.free_vars(term);
        member.own.iter().any(|own| vars.contains(own))
    };
    let mut facts = member.facts.clone();
    let (mut store, mut own) = (member.store.clone(), Vec::new());
    let mut back = Substitution::new();
    for (offset, term) in store.terms_mut().iter_mut().enumerate() {
        if !mentions(cx, *term) {
            continue;
        }
        let sort = cx.pool.sort(*term);
        // Two steps, by way of passing names: the canonical name may be one of the variables to be eliminated.
        let passing = names.name_for(cx, NameUse::OwnPassing, offset, sort);
        let name = names.name_for(cx, NameUse::Own, offset, sort);
        facts.push(cx.pool.eq(passing, *term));
        if let (TermNode::Var(passing), TermNode::Var(name)) = (cx.pool.node(passing), cx.pool.node(name)) {
            let (passing, name) = (*passing, *name);
            own.push(name);
            back.set(passing, cx.pool.var(name));
        }
        *term = name;
    }
    if own.is_empty() {
        // Nothing depends on the choice any more, and that there is one is known already.
        (member.own, member.facts) = (Vec::new(), Vec::new());
        return true;
    }
    let all = cx.pool.and(facts);
    // What the old variables said about the stored values remains; the variables themselves go.
    let some = cx.pool.exists(&member.own, all);
    let some = eliminate(cx.pool, some);
    if cx.pool.has_quantifier(some) {
        return false;
    }
    let some = cx.pool.substitute(some, &back);
    let mut facts = flatten_facts(cx, vec![some]);
    // In the order of the pool, so that equal conditions are equal lists.
    facts.sort_unstable();
    (member.store, member.own, member.facts) = (store, own, facts);
    true
}

/// Names sums of instants in the facts of members, so that the facts mention the sums alone: otherwise every delay of a
/// run stays a value of the state, and no state recurs.
fn gather(cx: &mut Ctx<'_>, names: &mut CanonicalNames, state: &mut ProductState) {
    let mut used = cx.pool.free_vars_of(&state.path);
    for member in members(state) {
        used.extend(cx.pool.free_vars_of(member.store.terms()));
        used.extend(cx.pool.free_vars_of(&member.facts));
    }
    let mut sums = InstantSums { names, used, named: Vec::new() };
    for member in state.imp.iter_mut().chain(&mut state.spec) {
        for fact in &mut member.facts {
            *fact = sums.name_sums(cx, &member.own, *fact);
        }
        // What only others are in after all is known already.
        member.facts.retain(|&fact| member.own.iter().any(|&var| cx.pool.mentions(fact, var)));
    }
    for (sum, name) in sums.named {
        let fact = cx.pool.eq(name, sum);
        state.path.push(fact);
    }
}

/// Sums of instants and their names.
struct InstantSums<'n> {
    names: &'n mut CanonicalNames,
    /// The variables that are in use and cannot be names.
    used: Vec<VarId>,
    named: Vec<(Term, Term)>,
}

impl InstantSums<'_> {
    /// Returns `fact` with names for the sums in its comparisons; unchanged if it has a quantifier.
    fn name_sums(&mut self, cx: &mut Ctx<'_>, own: &[VarId], fact: Term) -> Term {
        if cx.pool.has_quantifier(fact) {
            return fact;
        }
        let mut images: FxHashMap<Term, Term> = FxHashMap::default();
        // Children come before their parents, so the images of children are there when a parent is rebuilt.
        for sub in cx.pool.subterms(&[fact], |term| cx.pool.sort(term) == Sort::Bool) {
            if cx.pool.sort(sub) != Sort::Bool {
                continue;
            }
            let image = match InstantComparison::parse(cx, own, sub) {
                Some(comparison) => {
                    let sum = self.name(cx, comparison.sum);
                    comparison.with_sum(cx, sum)
                }
                None => cx.pool.with_children(sub, |child| images.get(&child).copied().unwrap_or(child)),
            };
            images.insert(sub, image);
        }
        images.get(&fact).copied().unwrap_or(fact)
    }

    /// Returns the term that stands for `sum`: `sum` itself if it is one instant, else a name.
    fn name(&mut self, cx: &mut Ctx<'_>, sum: Term) -> Term {
        if matches!(cx.pool.node(sum), TermNode::Var(_)) {
            return sum;
        }
        // The same sum gets the same name in all members: their comparisons stay related.
        if let Some(&(_, name)) = self.named.iter().find(|(known, _)| *known == sum) {
            return name;
        }
        let mut at = 0;
        loop {
            let name = self.names.name_for(cx, NameUse::Sum, at, Sort::Real);
            if let TermNode::Var(var) = *cx.pool.node(name)
                && !self.used.contains(&var)
            {
                self.used.push(var);
                self.named.push((sum, name));
                return name;
            }
            at += 1;
        }
    }
}

/// A comparison of instants `own ± sum ⋈ 0`, where `sum` has none of a member's own variables and `own` no others.
struct InstantComparison {
    /// The comparison itself, for its operator.
    relation: TermNode,
    own: Term,
    sum: Term,
    is_negative: bool,
}

impl InstantComparison {
    /// Reads `fact` as such a comparison; `None` if it compares no instants, or mentions own variables only.
    fn parse(cx: &mut Ctx<'_>, own: &[VarId], fact: Term) -> Option<Self> {
        let relation = cx.pool.node(fact).clone();
        let (TermNode::Le(a, b) | TermNode::Lt(a, b) | TermNode::Eq(a, b)) = relation else { return None };
        if cx.pool.sort(a) != Sort::Real {
            return None;
        }
        let difference = cx.pool.sub(a, b);
        let parts = match cx.pool.node(difference) {
            TermNode::Add(parts) => parts.to_vec(),
            _ => vec![difference],
        };
        let is_shared = |part: &Term| {
            let vars = cx.pool.free_vars(*part);
            !vars.is_empty() && !vars.iter().any(|var| own.contains(var))
        };
        let (shared, rest): (Vec<Term>, Vec<Term>) = parts.into_iter().partition(is_shared);
        let first = *shared.first()?;
        let zero = cx.pool.number(Rational::ZERO, Sort::Real);
        let (own, sum) = (cx.pool.add(rest.into_iter().chain([zero])), cx.pool.add(shared));
        // `sum` and `-sum` share one name: the sign goes to the comparison.
        let is_negative = matches!(cx.pool.node(first), TermNode::Mul(factors)
            if cx.pool.as_value(factors[0]).and_then(Value::to_rational).is_some_and(|it| it.is_negative()));
        let sum = if is_negative { cx.pool.neg(sum) } else { sum };
        Some(Self { relation, own, sum, is_negative })
    }

    /// Returns the same comparison with another sum.
    fn with_sum(&self, cx: &mut Ctx<'_>, sum: Term) -> Term {
        let sum = if self.is_negative { cx.pool.neg(sum) } else { sum };
        let left = cx.pool.add2(self.own, sum);
        let zero = cx.pool.number(Rational::ZERO, Sort::Real);
        match self.relation {
            TermNode::Lt(..) => cx.pool.lt(left, zero),
            TermNode::Le(..) => cx.pool.le(left, zero),
            _ => cx.pool.eq(left, zero),
        }
    }
}

/// Renames the own variables of `member` from positions in the member to positions in a pair, where the member begins
/// at `at`.
fn rename_own_variables(cx: &mut Ctx<'_>, names: &mut CanonicalNames, member: &mut SideMember, at: usize) {
    let mut placed = Substitution::new();
    let mut own = Vec::with_capacity(member.own.len());
    for (offset, &term) in member.store.terms().iter().enumerate() {
        let TermNode::Var(var) = *cx.pool.node(term) else { continue };
        if !member.own.contains(&var) {
            continue;
        }
        let name = names.name_for(cx, NameUse::Own, at + offset, cx.pool.sort(term));
        placed.set(var, name);
        own.extend(cx.pool.free_vars(name));
    }
    for term in member.store.terms_mut().iter_mut().chain(&mut member.facts) {
        *term = cx.pool.substitute(*term, &placed);
    }
    member.facts.sort_unstable();
    member.own = own;
}

/// Drops facts of `member` that follow from others: those without own variables, and those with shared variables that
/// follow from the path and the remaining facts.
fn shorten(cx: &mut Ctx<'_>, path: &[Term], member: &mut SideMember) {
    let own = std::mem::take(&mut member.own);
    member.facts.retain(|&fact| own.iter().any(|&var| cx.pool.mentions(fact, var)));
    let speaks_of_others = |cx: &Ctx<'_>, fact| cx.pool.free_vars(fact).iter().any(|var| !own.contains(var));
    let mut at = 0;
    while at < member.facts.len() {
        let fact = member.facts[at];
        if !speaks_of_others(cx, fact) {
            at += 1;
            continue;
        }
        let rest = member.facts.iter().copied().filter(|&other| other != fact);
        let mut question: Vec<Term> = path.iter().copied().chain(rest).collect();
        question.push(cx.pool.not(fact));
        // The fact follows from the path and the others. In doubt it stays.
        if cx.decide(&question) == SolverDecision::Unsat {
            member.facts.remove(at);
        } else {
            at += 1;
        }
    }
    member.own = own;
}

/// Returns `state` with the terms `new` for the variables `old` in the facts of its members.
pub(super) fn rename_variables(
    cx: &mut Ctx<'_>,
    mut state: ProductState,
    old: &[Term],
    new: &[Term],
) -> ProductState {
    let vars = old.iter().zip(new).filter_map(|(&old, &new)| match *cx.pool.node(old) {
        TermNode::Var(var) => Some((var, new)),
        _ => None,
    });
    let renaming: Substitution = vars.collect();
    for member in state.imp.iter_mut().chain(&mut state.spec) {
        for fact in &mut member.facts {
            *fact = cx.pool.substitute(*fact, &renaming);
        }
    }
    state
}

/// The sets of states of the specification that stand for a set of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpecCover {
    /// The same set. An input counts if one state of the specification takes it: what the implementation does after an
    /// input that only the others take is not compared where a smaller set was.
    Same,
    /// Any set within it: fewer states allow less, and leave no input out that the others take.
    Subset,
}

/// Returns whether the sets of the implementation in `big` have all states of those in `small`, and the sets of the
/// specification in `big` cover those in `small`; `names` maps the names of `big` to terms of `small`.
pub(super) fn covers(
    cx: &mut Ctx<'_>,
    big: &ProductState,
    small: &ProductState,
    names: &Substitution,
    spec_cover: SpecCover,
) -> bool {
    let within = |cx: &mut Ctx<'_>, inner: &[Term], outer: &[Term]| {
        if inner == outer {
            return true;
        }
        let outer = cx.pool.and(outer.iter().copied());
        let mut question: Vec<Term> = small.path.iter().chain(inner).copied().collect();
        question.push(cx.pool.not(outer));
        cx.decide(&question) == SolverDecision::Unsat
    };
    let facts = |cx: &mut Ctx<'_>, member: &SideMember| -> Vec<Term> {
        member.facts.iter().map(|&fact| cx.pool.substitute(fact, names)).collect()
    };
    // More behaviour of the implementation and less of the specification make a failure more likely: if `big` is safe,
    // `small` is.
    for (big, small) in big.imp.iter().zip(&small.imp) {
        let outer = facts(cx, big);
        if !within(cx, &small.facts, &outer) {
            return false;
        }
    }
    for (big, small) in big.spec.iter().zip(&small.spec) {
        let inner = facts(cx, big);
        if !within(cx, &inner, &small.facts) {
            return false;
        }
        if spec_cover == SpecCover::Same && !within(cx, &small.facts, &inner) {
            return false;
        }
    }
    true
}
