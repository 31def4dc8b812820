//! Normalisation: splits conjunctions, drops duplicates, and answers trivial questions.
//!
//! The order of the facts stays, so that a back-end still shares their prefix.

use ioxide_model::term::{Term, TermNode, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use rustc_hash::FxHashSet;

use crate::solver::{Solver, SolverAnswer, SolverDecision};
use crate::tally::{AnswerCounts, SolverTally};

/// The normalising layer.
#[derive(Debug)]
pub struct NormaliseLayer<S> {
    inner: S,
    answers: AnswerCounts,
}

impl<S: Solver> NormaliseLayer<S> {
    /// Makes a layer that passes lists of distinct conjuncts to `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, answers: AnswerCounts::default() }
    }
}

impl<S: Solver> Solver for NormaliseLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        match distinct_conjuncts(pool, facts) {
            None => self.answers.count_answer(SolverAnswer::Unsat),
            Some(list) if list.is_empty() => self.answers.count_answer(SolverAnswer::Sat(Valuation::new())),
            Some(list) => self.inner.check(pool, &list),
        }
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        match distinct_conjuncts(pool, facts) {
            None => self.answers.count_decision(SolverDecision::Unsat),
            Some(list) if list.is_empty() => self.answers.count_decision(SolverDecision::Sat),
            Some(list) => self.inner.decide(pool, &list),
        }
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        tally.add_layer("normalise", self.answers);
        self.inner.add_to_tally(tally);
    }
}

/// Returns the conjuncts of `facts` in order, each once; `None` if they contradict each other plainly.
fn distinct_conjuncts(pool: &TermPool, facts: &[Term]) -> Option<Vec<Term>> {
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    let mut list = Vec::with_capacity(facts.len());
    for &fact in facts {
        let parts =
            if let TermNode::And(parts) = pool.node(fact) { parts } else { std::slice::from_ref(&fact) };
        for &part in parts {
            if pool.is_false(part) {
                return None;
            }
            if !pool.is_true(part) && seen.insert(part) {
                list.push(part);
            }
        }
    }
    let denies = |part: &Term| matches!(pool.node(*part), TermNode::Not(inner) if seen.contains(inner));
    if list.iter().any(denies) { None } else { Some(list) }
}

/// Returns a value for every variable of `vars`, a plain one where `valuation` has none.
pub(crate) fn complete_valuation(pool: &TermPool, vars: &[VarId], valuation: &Valuation) -> Valuation {
    let value =
        |var| valuation.get(var).cloned().unwrap_or_else(|| pool.default_value(pool.var_info(var).sort));
    vars.iter().map(|&var| (var, value(var))).collect()
}
