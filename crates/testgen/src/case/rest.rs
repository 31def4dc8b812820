//! Whether the rest of a path can still follow, as a condition on where the model is.
//!
//! Backwards along the path: after the last step nothing more is asked; before a step, there are a
//! delay and field values that satisfy its guard and lead to where the rest can follow. [BLLN23]'s
//! `∃ … π(tp)` with everything but the past quantified away, step by step, so that its size is that
//! of the condition and not that of the path.

use ioxide_model::number::Rational;
use ioxide_model::sts::SwitchId;
use ioxide_model::term::{Substitution, Term};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::Ctx;
use std::collections::BTreeMap;

/// For every step of `path`, and after the last: the condition over variables and clocks under which
/// the rest can follow.
pub(super) fn rest(cx: &mut Ctx<'_>, path: &[SwitchId]) -> Vec<Term> {
    let mut after = cx.pool.tt();
    let mut conditions = vec![after];
    let mut known: BTreeMap<(SwitchId, Term), Term> = BTreeMap::new();
    for &id in path.iter().rev() {
        let before = match known.get(&(id, after)) {
            Some(&before) => before,
            None => before(cx, id, after),
        };
        known.insert((id, after), before);
        conditions.push(before);
        after = before;
    }
    conditions.reverse();
    conditions
}

/// The condition before `id` under which it can be taken so that `after` holds.
fn before(cx: &mut Ctx<'_>, id: SwitchId, after: Term) -> Term {
    let switch = &cx.sts.switches[id];
    let zero = cx.pool.value(Value::Real(Rational::ZERO));
    let update: Substitution =
        switch.update.iter().copied().chain(switch.resets.iter().map(|&clock| (clock, zero))).collect();
    let after = cx.pool.substitute(after, &update);
    let mut bound = cx.sts.gates[switch.gate].fields.clone();
    let mut all = cx.pool.and([switch.guard, after]);
    if cx.sts.is_timed() {
        let delay = cx.pool.var(cx.delay);
        let mut later = Substitution::new();
        for clock in &cx.sts.clocks {
            let now = cx.pool.var(clock.var);
            later.set(clock.var, cx.pool.add([now, delay]));
        }
        all = cx.pool.substitute(all, &later);
        let forward = cx.pool.le(zero, delay);
        all = cx.pool.and([forward, all]);
        bound.push(cx.delay);
    }
    let some = cx.pool.exists(&bound, all);
    eliminate(cx.pool, some)
}
