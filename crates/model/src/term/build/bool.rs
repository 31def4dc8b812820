//! Boolean connectives and if-then-else.

use crate::index::Idx;
use crate::sort::Sort;
use crate::term::{Term, TermNode, TermPool};
use crate::value::Value;

impl TermPool {
    /// Negation.
    pub fn not(&mut self, a: Term) -> Term {
        debug_assert_eq!(self.sort(a), Sort::Bool);
        // The cheapest rule first; every rule gives a term that is not larger.
        None.or_else(|| self.not_value(a))
            .or_else(|| self.not_not(a))
            .or_else(|| self.not_order(a))
            .unwrap_or_else(|| self.intern(TermNode::Not(a)))
    }

    /// Conjunction of any number of terms; of none it is true.
    pub fn and(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        self.junction(BoolJunction::And, terms.into_iter().collect())
    }

    /// Disjunction of any number of terms; of none it is false.
    pub fn or(&mut self, terms: impl IntoIterator<Item = Term>) -> Term {
        self.junction(BoolJunction::Or, terms.into_iter().collect())
    }

    /// Conjunction of two.
    pub fn and2(&mut self, a: Term, b: Term) -> Term {
        self.and([a, b])
    }

    /// Disjunction of two.
    pub fn or2(&mut self, a: Term, b: Term) -> Term {
        self.or([a, b])
    }

    /// `a` implies `b`, written `!a || b`.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let not_a = self.not(a);
        self.or([not_a, b])
    }

    /// `then` if `cond` holds, else `other`.
    pub fn ite(&mut self, cond: Term, then: Term, other: Term) -> Term {
        debug_assert_eq!(self.sort(then).base(), self.sort(other).base());
        None.or_else(|| self.ite_value(cond, then, other))
            .or_else(|| self.ite_same(then, other))
            .or_else(|| self.ite_not(cond, then, other))
            .or_else(|| self.ite_bool(cond, then, other))
            .or_else(|| self.ite_collection(cond, then, other))
            .or_else(|| self.ite_construct(cond, then, other))
            .unwrap_or_else(|| self.intern(TermNode::Ite(cond, then, other)))
    }

    /// Returns the conjunction of those conjuncts of `term` that are not conjuncts of `known`.
    #[must_use]
    pub fn conjuncts_beyond(&mut self, term: Term, known: Term) -> Term {
        let known = self.conjuncts(known);
        let parts = self.conjuncts(term);
        self.and(parts.into_iter().filter(|part| !known.contains(part)))
    }

    /// Returns whether a conjunct of `guard` equates a variable with a constant other than its value, so that the guard
    /// is false without evaluation. Most switches of a composed system are excluded this way.
    pub fn is_refuted_at_once<'v>(
        &self,
        guard: Term,
        value: impl Fn(crate::term::VarId) -> Option<&'v Value>,
    ) -> bool {
        let is_other = |var: Term, wanted: Term| match (self.node(var), self.node(wanted)) {
            (TermNode::Var(var), TermNode::Value(wanted)) => value(*var).is_some_and(|found| found != wanted),
            _ => false,
        };
        let refutes = |fact: &Term| match *self.node(*fact) {
            TermNode::Eq(a, b) => is_other(a, b) || is_other(b, a),
            _ => false,
        };
        match self.node(guard) {
            // Without evaluating the others: most switches of a composed system are refuted by the place of one
            // part.
            TermNode::And(list) => list.iter().any(refutes),
            _ => refutes(&guard),
        }
    }

    /// Returns the conjuncts of `term`: its parts if it is a conjunction, no term if it is true, else itself.
    #[must_use]
    pub fn conjuncts(&self, term: Term) -> Vec<Term> {
        match self.node(term) {
            TermNode::And(list) => list.to_vec(),
            TermNode::Value(Value::Bool(true)) => Vec::new(),
            _ => vec![term],
        }
    }

    /// `!true = false`, `!false = true`.
    fn not_value(&mut self, a: Term) -> Option<Term> {
        let b = self.as_value(a)?.as_bool()?;
        Some(self.bool(!b))
    }

    /// `!!a = a`.
    fn not_not(&mut self, a: Term) -> Option<Term> {
        if let TermNode::Not(inner) = self.node(a) { Some(*inner) } else { None }
    }

    /// `!(a < b) = b <= a`, `!(a <= b) = b < a`: numbers are totally ordered.
    fn not_order(&mut self, a: Term) -> Option<Term> {
        match *self.node(a) {
            TermNode::Lt(x, y) => Some(self.le(y, x)),
            TermNode::Le(x, y) => Some(self.lt(y, x)),
            _ => None,
        }
    }

    /// Builds conjunctions and disjunctions by one algorithm, as they are dual.
    fn junction(&mut self, kind: BoolJunction, terms: Vec<Term>) -> Term {
        let mut parts = self.flatten(kind, terms);
        let neutral = self.bool(kind == BoolJunction::And);
        let absorbing = self.bool(kind == BoolJunction::Or);
        parts.retain(|&part| part != neutral);
        // Sorted by id and each once: conjunctions of the same parts are one term, whatever their order.
        parts.sort_unstable();
        parts.dedup();
        if parts.contains(&absorbing) || self.has_complement(&parts) {
            return absorbing;
        }
        match *parts {
            [] => neutral,
            [only] => only,
            _ => self.intern(kind.node(parts.into())),
        }
    }

    /// `(a & b) & c = a & b & c`.
    fn flatten(&self, kind: BoolJunction, terms: Vec<Term>) -> Vec<Term> {
        let mut parts = Vec::with_capacity(terms.len());
        for term in terms {
            debug_assert_eq!(self.sort(term), Sort::Bool);
            match (kind, self.node(term)) {
                (BoolJunction::And, TermNode::And(list)) | (BoolJunction::Or, TermNode::Or(list)) => {
                    parts.extend(&**list)
                }
                _ => parts.push(term),
            }
        }
        parts
    }

    /// `a & !a = false`, `a | !a = true`; also for `a < b` with `b <= a`.
    fn has_complement(&self, sorted: &[Term]) -> bool {
        let known = |part: &Term| self.known_negation(*part);
        sorted.iter().filter_map(known).any(|negation| sorted.binary_search(&negation).is_ok())
    }

    /// The negation of `term`, if the pool has it already.
    pub(super) fn known_negation(&self, term: Term) -> Option<Term> {
        let node = match self.node(term) {
            TermNode::Not(inner) => return Some(*inner),
            TermNode::Lt(a, b) => TermNode::Le(*b, *a),
            TermNode::Le(a, b) => TermNode::Lt(*b, *a),
            _ => TermNode::Not(term),
        };
        // Only looked up: a negation that nobody has made is no part of the list, and need not be made for this.
        self.nodes.get_index_of(&node).map(Idx::new)
    }

    /// `if true then a else b = a`.
    fn ite_value(&mut self, cond: Term, then: Term, other: Term) -> Option<Term> {
        Some(if self.as_value(cond)?.as_bool()? { then } else { other })
    }

    /// `if c then a else a = a`.
    fn ite_same(&mut self, then: Term, other: Term) -> Option<Term> {
        (then == other).then_some(then)
    }

    /// `if !c then a else b = if c then b else a`.
    fn ite_not(&mut self, cond: Term, then: Term, other: Term) -> Option<Term> {
        let TermNode::Not(inner) = *self.node(cond) else { return None };
        Some(self.ite(inner, other, then))
    }

    /// A choice between truth values is a formula: `(c & a) | (!c & b)` where a branch is constant.
    fn ite_bool(&mut self, cond: Term, then: Term, other: Term) -> Option<Term> {
        if self.sort(then) != Sort::Bool {
            return None;
        }
        let not_cond = self.not(cond);
        match (self.as_value(then), self.as_value(other)) {
            (Some(Value::Bool(true)), _) => Some(self.or([cond, other])),
            (Some(Value::Bool(false)), _) => Some(self.and([not_cond, other])),
            (_, Some(Value::Bool(true))) => Some(self.or([not_cond, then])),
            (_, Some(Value::Bool(false))) => Some(self.and([cond, then])),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BoolJunction {
    And,
    Or,
}

impl BoolJunction {
    /// Returns the node that joins `parts`.
    fn node(self, parts: Box<[Term]>) -> TermNode {
        match self {
            Self::And => TermNode::And(parts),
            Self::Or => TermNode::Or(parts),
        }
    }
}
