//! When to give an input: an instant at which a guard holds.

use std::time::Duration;

use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::concrete::State;
use ioxide_model::number::Rational;
use ioxide_model::sts::Switch;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{Ctx, after_waiting, instants};

/// An instant from now at which `switch` can be taken from `state` with some values: a boundary of its guard
/// or between two of them, each as likely as the other.
pub(super) fn choose(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    state: &State,
    switch: &Switch,
) -> Option<Rational> {
    let guard = after_waiting(cx, switch.guard);
    let some = cx.pool.exists(&cx.sts.gates[switch.gate].fields, guard);
    let known: Substitution =
        state.values.iter().map(|(var, value)| (var, cx.pool.value(value.clone()))).collect();
    let when = cx.pool.substitute(some, &known);
    let when = eliminate(cx.pool, when);
    let delay = cx.delay;
    instants(cx, delay, when).choose(rng).cloned()
}

/// `delay` is no longer than `horizon`.
pub(super) fn within(cx: &mut Ctx<'_>, delay: VarId, horizon: &Rational) -> Term {
    let (delay, horizon) = (cx.pool.var(delay), cx.pool.value(Value::Real(horizon.clone())));
    cx.pool.le(delay, horizon)
}

/// `time` in seconds, rounded down to nanoseconds.
pub(super) fn nanoseconds(time: &Rational) -> Duration {
    let nanos = time.mul(&Rational::from(1_000_000_000)).floor().to_i64().unwrap_or(i64::MAX);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
