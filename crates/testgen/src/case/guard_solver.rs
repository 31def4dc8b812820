//! Questions about one step, asked in names that do not tell which step it is.
//!
//! The fields and delays of a question get numbers, in the order of their steps. A path that goes round a
//! loop asks the same questions every time, so they are answered once; and the number of variables a solver
//! has to know of stays that of one question, not that of the path.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::Ctx;

/// Asks questions.
#[derive(Debug, Default)]
pub(super) struct GuardSolver {
    /// One variable per sort, whose numbered copies stand for those of a question.
    bases: Vec<(Sort, VarId)>,
}

impl GuardSolver {
    /// Whether `facts` can hold together.
    pub(super) fn decide(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> SolverDecision {
        let names = self.names(cx, facts);
        let facts = renamed(cx, facts, &names);
        cx.decide(&facts)
    }

    /// Values for which `facts` hold together, if the solver finds some.
    pub(super) fn values(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> Option<Valuation> {
        let names = self.names(cx, facts);
        let facts = renamed(cx, facts, &names);
        let SolverAnswer::Sat(found) = cx.check(&facts) else { return None };
        let mut values = Valuation::new();
        for (var, name) in names {
            if let Some(value) = found.get(name) {
                values.set(var, value.clone());
            }
        }
        Some(values)
    }

    /// A name for every variable of `facts`.
    fn names(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> Vec<(VarId, VarId)> {
        let vars = cx.pool.free_vars_of(facts);
        (0..).zip(vars).map(|(n, var)| (var, self.name(cx, var, n))).collect()
    }

    fn name(&mut self, cx: &mut Ctx<'_>, var: VarId, n: u32) -> VarId {
        let sort = cx.pool.var_info(var).sort;
        let base = match self.bases.iter().find(|(known, _)| *known == sort) {
            Some((_, base)) => *base,
            None => {
                let base = cx.pool.declare("q", sort);
                self.bases.push((sort, base));
                base
            }
        };
        cx.pool.indexed(base, n)
    }
}

fn renamed(cx: &mut Ctx<'_>, facts: &[Term], names: &[(VarId, VarId)]) -> Vec<Term> {
    let mut renaming = Substitution::new();
    for &(var, name) in names {
        renaming.set(var, cx.pool.var(name));
    }
    facts.iter().map(|&fact| cx.pool.substitute(fact, &renaming)).collect()
}
