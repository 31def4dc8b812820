//! What to send and when: chosen before the step's clock starts, so that solving costs no time in a test.
//!
//! At once if that is possible, else when the solver says. A stimulus that fits whatever was observed
//! before is marked; the others fit some observations, and a tester looks again at run time.

use ioxide_model::number::Rational;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::Decision;
use ioxide_symex::Ctx;

use super::Stimulus;
use super::ask::Asker;

/// A stimulus that satisfies `guard` where `facts` are known.
pub(super) fn stimulus(
    cx: &mut Ctx<'_>,
    asker: &mut Asker,
    facts: &[Term],
    guard: Term,
    delay: VarId,
    fields: &[VarId],
) -> Option<Stimulus> {
    let mut question = facts.to_vec();
    question.extend(cx.pool.conjuncts(guard));
    let zero = cx.pool.value(Value::Real(Rational::ZERO));
    let waited = cx.pool.var(delay);
    let at_once = cx.pool.eq(waited, zero);
    let mut early = question.clone();
    early.push(at_once);
    let valuation = match asker.values(cx, &early) {
        Some(valuation) => valuation,
        None => asker.values(cx, &question)?,
    };
    let value = |var: &VarId| {
        let default = cx.pool.default_value(cx.pool.var_info(*var).sort);
        valuation.get(*var).cloned().unwrap_or(default)
    };
    let chosen: Vec<Value> = fields.iter().map(value).collect();
    let time = value(&delay).as_real().cloned().unwrap_or(Rational::ZERO);
    let always = fits_always(cx, asker, facts, guard, (delay, &time), fields, &chosen);
    Some(Stimulus { delay: time, values: chosen, always })
}

/// Whether nothing that `facts` allow contradicts `guard` with these values.
fn fits_always(
    cx: &mut Ctx<'_>,
    asker: &mut Asker,
    facts: &[Term],
    guard: Term,
    (delay, time): (VarId, &Rational),
    fields: &[VarId],
    values: &[Value],
) -> bool {
    let mut chosen = Substitution::new();
    chosen.set(delay, cx.pool.value(Value::Real(time.clone())));
    for (&field, value) in fields.iter().zip(values) {
        chosen.set(field, cx.pool.value(value.clone()));
    }
    let guard = cx.pool.substitute(guard, &chosen);
    let fails = cx.pool.not(guard);
    let mut question = facts.to_vec();
    question.push(fails);
    asker.decide(cx, &question) == Decision::Unsat
}
