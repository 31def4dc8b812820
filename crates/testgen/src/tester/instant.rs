//! The instant of an input: one at which its guard holds, chosen with regard to the other guards of the state.
//!
//! Faults in time occur at the edges of guards and within the deadlines of others: a second input before the answer to
//! the first, just before or after a time-out, long after the system has settled. So the candidates are the points
//! where any guard of the state changes, instants close to them, one at random in every interval between, and some
//! after the last; those at which the guard holds are equally likely.

use std::time::Duration;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::number::{Int, Rational};
use ioxide_model::sts::Switch;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_symex::{Ctx, after_waiting, change_instants, holds_at};

/// The greatest delay of an input where waiting costs nothing, in seconds: two hours.
const MAX_FREE_WAIT: i64 = 7_200;

/// One input in this many may wait for any far bound of a clock, where waiting costs nothing. Chosen by feel: most
/// faults in time are at the edges of guards that may hold.
const FAR_BOUND_ONE_IN: u32 = 2;
/// The seconds from which on a bound is far: instants before it are tried anyway.
const FAR: i64 = 2;

/// The cost of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum WaitingCost {
    /// Wall-clock time.
    #[default]
    Wall,
    /// Nothing: simulated time passes on command.
    Free,
}

/// Returns a delay in seconds after which `switch` can be taken from `state` with some values; `None` if no candidate
/// fits.
pub(super) fn choose(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    state: &ConcreteState,
    switch: &Switch,
    timing: WaitingCost,
    clock_bounds: &[Term],
) -> Option<Rational> {
    let delay = cx.delay;
    let when = possible(cx, state, switch);
    let mut points = change_instants(cx, delay, when);
    let sts = cx.sts;
    for (_, other) in sts.switches_from(state.loc) {
        let pending = possible(cx, state, other);
        points.extend(change_instants(cx, delay, pending));
    }
    // A system may look at a clock where the model does not: the bounds of all guards count, whatever else they ask
    // for.
    if timing == WaitingCost::Free {
        let far = far_bounds(cx, state, clock_bounds);
        if !far.is_empty() && rng.random_ratio(1, FAR_BOUND_ONE_IN) {
            points.extend(far);
        }
    }
    points.sort();
    points.dedup();
    let mut candidates = instants_around(rng, &points, timing);
    candidates.shuffle(rng);
    candidates.into_iter().find(|at| holds_at(cx, delay, when, at))
}

/// Returns the long delays after which a comparison of `clock_bounds` changes its truth.
pub(super) fn far_bounds(cx: &mut Ctx<'_>, state: &ConcreteState, clock_bounds: &[Term]) -> Vec<Rational> {
    let delay = cx.delay;
    let clocks: Substitution = cx
        .sts
        .clocks
        .iter()
        .filter_map(|clock| Some((clock.var, state.values.get(clock.var)?.clone())))
        .map(|(clock, value)| (clock, cx.pool.value(value)))
        .collect();
    let mut points = Vec::new();
    for &bound in clock_bounds {
        let later = after_waiting(cx, bound);
        let later = cx.pool.substitute(later, &clocks);
        points.extend(change_instants(cx, delay, later).into_iter().filter(|at| *at > Rational::from(FAR)));
    }
    points.sort();
    points.dedup();
    points
}

/// The condition on the delay under which `switch` can be taken from `state` with some values.
fn possible(cx: &mut Ctx<'_>, state: &ConcreteState, switch: &Switch) -> Term {
    let guard = after_waiting(cx, switch.guard);
    let some = cx.pool.exists(&cx.sts.gates[switch.gate].fields, guard);
    let known: Substitution =
        state.values.iter().map(|(var, value)| (var, cx.pool.value(value.clone()))).collect();
    let when = cx.pool.substitute(some, &known);
    eliminate(cx.pool, when)
}

/// Returns instants at, before, after and between `points`, which are in order and not empty.
fn instants_around(rng: &mut ChaCha8Rng, points: &[Rational], timing: WaitingCost) -> Vec<Rational> {
    let milli = |n: i64| Rational::new(Int::from(n), Int::from(1000)).unwrap_or(Rational::ZERO);
    let mut candidates = Vec::with_capacity(4 * points.len() + 2);
    for (at, point) in points.iter().enumerate() {
        let close = milli([1, 10, 50][rng.random_range(0..3usize)]);
        candidates.extend([point.clone(), point + &close]);
        candidates.extend(Some(point - &close).filter(|before| !before.is_negative()));
        if let Some(next) = points.get(at + 1) {
            let share = milli(rng.random_range(1..1000));
            candidates.push(point + (next - point) * &share);
        }
    }
    if let Some(last) = points.last() {
        candidates.push(last + milli(rng.random_range(1..2000)));
        candidates.extend((timing == WaitingCost::Free).then(|| last + long(rng)));
    }
    candidates
}

/// Draws a long time in seconds; every magnitude up to two hours is equally likely.
pub(super) fn long(rng: &mut ChaCha8Rng) -> Rational {
    let most = (1i64 << rng.random_range(1..=13u32)).min(MAX_FREE_WAIT);
    Rational::from(rng.random_range(1..=most))
}

/// The condition that `delay` is at most `horizon`.
pub(super) fn at_most(cx: &mut Ctx<'_>, delay: VarId, horizon: &Rational) -> Term {
    let (delay, horizon) = (cx.pool.var(delay), cx.pool.value(Value::Real(horizon.clone())));
    cx.pool.le(delay, horizon)
}

/// Converts `time` in seconds, rounded down to nanoseconds.
pub(super) fn nanoseconds(time: &Rational) -> Duration {
    let nanos = (time * Rational::from(1_000_000_000)).floor().to_i64().unwrap_or(i64::MAX);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
