//! Walking terms without recursion.

use rustc_hash::FxHashSet;

use super::{Term, TermNode, TermPool, VarId};
use crate::value::Value;

impl TermPool {
    /// The subterms of `roots`, children before parents, each once.
    ///
    /// `enter` decides whether to look below a term; the term itself is always listed.
    #[must_use]
    pub fn subterms(&self, roots: &[Term], enter: impl Fn(Term) -> bool) -> Vec<Term> {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut found: Vec<Term> = roots.iter().copied().filter(|&root| seen.insert(root)).collect();
        let mut next = 0;
        while next < found.len() {
            let term = found[next];
            next += 1;
            if enter(term) {
                found.extend(self.node(term).children().filter(|&child| seen.insert(child)));
            }
        }
        // Children have smaller ids: id order is a post-order.
        found.sort_unstable();
        found
    }

    /// The variables that occur free in `term`, in order, each once.
    #[must_use]
    pub fn free_vars(&self, term: Term) -> Vec<VarId> {
        self.free_vars_of(&[term])
    }

    /// The variables that occur free in any of `terms`, in order, each once.
    #[must_use]
    pub fn free_vars_of(&self, terms: &[Term]) -> Vec<VarId> {
        let mut vars: Vec<VarId> = Vec::new();
        for sub in self.subterms(terms, |term| !self.is_ground(term)) {
            if let TermNode::Var(var) = self.node(sub) {
                vars.push(*var);
            }
        }
        if terms.iter().any(|&term| self.has_quantifier(term)) {
            vars.retain(|&var| !self.var_info(var).bound || self.occurs_free(terms, var));
        }
        vars.sort_unstable();
        vars
    }

    /// Returns whether a bound variable occurs free in `term`, so that `term` is a part of the body of a binder.
    #[must_use]
    pub fn is_open(&self, term: Term) -> bool {
        self.free_vars(term).iter().any(|&var| self.var_info(var).bound)
    }

    /// Returns whether `var` occurs free in `term`. Cheaper than [`free_vars`](Self::free_vars).
    #[must_use]
    pub fn mentions(&self, term: Term, var: VarId) -> bool {
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            match self.node(term) {
                TermNode::Var(other) if *other == var => return true,
                node if node.binds().contains(&var) => (),
                _ if self.is_ground(term) => (),
                node => open.extend(node.children().filter(|&child| seen.insert(child))),
            }
        }
        false
    }

    /// Returns whether `var` occurs in `terms` outside the binders that bind it.
    fn occurs_free(&self, terms: &[Term], var: VarId) -> bool {
        let binds = |term| self.node(term).binds().contains(&var);
        let outside = self.subterms(terms, |term| !binds(term));
        outside.iter().any(|&sub| *self.node(sub) == TermNode::Var(var))
    }

    /// Returns the value that `fact` equates `var` with; `None` if `fact` says anything else.
    #[must_use]
    pub fn value_given(&self, fact: Term, var: VarId) -> Option<Value> {
        let is_var = |term: Term| *self.node(term) == TermNode::Var(var);
        match *self.node(fact) {
            TermNode::Var(other) if other == var => Some(Value::Bool(true)),
            TermNode::Not(inner) if is_var(inner) => Some(Value::Bool(false)),
            TermNode::Eq(a, b) if is_var(a) => self.as_value(b).cloned(),
            TermNode::Eq(a, b) if is_var(b) => self.as_value(a).cloned(),
            _ => None,
        }
    }

    /// The number of distinct subterms of `term`.
    #[must_use]
    pub fn size(&self, term: Term) -> usize {
        self.subterms(&[term], |_| true).len()
    }
}
