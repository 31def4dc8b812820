//! Validation: every valuation is re-evaluated, and a wrong one makes the answer unknown.
//!
//! Solvers have bugs, and Z3 is a library found at run time. A fact whose quantifier ranges over too many values cannot
//! be evaluated; the solver is trusted on it. That nothing satisfies facts about the order of texts is not believed:
//! Z3 4.8.12 says so of `y < y + "a"` with other facts that are satisfiable together.

use ioxide_model::term::{EvalError, Term, TermNode, TermPool};
use ioxide_model::valuation::Valuation;

use crate::solver::{Solver, SolverAnswer, SolverDecision, UnknownReason};
use crate::tally::{AnswerCounts, SolverTally};

/// The validating layer.
#[derive(Debug)]
pub struct ValidateLayer<S> {
    inner: S,
    /// The answers withdrawn because their valuation was wrong.
    answers: AnswerCounts,
}

impl<S: Solver> ValidateLayer<S> {
    /// Makes a layer that checks the valuations of `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner, answers: AnswerCounts::default() }
    }
}

impl<S: Solver> Solver for ValidateLayer<S> {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        match self.inner.check(pool, facts) {
            SolverAnswer::Sat(valuation) => match find_objection(pool, facts, &valuation) {
                None => SolverAnswer::Sat(valuation),
                Some(text) => self.answers.count_answer(SolverAnswer::Unknown(UnknownReason::Error(text))),
            },
            SolverAnswer::Unsat if compares_texts(pool, facts) => {
                self.answers.count_answer(SolverAnswer::Unknown(UnknownReason::Incomplete))
            }
            other => other,
        }
    }

    fn decide(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverDecision {
        // Satisfiable without a valuation could not be checked, so the valuation is asked for here too. The layers in
        // front ask for one anyway.
        self.check(pool, facts).decision()
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        tally.add_layer("validate", self.answers);
        self.inner.add_to_tally(tally);
    }
}

/// Returns whether some fact is about the order of texts.
fn compares_texts(pool: &TermPool, facts: &[Term]) -> bool {
    pool.subterms(facts, |_| true).into_iter().any(|term| matches!(pool.node(term), TermNode::TextLe(..)))
}

/// Returns the objection to `valuation`; `None` if it is well-sorted and satisfies the facts as far as they can be
/// evaluated.
fn find_objection(pool: &TermPool, facts: &[Term], valuation: &Valuation) -> Option<String> {
    for (var, value) in valuation.iter() {
        if !pool.has_sort(value, pool.var_info(var).sort) {
            return Some(format!("the solver gave `{}` a value outside its sort", pool.var_info(var).name));
        }
    }
    facts.iter().find_map(|&fact| match pool.holds(fact, valuation) {
        Ok(true) | Err(EvalError::Unbounded(_)) => None,
        Ok(false) => Some("the solver's valuation does not satisfy the facts".to_owned()),
        Err(EvalError::TooLarge | EvalError::TooLong) => {
            Some("the solver's valuation is too large to be checked".to_owned())
        }
        Err(EvalError::Unassigned(var)) => {
            Some(format!("the solver gave `{}` no value", pool.var_info(var).name))
        }
    })
}
