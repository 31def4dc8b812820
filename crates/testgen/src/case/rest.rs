//! The condition on variables and clocks under which the rest of a path can still follow.
//!
//! Backwards along the path: after the last step nothing more is asked; before a step, there are a
//! delay and field values that satisfy its guard and lead to where the rest can follow. \[BLLN23]'s
//! `∃ … π(tp)` with everything but the past quantified away, step by step, so that its size is that
//! of the condition and not that of the path.

use std::collections::BTreeMap;

use ioxide_model::goal::PathStep;
use ioxide_model::sts::{LocId, Sts, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{Ctx, after_waiting, quiescence_condition, switch_effect};

/// Returns, for every step of `path` and for its end, the condition over variables and clocks under which the rest can
/// follow.
pub(super) fn remaining_conditions(cx: &mut Ctx<'_>, path: &[PathStep], tm: VarId) -> Vec<Term> {
    let places = places(cx.sts, path);
    let mut after = cx.pool.tt();
    let mut conditions = vec![after];
    let mut known: BTreeMap<(PathStep, LocId, Term), Term> = BTreeMap::new();
    for (&step, loc) in path.iter().zip(places).rev() {
        let before = match (known.get(&(step, loc, after)), step) {
            (Some(&before), _) => before,
            (None, PathStep::Take(id)) => condition_before(cx, id, after),
            (None, PathStep::Quiet) => condition_before_silence(cx, loc, tm, after),
        };
        known.insert((step, loc, after), before);
        conditions.push(before);
        after = before;
    }
    conditions.reverse();
    conditions
}

/// Returns the location before every step of `path`.
fn places(sts: &Sts, path: &[PathStep]) -> Vec<LocId> {
    let mut loc = sts.initial;
    let mut places = Vec::with_capacity(path.len());
    for step in path {
        places.push(loc);
        loc = step.switch().map_or(loc, |id| sts.switches[id].target);
    }
    places
}

/// The condition before silence at `loc` under which `after` can hold behind it: the state is quiescent, and in a timed
/// model at least the time-out `tm` passes.
fn condition_before_silence(cx: &mut Ctx<'_>, loc: LocId, tm: VarId, after: Term) -> Term {
    let quiet = quiescence_condition(cx, loc);
    let later = if cx.sts.is_timed() {
        let (waited, limit) = (cx.pool.var(cx.delay), cx.pool.var(tm));
        let late = cx.pool.le(limit, waited);
        let after = after_waiting(cx, after);
        let both = cx.pool.and([late, after]);
        cx.pool.exists(&[cx.delay], both)
    } else {
        after
    };
    let all = cx.pool.and([quiet, later]);
    eliminate(cx.pool, all)
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
