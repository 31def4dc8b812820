//! Enumeration: tries every combination of values, for small domains and as a cross-check of other solvers.
//!
//! *Promises* [`SolverAnswer::Unsat`] only if the domain of every free variable is finite and
//! all combinations were tried. Over other domains it tries a few plain values, so it
//! may find a valuation there but never refutes.

use ioxide_model::number::{Int, Rational};
use ioxide_model::sort::Sort;
use ioxide_model::term::{EvalError, Term, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::{DataValue, Value};

use crate::solver::{Solver, SolverAnswer, UnknownReason};
use crate::tally::{AnswerCounts, SolverTally};

/// The enumerating solver.
#[derive(Clone, Debug)]
pub struct BruteSolver {
    max_steps: u64,
    answers: AnswerCounts,
}

impl BruteSolver {
    /// Makes a solver that gives up after a million steps: assignments of a variable and backtracks, over all
    /// variables.
    #[must_use]
    pub fn new() -> Self {
        Self::with_max_steps(1_000_000)
    }

    /// Makes a solver that gives up after `max_steps` steps: assignments of a variable and backtracks, over all
    /// variables.
    #[must_use]
    pub fn with_max_steps(max_steps: u64) -> Self {
        Self { max_steps, answers: AnswerCounts::default() }
    }
}

impl Default for BruteSolver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver for BruteSolver {
    fn check(&mut self, pool: &mut TermPool, facts: &[Term]) -> SolverAnswer {
        let answer = BruteSearch::new(pool, facts).enumerate_assignments(self.max_steps);
        self.answers.count_answer(answer)
    }

    fn add_to_tally(&self, tally: &mut SolverTally) {
        tally.add_layer("brute", self.answers);
    }
}

/// A depth-first search over the variables; a fact is evaluated once its last variable has a value.
struct BruteSearch<'p> {
    pool: &'p TermPool,
    vars: Vec<VarId>,
    domains: Vec<Vec<Value>>,
    /// The facts to evaluate once the first `i` variables have values.
    due: Vec<Vec<Term>>,
    /// True if the domains hold all values of their sorts and every fact evaluated so far had a value.
    exhaustive: bool,
}

impl<'p> BruteSearch<'p> {
    /// Prepares the search: the values of each free variable, and the facts by the last variable that they need.
    pub fn new(pool: &'p TermPool, facts: &[Term]) -> Self {
        let vars = pool.free_vars_of(facts);
        let mut exhaustive = true;
        let domains = vars
            .iter()
            .map(|&var| enumerate_values(pool, pool.var_info(var).sort, &mut exhaustive))
            .collect();
        let mut due = vec![Vec::new(); vars.len() + 1];
        for &fact in facts {
            let last = pool.free_vars(fact).last().copied();
            // Both lists of variables are in the same order, so the last one of a fact is the last to get a value.
            let at = vars.iter().position(|&var| Some(var) == last).map_or(0, |position| position + 1);
            due[at].push(fact);
        }
        Self { pool, vars, domains, due, exhaustive }
    }

    /// Enumerates the domains in lexicographic order, skipping all below an assignment that a fact refutes.
    fn enumerate_assignments(mut self, max_steps: u64) -> SolverAnswer {
        let mut valuation = Valuation::new();
        let mut next = vec![0; self.vars.len()];
        let mut depth = 0;
        if !self.do_due_facts_hold(0, &valuation) {
            return self.answer_when_exhausted();
        }
        for _ in 0..max_steps {
            // Every fact was due at some depth on the way, and held there.
            if depth == self.vars.len() {
                return SolverAnswer::Sat(valuation);
            }
            let Some(value) = self.domains[depth].get(next[depth]) else {
                if depth == 0 {
                    return self.answer_when_exhausted();
                }
                // All values of this variable were tried: back to the one before, whose next value is due.
                next[depth] = 0;
                depth -= 1;
                continue;
            };
            next[depth] += 1;
            valuation.set(self.vars[depth], value.clone());
            if self.do_due_facts_hold(depth + 1, &valuation) {
                depth += 1;
            }
        }
        SolverAnswer::Unknown(UnknownReason::Incomplete)
    }

    /// Returns whether the facts due at `depth` hold. A fact without a value counts as false and rules out
    /// [`SolverAnswer::Unsat`].
    fn do_due_facts_hold(&mut self, depth: usize, valuation: &Valuation) -> bool {
        self.due[depth].iter().all(|&fact| match self.pool.holds(fact, valuation) {
            Ok(holds) => holds,
            Err(
                EvalError::Unassigned(_) | EvalError::Unbounded(_) | EvalError::TooLarge | EvalError::TooLong,
            ) => {
                self.exhaustive = false;
                false
            }
        })
    }

    fn answer_when_exhausted(&self) -> SolverAnswer {
        if self.exhaustive { SolverAnswer::Unsat } else { SolverAnswer::Unknown(UnknownReason::Incomplete) }
    }
}

/// Returns all values of `sort`, or a few plain ones with `exhaustive` cleared.
fn enumerate_values(pool: &TermPool, sort: Sort, exhaustive: &mut bool) -> Vec<Value> {
    if let Some(all) = pool.finite_domain(sort) {
        return all;
    }
    // A few plain values: one that satisfies the facts is an answer, but none among them refutes nothing.
    *exhaustive = false;
    match sort {
        Sort::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Sort::Int => (0..=8).flat_map(|n| [n, -n]).map(Value::int).collect(),
        Sort::Range { lo, hi } => (0..8)
            .flat_map(|n| [lo.saturating_add(n).min(hi), hi.saturating_sub(n).max(lo)])
            .map(Value::int)
            .collect(),
        Sort::Real => (0..=8).flat_map(|n| [n, -n]).filter_map(half_value).collect(),
        Sort::Str => ["", "a", "b", "ab"].map(Value::str).into(),
        Sort::Collection(_) => vec![pool.default_value(sort)],
        Sort::Data(data) => {
            let sorts =
                |ctor: u32| pool.data(data).ctors[ctor as usize].fields.iter().map(|field| field.sort);
            let ctors = 0..u32::try_from(pool.data(data).ctors.len()).unwrap_or(u32::MAX);
            let plain = |ctor| {
                Value::Data(DataValue {
                    data,
                    ctor,
                    args: sorts(ctor).map(|sort| pool.default_value(sort)).collect(),
                })
            };
            ctors.map(plain).collect()
        }
    }
}

fn half_value(n: i64) -> Option<Value> {
    Rational::new(Int::from(n), Int::from(2)).map(Value::Real)
}
