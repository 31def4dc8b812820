//! The condition on variables and clocks under which the rest of a path can still follow.
//!
//! Backwards along the path: after the last step nothing more is asked; before a step, there are a
//! delay and field values that satisfy its guard and lead to where the rest can follow. \[BLLN23]'s
//! `∃ … π(tp)` with everything but the past quantified away, step by step, so that its size is that
//! of the condition and not that of the path.

use std::collections::BTreeMap;

use ioxide_model::sts::SwitchId;
use ioxide_model::term::Term;
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{Ctx, after_waiting, switch_effect};

/// Returns, for every step of `path` and for its end, the condition over variables and clocks under which the rest can
/// follow.
pub(super) fn remaining_conditions(cx: &mut Ctx<'_>, path: &[SwitchId]) -> Vec<Term> {
    let mut after = cx.pool.tt();
    let mut conditions = vec![after];
    let mut known: BTreeMap<(SwitchId, Term), Term> = BTreeMap::new();
    for &id in path.iter().rev() {
        let before = match known.get(&(id, after)) {
            Some(&before) => before,
            None => condition_before(cx, id, after),
        };
        known.insert((id, after), before);
        conditions.push(before);
        after = before;
    }
    conditions.reverse();
    conditions
}

/// The condition before `id` under which it can be taken so that `after` holds.
fn condition_before(cx: &mut Ctx<'_>, id: SwitchId, after: Term) -> Term {
    let switch = &cx.sts.switches[id];
    let effect = switch_effect(cx.pool, switch);
    let after = cx.pool.substitute(after, &effect);
    let mut bound = cx.sts.gates[switch.gate].fields.clone();
    let mut all = cx.pool.and([switch.guard, after]);
    if cx.sts.is_timed() {
        all = after_waiting(cx, all);
        bound.push(cx.delay);
    }
    let some = cx.pool.exists(&bound, all);
    eliminate(cx.pool, some)
}
