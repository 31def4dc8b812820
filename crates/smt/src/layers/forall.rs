//! Elimination of quantifiers that have an easy equivalent without.
//!
//! Quiescence asks whether *no* output value satisfies a guard, and output guards are mostly bounds on one field.
//! `∃x: l ≤ x ∧ x ≤ u` is `l ≤ u`: every lower bound at most every upper one. That is exact over the reals, and over
//! the integers where the coefficients of `x` on one of the two sides are 1 or -1; remainders by small constants are
//! taken case by case. A variable of an enumeration is replaced by a term it must equal; if it must only differ from
//! fewer terms than the enumeration has values, such a value exists. Small finite domains are written out instead.
//!
//! *Promises* facts that hold under the same valuations. A quantifier without an easy
//! equivalent stays, for the back-end.

mod bounds;
#[doc(hidden)]
pub mod remainder;

use ioxide_model::sort::{DataId, Sort};
use ioxide_model::term::{Substitution, Term, TermNode, TermPool, VarId};
use ioxide_model::value::{DataValue, Value};
use rustc_hash::FxHashMap;

use super::normalise::complete_valuation;
use crate::solver::{Solver, SolverAnswer, SolverDecision};
use crate::tally::SolverTally;

/// The greatest size of a domain that is written out. The three limits were chosen by feel: they keep an elimination
/// from making a formula much larger than the one that the back-end would have got.
const MAX_VALUES: usize = 64;
/// The number of terms beyond which formulas are left alone; written-out ones have at most about as many.
const MAX_TERMS: usize = 4096;
/// The greatest number of arms of a disjunctive form. Chosen by feel: it bounds the time.
const MAX_ARMS: usize = 64;

/// The layer that eliminates quantifiers.
#[derive(Debug)]
pub struct ForallLayer<S> {
    inner: S,
    images: FxHashMap<Term, Term>,
}

impl<S: Solver> ForallLayer<S> {
    /// Makes a layer that eliminates quantifiers for `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, images: FxHashMap::default() }
    }

    fn eliminate_in_facts(&mut self, pool: &mut TermPool, facts: &[Term]) -> Vec<Term> {
        facts.iter().map(|&fact| self.eliminate_in_fact(pool, fact)).collect()
    }

    fn eliminate_in_fact(&mut self, pool: &mut TermPool, fact: Term) -> Term {
        if !pool.has_quantifier(fact) {
            return fact;
        }
        if let Some(&image) = self.images.get(&fact) {
            return image;
        }
        let image = eliminate(pool, fact);
        self.images.insert(fact, image);
        image
    }
}

impl<S: Solver> Solver for ForallLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let images = self.eliminate_in_facts(pool, facts);
        match self.inner.check(pool, &images) {
            // A variable may have gone with its quantifier.
            SolverAnswer::Sat(valuation) if images != facts => {
                SolverAnswer::Sat(complete_valuation(pool, &pool.free_vars_of(facts), &valuation))
            }
            answer => answer,
        }
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        let images = self.eliminate_in_facts(pool, facts);
        self.inner.decide(pool, &images)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        self.inner.add_to_tally(tally);
    }
}

/// Returns `term` with its easy quantifiers eliminated, inner ones first.
pub fn eliminate(pool: &mut TermPool, term: Term) -> Term {
    // Children first, so an inner quantifier is gone, or known to stay, when the outer one is looked at.
    let order = pool.subterms(&[term], |sub| pool.has_quantifier(sub));
    let mut images: FxHashMap<Term, Term> = FxHashMap::default();
    for sub in order {
        if !pool.has_quantifier(sub) {
            continue;
        }
        let known = |child| images.get(&child).copied().unwrap_or(child);
        let image = match pool.node(sub).clone() {
            TermNode::Exists(vars, body) => eliminate_exists(pool, &vars, known(body)),
            _ => pool.with_children(sub, known),
        };
        images.insert(sub, image);
    }
    images.get(&term).copied().unwrap_or(term)
}

/// Returns `∃ vars: body`, each variable eliminated if that is easy.
fn eliminate_exists(pool: &mut TermPool, vars: &[VarId], body: Term) -> Term {
    // One variable at a time: `∃x, y` is `∃x: ∃y`, and eliminating one may make the next easy.
    let mut body = body;
    let mut kept = Vec::new();
    for &var in vars {
        match eliminate_variable(pool, var, body) {
            Some(image) => body = image,
            None => kept.push(var),
        }
    }
    pool.exists(&kept, body)
}

/// Returns `∃ var: body` without the quantifier; `None` if that is not easy.
fn eliminate_variable(pool: &mut TermPool, var: VarId, body: Term) -> Option<Term> {
    let sort = pool.var_info(var).sort;
    if pool.size(body) > MAX_TERMS {
        return None;
    }
    let arms =
        DisjunctArms { var, budget: MAX_ARMS, known: FxHashMap::default() }.split_into_arms(pool, body);
    // `∃` distributes over disjunction, so every arm is treated alone; one that resists makes the whole resist.
    if let Some(arms) = arms
        && let Some(images) =
            arms.into_iter().map(|arm| eliminate_in_arm(pool, var, sort, arm)).collect::<Option<Vec<_>>>()
    {
        return Some(pool.or(images));
    }
    expand_small_domain(pool, var, sort, body)
}

/// `∃ var: arm` for a conjunction of literals.
fn eliminate_in_arm(pool: &mut TermPool, var: VarId, sort: Sort, arm: Vec<Term>) -> Option<Term> {
    // Literals without the variable move out of the quantifier.
    let (about, others): (Vec<Term>, Vec<Term>) =
        arm.into_iter().partition(|&literal| pool.mentions(literal, var));
    let image = match sort.base() {
        _ if about.is_empty() => pool.tt(),
        Sort::Int | Sort::Real => bounds::eliminate(pool, var, sort, &about)
            .or_else(|| remainder::eliminate(pool, var, sort, &about))?,
        Sort::Str => eliminate_avoidable_string(pool, var, &about)?,
        Sort::Data(data) => eliminate_enumeration(pool, var, data, &about)?,
        _ => return None,
    };
    Some(pool.and(others.into_iter().chain([image])))
}

/// Returns `∃ var: literals` for a variable of an enumeration: the variable is replaced by a term it equals; if it must
/// only differ from fewer terms than there are values, such a value exists.
fn eliminate_enumeration(pool: &mut TermPool, var: VarId, data: DataId, literals: &[Term]) -> Option<Term> {
    let n_values = pool.data(data).ctors.len();
    if pool.data(data).ctors.iter().any(|ctor| !ctor.fields.is_empty()) {
        return None;
    }
    if let Some(other) = literals.iter().find_map(|&literal| equated_term(pool, var, data, literal)) {
        let value = Substitution::from_iter([(var, other)]);
        let rest: Vec<Term> = literals.iter().map(|&literal| pool.substitute(literal, &value)).collect();
        return Some(pool.and(rest));
    }
    let differs = |pool: &mut TermPool, literal: Term| match *pool.node(literal) {
        TermNode::Not(inner) => equated_term(pool, var, data, inner).is_some(),
        _ => false,
    };
    // Each literal excludes one value at most, whatever its term is equal to: with fewer literals than values one is
    // left.
    let avoidable = literals.len() < n_values && literals.iter().all(|&literal| differs(pool, literal));
    avoidable.then(|| pool.tt())
}

/// Returns the term that `literal` equates `var` with; `None` if it is no such equation, or the term mentions `var`.
fn equated_term(pool: &mut TermPool, var: VarId, data: DataId, literal: Term) -> Option<Term> {
    let term = pool.var(var);
    match *pool.node(literal) {
        TermNode::Is(ctor, arg) if arg == term => {
            Some(pool.value(Value::Data(DataValue { data, ctor, args: [].into() })))
        }
        TermNode::Eq(a, b) => {
            let other = match (a == term, b == term) {
                (true, _) => b,
                (_, true) => a,
                _ => return None,
            };
            (!pool.mentions(other, var)).then_some(other)
        }
        _ => None,
    }
}

/// Eliminates a string that must only differ from finitely many given ones: another always exists.
fn eliminate_avoidable_string(pool: &mut TermPool, var: VarId, literals: &[Term]) -> Option<Term> {
    let term = pool.var(var);
    let is_ne = |literal: &Term| {
        let TermNode::Not(inner) = pool.node(*literal) else { return false };
        let TermNode::Eq(a, b) = pool.node(*inner) else { return false };
        let other = if *a == term { *b } else { *a };
        (*a == term || *b == term) && !pool.mentions(other, var)
    };
    if literals.iter().all(is_ne) { Some(pool.tt()) } else { None }
}

/// `∃ var: body` as a disjunction over all values of a small domain.
fn expand_small_domain(pool: &mut TermPool, var: VarId, sort: Sort, body: Term) -> Option<Term> {
    let values = pool.finite_domain(sort).filter(|values| values.len() <= MAX_VALUES)?;
    if values.len() * pool.size(body) > MAX_TERMS {
        return None;
    }
    let mut arms = Vec::with_capacity(values.len());
    for value in values {
        let value = pool.value(value);
        arms.push(pool.substitute(body, &Substitution::from_iter([(var, value)])));
    }
    Some(pool.or(arms))
}

/// Disjunctive form of the parts of a formula that mention `var`; the rest are literals.
struct DisjunctArms {
    var: VarId,
    budget: usize,
    /// A memo of whether terms mention the variable.
    known: FxHashMap<Term, bool>,
}

impl DisjunctArms {
    /// The depth beyond which a formula is not opened. Chosen by feel: it bounds the time.
    const MAX_DEPTH: u32 = 32;

    /// Returns the arms of `body`, each a conjunction of literals; `None` if there are too many.
    fn split_into_arms(&mut self, pool: &mut TermPool, body: Term) -> Option<Vec<Vec<Term>>> {
        self.open_term(pool, body, Self::MAX_DEPTH)
    }

    fn open_term(&mut self, pool: &mut TermPool, term: Term, depth: u32) -> Option<Vec<Vec<Term>>> {
        let depth = depth.checked_sub(1)?;
        // What does not mention the variable stays closed: opening it would multiply arms for nothing.
        if !*self.known.entry(term).or_insert_with(|| pool.mentions(term, self.var)) {
            return Some(vec![vec![term]]);
        }
        match pool.node(term).clone() {
            TermNode::And(list) => self.multiply_arms(pool, &list, depth),
            TermNode::Or(list) => self.union_arms(pool, &list, depth),
            TermNode::Not(inner) => self.open_not(pool, term, inner, depth),
            TermNode::Eq(a, b) if pool.sort(a) == Sort::Bool => {
                let (not_a, not_b) = (pool.not(a), pool.not(b));
                let (both, neither) = (pool.and2(a, b), pool.and2(not_a, not_b));
                self.union_arms(pool, &[both, neither], depth)
            }
            TermNode::Ite(cond, a, b) => {
                let not_cond = pool.not(cond);
                let (then, other) = (pool.and2(cond, a), pool.and2(not_cond, b));
                self.union_arms(pool, &[then, other], depth)
            }
            _ => Some(vec![vec![term]]),
        }
    }

    fn open_not(
        &mut self,
        pool: &mut TermPool,
        term: Term,
        inner: Term,
        depth: u32,
    ) -> Option<Vec<Vec<Term>>> {
        match pool.node(inner).clone() {
            TermNode::And(list) => {
                let parts: Vec<Term> = list.iter().map(|&part| pool.not(part)).collect();
                self.union_arms(pool, &parts, depth)
            }
            TermNode::Or(list) => {
                let parts: Vec<Term> = list.iter().map(|&part| pool.not(part)).collect();
                self.multiply_arms(pool, &parts, depth)
            }
            TermNode::Eq(a, b) if pool.sort(a) == Sort::Bool => {
                let not_b = pool.not(b);
                let flipped = pool.eq(a, not_b);
                self.open_term(pool, flipped, depth)
            }
            // x != t is x < t or x > t.
            TermNode::Eq(a, b) if pool.sort(a).is_numeric() => {
                let (below, above) = (pool.lt(a, b), pool.lt(b, a));
                self.union_arms(pool, &[below, above], depth)
            }
            TermNode::Ite(cond, a, b) => {
                let (not_a, not_b) = (pool.not(a), pool.not(b));
                let flipped = pool.ite(cond, not_a, not_b);
                self.open_term(pool, flipped, depth)
            }
            _ => Some(vec![vec![term]]),
        }
    }

    fn union_arms(&mut self, pool: &mut TermPool, list: &[Term], depth: u32) -> Option<Vec<Vec<Term>>> {
        let mut arms = Vec::new();
        for &part in list {
            arms.extend(self.open_term(pool, part, depth)?);
            if arms.len() > self.budget {
                return None;
            }
        }
        Some(arms)
    }

    fn multiply_arms(&mut self, pool: &mut TermPool, list: &[Term], depth: u32) -> Option<Vec<Vec<Term>>> {
        let mut arms = vec![Vec::new()];
        for &part in list {
            let right = self.open_term(pool, part, depth)?;
            // Distributing "and" over "or" multiplies the arms, which is what the budget is for.
            if arms.len() * right.len() > self.budget {
                return None;
            }
            arms = arms
                .iter()
                .flat_map(|left: &Vec<Term>| right.iter().map(move |more| [&left[..], more].concat()))
                .collect();
        }
        Some(arms)
    }
}
