//! Queries about one step, in variables that do not depend on the position of the step.
//!
//! The fields and delays of a query get numbers, in the order of their steps. A path that goes round a loop makes the
//! same queries every time, so they are answered once; and the number of variables that the solver has to declare is
//! that of one query, not that of the path.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::Ctx;

/// Asks the solver about facts with renamed variables.
#[derive(Debug, Default)]
pub(super) struct GuardSolver {
    /// One variable per sort; its numbered copies stand for the variables of a query.
    bases: Vec<(Sort, VarId)>,
}

impl GuardSolver {
    /// Asks the solver whether `facts` can hold together.
    pub(super) fn decide(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> SolverDecision {
        let names = self.names(cx, facts);
        let facts = rename_facts(cx, facts, &names);
        cx.decide(&facts)
    }

    /// Returns values for which `facts` hold together, if the solver finds some.
    pub(super) fn values(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> Option<Valuation> {
        let names = self.names(cx, facts);
        let facts = rename_facts(cx, facts, &names);
        let SolverAnswer::Sat(found) = cx.check(&facts) else { return None };
        let mut values = Valuation::new();
        for (var, name) in names {
            if let Some(value) = found.get(name) {
                values.set(var, value.clone());
            }
        }
        Some(values)
    }

    /// Returns a numbered variable for every variable of `facts`.
    fn names(&mut self, cx: &mut Ctx<'_>, facts: &[Term]) -> Vec<(VarId, VarId)> {
        let vars = cx.pool.free_vars_of(facts);
        (0..).zip(vars).map(|(n, var)| (var, self.name(cx, var, n))).collect()
    }

    /// Returns the `n`th numbered variable of the sort of `var`, so that equal questions have equal terms.
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
        cx.pool.indexed_var(base, n)
    }
}

fn rename_facts(cx: &mut Ctx<'_>, facts: &[Term], names: &[(VarId, VarId)]) -> Vec<Term> {
    let mut renaming = Substitution::new();
    for &(var, name) in names {
        renaming.set(var, cx.pool.var(name));
    }
    facts.iter().map(|&fact| cx.pool.substitute(fact, &renaming)).collect()
}
