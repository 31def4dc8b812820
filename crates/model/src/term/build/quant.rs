//! Quantifiers, with the cheap eliminations: scope narrowed as far as it goes, and
//! variables that an equation fixes replaced by it.
//!
//! Bound variables are renamed to numbers by height (see the module docs of
//! [`term`](crate::term)), so the caller's variables stay free elsewhere.

use crate::number::Rational;
use crate::sort::{CollectionKind, Sort};
use crate::term::{Substitution, Term, TermNode, TermOp, TermPool, VarId};

impl TermPool {
    /// Returns the formula that some values of `vars`, within their sorts, satisfy `body`.
    pub fn exists(&mut self, vars: &[VarId], body: Term) -> Term {
        debug_assert_eq!(self.sort(body), Sort::Bool);
        None.or_else(|| self.exists_unused(vars, body))
            // Narrow the scope first: the one-point rule then has fewer conjuncts to look at, and finds equations
            // in every case.
            .or_else(|| self.exists_or(vars, body))
            .or_else(|| self.exists_and(vars, body))
            .or_else(|| self.exists_one_point(vars, body))
            .or_else(|| self.exists_construct(vars, body))
            .unwrap_or_else(|| self.bind_variables(vars, body))
    }

    /// Returns the formula that all values of `vars`, within their sorts, satisfy `body`; written `!exists !body`.
    pub fn forall(&mut self, vars: &[VarId], body: Term) -> Term {
        let counter = self.not(body);
        let exists = self.exists(vars, counter);
        self.not(exists)
    }

    /// Returns the constraint that `sort` puts on `term`: its range, or the ranges of its items; true if there is none.
    pub fn domain_fact(&mut self, sort: Sort, term: Term) -> Term {
        if let Sort::Collection(_) = sort {
            return self.items_fact(sort, term);
        }
        let Sort::Range { lo, hi } = sort else { return self.tt() };
        if self.sort(term) == sort {
            return self.domain_fact_of_var(term, lo, hi);
        }
        self.between(term, lo, hi)
    }

    /// Every item of a collection, and every key of a map, lies in the range of its sort.
    fn items_fact(&mut self, sort: Sort, term: Term) -> Term {
        let Some(of) = self.collection_of(sort) else { return self.tt() };
        if matches!(self.node(term), TermNode::Var(_)) {
            return self.tt();
        }
        let members = self.members_fact(of.member(), term);
        if of.kind != CollectionKind::Map {
            return members;
        }
        let values = self.operate(TermOp::Values, vec![term]);
        let values = self.members_fact(of.item, values);
        self.and([members, values])
    }

    fn members_fact(&mut self, sort: Sort, of: Term) -> Term {
        if !matches!(sort, Sort::Range { .. } | Sort::Collection(_)) {
            return self.tt();
        }
        let (var, member) = self.declare_term("item", sort.base());
        let fact = self.domain_fact(sort, member);
        if self.is_true(fact) {
            return fact;
        }
        self.for_all_members(var, of, fact)
    }

    /// A variable lies in the range of its own sort: nothing to say.
    fn domain_fact_of_var(&mut self, term: Term, lo: i64, hi: i64) -> Term {
        if matches!(self.node(term), TermNode::Var(_)) { self.tt() } else { self.between(term, lo, hi) }
    }

    /// Returns `lo <= term && term <= hi`.
    fn between(&mut self, term: Term, lo: i64, hi: i64) -> Term {
        let (lo, hi) = (self.int(lo), self.int(hi));
        let (above, below) = (self.le(lo, term), self.le(term, hi));
        self.and([above, below])
    }

    /// Drops variables that do not occur: no sort is empty.
    fn exists_unused(&mut self, vars: &[VarId], body: Term) -> Option<Term> {
        let free = self.free_vars(body);
        let used: Vec<VarId> = vars.iter().copied().filter(|var| free.contains(var)).collect();
        if used.is_empty() {
            return Some(body);
        }
        (used.len() < vars.len()).then(|| self.exists(&used, body))
    }

    /// `exists x: a || b` is `(exists x: a) || (exists x: b)`.
    fn exists_or(&mut self, vars: &[VarId], body: Term) -> Option<Term> {
        let TermNode::Or(list) = self.node(body).clone() else { return None };
        let parts: Vec<Term> = list.iter().map(|&part| self.exists(vars, part)).collect();
        Some(self.or(parts))
    }

    /// `exists x: a && b` is `a && exists x: b` where `x` does not occur in `a`.
    fn exists_and(&mut self, vars: &[VarId], body: Term) -> Option<Term> {
        let TermNode::And(list) = self.node(body).clone() else { return None };
        let mentions = |pool: &Self, part| pool.free_vars(part).iter().any(|var| vars.contains(var));
        let (inside, mut outside): (Vec<Term>, Vec<Term>) =
            list.iter().partition(|&&part| mentions(self, part));
        if outside.is_empty() {
            return None;
        }
        let inside = self.and(inside);
        outside.push(self.exists(vars, inside));
        Some(self.and(outside))
    }

    /// `exists x: x == t && b` is `b` with `t` for `x`, where `x` does not occur in `t`.
    fn exists_one_point(&mut self, vars: &[VarId], body: Term) -> Option<Term> {
        let conjuncts = self.conjuncts(body);
        let (at, var, term) = conjuncts.iter().enumerate().find_map(|(at, &conjunct)| {
            vars.iter().find_map(|&var| Some((at, var, self.solved_for(var, conjunct)?)))
        })?;
        let rest =
            self.and(conjuncts.into_iter().enumerate().filter(|&(i, _)| i != at).map(|(_, part)| part));
        let rest = self.substitute(rest, &Substitution::from_iter([(var, term)]));
        // The variable was within its sort; now its solution must be.
        let in_sort = self.domain_fact(self.var_info(var).sort, term);
        let body = self.and([rest, in_sort]);
        let others: Vec<VarId> = vars.iter().copied().filter(|&other| other != var).collect();
        Some(self.exists(&others, body))
    }

    /// `exists x: t == some(x) && b` is `exists x: t is some && t.value == x && b`, which fixes `x`.
    fn exists_construct(&mut self, vars: &[VarId], body: Term) -> Option<Term> {
        let mut conjuncts = self.conjuncts(body);
        let (at, opened) = conjuncts
            .iter()
            .enumerate()
            .find_map(|(at, &part)| Some((at, self.open_equation(vars, part)?)))?;
        conjuncts[at] = opened;
        let body = self.and(conjuncts);
        Some(self.exists(vars, body))
    }

    /// The equation `t == C(a, b)` as a test and equations of the fields, if `t` does not mention `vars`
    /// and the fields do.
    fn open_equation(&mut self, vars: &[VarId], conjunct: Term) -> Option<Term> {
        let TermNode::Eq(a, b) = *self.node(conjunct) else { return None };
        let mentions = |pool: &Self, term| pool.free_vars(term).iter().any(|var| vars.contains(var));
        let (whole, made) = if mentions(self, a) { (b, a) } else { (a, b) };
        // Opened, the equation must say more about `vars` than before, or this would go on for ever.
        if mentions(self, whole) || !mentions(self, made) {
            return None;
        }
        let TermNode::Construct(_, ctor, args) = self.node(made).clone() else { return None };
        let mut parts = vec![self.is(ctor, whole)];
        for (field, &arg) in (0..).zip(&*args) {
            let selected = self.select(ctor, field, whole);
            parts.push(self.eq(selected, arg));
        }
        Some(self.and(parts))
    }

    /// Returns `t` if `conjunct` is equivalent to `var == t` and `var` does not occur in `t`.
    ///
    /// A linear equation is solved for `var` if its coefficient is 1 or -1, or the sort is real.
    #[must_use]
    pub fn solved_for(&mut self, var: VarId, conjunct: Term) -> Option<Term> {
        let var_term = self.var(var);
        if self.sort(var_term) == Sort::Bool {
            return self.solved_bool(var_term, conjunct);
        }
        let TermNode::Eq(a, b) = *self.node(conjunct) else { return None };
        let side = |pool: &Self, x, t| x == var_term && !pool.mentions(t, var);
        if side(self, a, b) {
            return Some(b);
        }
        if side(self, b, a) {
            return Some(a);
        }
        self.solved_linear(var, a, b)
    }

    /// `x` alone says `x == true`, `!x` says `x == false`.
    fn solved_bool(&mut self, var: Term, conjunct: Term) -> Option<Term> {
        if conjunct == var {
            return Some(self.tt());
        }
        (*self.node(conjunct) == TermNode::Not(var)).then(|| self.ff())
    }

    /// `x + a == b` says `x == b - a`.
    fn solved_linear(&mut self, var: VarId, a: Term, b: Term) -> Option<Term> {
        let sort = self.sort(a).base();
        if !sort.is_numeric() {
            return None;
        }
        let difference = self.sub(a, b);
        let var_term = self.var(var);
        let coefficient = self.coefficient_of(difference, var_term)?;
        let unit = coefficient == Rational::ONE || coefficient == Rational::from(-1);
        // `2 * x == y` has no whole solution if `y` is odd.
        if !unit && sort != Sort::Real {
            return None;
        }
        // difference = c·x + rest = 0, so x = rest / -c.
        let factor = self.number(coefficient.clone(), sort);
        let scaled = self.mul([factor, var_term]);
        let rest = self.sub(difference, scaled);
        let inverse = self.number(Rational::from(-1).div(&coefficient), sort);
        let solution = self.mul([inverse, rest]);
        // The variable may also occur inside an atom, as in `x + f(x) == 1`.
        (!self.mentions(solution, var)).then_some(solution)
    }

    /// The coefficient of `atom` in the sum `term`, if it has one.
    fn coefficient_of(&self, term: Term, atom: Term) -> Option<Rational> {
        let parts =
            if let TermNode::Add(list) = self.node(term) { list } else { std::slice::from_ref(&term) };
        parts.iter().find_map(|&part| match self.node(part) {
            TermNode::Mul(list) if list.len() == 2 && list[1] == atom => {
                self.as_value(list[0])?.to_rational()
            }
            _ => (part == atom).then_some(Rational::ONE),
        })
    }

    /// The quantified term, its variables numbered above those bound inside.
    fn bind_variables(&mut self, vars: &[VarId], body: Term) -> Term {
        // By height, so that equal quantified formulas are one term and substitution captures nothing.
        let inside = self.facts[crate::index::Idx::index(body)].binders;
        let mut sorted = vars.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let numbered: Vec<VarId> = (inside..)
            .zip(&sorted)
            .map(|(number, &var)| self.bound_var(self.var_info(var).sort, number))
            .collect();
        let renaming = sorted.iter().zip(&numbered).map(|(&var, &bound)| (var, self.var(bound))).collect();
        let body = self.substitute(body, &renaming);
        self.intern(TermNode::Exists(numbered.into(), body))
    }
}
