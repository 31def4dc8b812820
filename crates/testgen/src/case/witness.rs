//! The input to send and its delay, chosen when the case is made, so that solving costs no time in a test.
//!
//! At once if that is possible, else at the first possible corner of the guard or a millisecond from one, else at the
//! instant of the solver's answer; or as late as possible, if that is asked for. A stimulus that fits after every
//! possible observation is marked; the others fit some observations, and a tester checks them again at run time.

use ioxide_model::number::Rational;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;

use super::corner::corners;
use super::guard_solver::GuardSolver;
use super::{CaseStimulus, SendTime};

/// An input that is to be sent: its fields and its delay must satisfy the guard.
pub(super) struct TimedInput<'f> {
    pub(super) guard: Term,
    pub(super) delay: VarId,
    pub(super) fields: &'f [VarId],
}

/// A stimulus that satisfies the guard of `input` where `facts` are known.
pub(super) fn stimulus(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    facts: &[Term],
    input: &TimedInput<'_>,
    sending: SendTime,
) -> Option<CaseStimulus> {
    let mut question = facts.to_vec();
    question.extend(cx.pool.conjuncts(input.guard));
    let valuation = match at_border(cx, guard_solver, &question, input, sending) {
        Some(valuation) => valuation,
        None => guard_solver.values(cx, &question)?,
    };
    let value = |var: &VarId| {
        let default = cx.pool.default_value(cx.pool.var_info(*var).sort);
        valuation.get(*var).cloned().unwrap_or(default)
    };
    let values: Vec<Value> = input.fields.iter().map(value).collect();
    let delay = value(&input.delay).as_real().cloned().unwrap_or(Rational::ZERO);
    let chosen = CaseStimulus { delay, values, always: false };
    let always = fits_always(cx, guard_solver, facts, input, &chosen);
    Some(CaseStimulus { always, ..chosen })
}

/// Returns values for which `question` holds at a corner of the guard or a millisecond from one: the earliest or the
/// latest of them, as `sending` says.
fn at_border(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    question: &[Term],
    input: &TimedInput<'_>,
    sending: SendTime,
) -> Option<Valuation> {
    let delay = input.delay;
    let zero = cx.pool.value(Value::Real(Rational::ZERO));
    let mut at = |cx: &mut Ctx<'_>, instant: Term| {
        let waited = cx.pool.var(delay);
        let mut facts = question.to_vec();
        facts.extend([cx.pool.eq(waited, instant), cx.pool.le(zero, waited)]);
        guard_solver.values(cx, &facts)
    };
    if let (SendTime::Soonest, Some(at_once)) = (sending, at(cx, zero)) {
        return Some(at_once);
    }
    let beside = cx.pool.value(Value::Real(Rational::new(1.into(), 1000.into())?));
    let mut found: Vec<(Rational, Valuation)> = Vec::new();
    for corner in [zero].into_iter().chain(corners(cx.pool, delay, input.guard)) {
        for instant in [corner, cx.pool.sub(corner, beside), cx.pool.add2(corner, beside)] {
            let Some(values) = at(cx, instant) else { continue };
            let time = values.get(delay).and_then(Value::as_real).cloned().unwrap_or(Rational::ZERO);
            found.push((time, values));
        }
    }
    let wanted = match sending {
        SendTime::Soonest => found.into_iter().min_by(|a, b| a.0.cmp(&b.0)),
        SendTime::Latest => found.into_iter().max_by(|a, b| a.0.cmp(&b.0)),
    };
    wanted.map(|(_, values)| values)
}

/// Returns whether the guard of `input` with the `chosen` values follows from `facts`; false if the solver does not
/// decide.
fn fits_always(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    facts: &[Term],
    input: &TimedInput<'_>,
    chosen: &CaseStimulus,
) -> bool {
    let mut known = Substitution::new();
    known.set(input.delay, cx.pool.value(Value::Real(chosen.delay.clone())));
    for (&field, value) in input.fields.iter().zip(&chosen.values) {
        known.set(field, cx.pool.value(value.clone()));
    }
    let guard = cx.pool.substitute(input.guard, &known);
    let fails = cx.pool.not(guard);
    let mut question = facts.to_vec();
    question.push(fails);
    guard_solver.decide(cx, &question) == SolverDecision::Unsat
}
