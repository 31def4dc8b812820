//! The instant of an input: one at which its guard holds, chosen with regard to the other guards of the state.
//!
//! Faults in time occur at the edges of guards and within the deadlines of others: a second input before the answer to
//! the first, just before or after a time-out, long after the system has settled. So the candidates are the points
//! where any guard of the state changes, instants close to them, one at random in every interval between, and some
//! after the last. Of those at which the guard holds, the [kind](InstantKind) that was tried least goes first: so
//! each kind comes within a few inputs, where drawing alone may miss one for long.

use std::collections::HashMap;
use std::time::Duration;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::number::{Int, Rational};
use ioxide_model::sts::SwitchId;
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
pub enum WaitingCost {
    /// Wall-clock time.
    #[default]
    Wall,
    /// Nothing: simulated time passes on command.
    Free,
}

/// The place of an instant among the points at which a guard changes; points are numbered from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum InstantKind {
    At(usize),
    JustBefore(usize),
    JustAfter(usize),
    Between(usize),
    /// Soon after the last point.
    Later,
    /// Long after the last point.
    MuchLater,
}

impl InstantKind {
    /// Returns whether it is at a bound or just before it, where guards are most often wrong. The first point is now.
    fn is_at_bound(self) -> bool {
        matches!(self, Self::At(1..) | Self::JustBefore(_))
    }
}

/// The number of times each kind of instant was tried, by switch.
#[derive(Clone, Debug, Default)]
pub struct TriedInstants {
    counts: HashMap<(SwitchId, InstantKind), u32>,
}

/// Returns a delay in seconds after which the switch `id` can be taken from `state` with some values; `None` if no
/// candidate fits. With `tried`, a kind of instant that was tried least is chosen.
pub fn choose(
    cx: &mut Ctx<'_>,
    rng: &mut ChaCha8Rng,
    state: &ConcreteState,
    id: SwitchId,
    timing: WaitingCost,
    clock_bounds: &[Term],
    tried: Option<&mut TriedInstants>,
) -> Option<Rational> {
    let delay = cx.delay;
    let when = possible(cx, state, id);
    let mut points = change_instants(cx, delay, when);
    let sts = cx.sts;
    // Also the instants at which other switches become possible or impossible: what the input does may depend on
    // whether it comes before or after a time-out.
    for (other, _) in sts.switches_from(state.loc) {
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
    if let Some(tried) = &tried {
        let n_tried = |kind: InstantKind| tried.counts.get(&(id, kind)).copied().unwrap_or(0);
        // The sort is stable, so candidates of equal rank stay shuffled.
        candidates.sort_by_key(|(kind, _)| (n_tried(*kind), !kind.is_at_bound()));
    }
    let (kind, at) = candidates.into_iter().find(|(_, at)| holds_at(cx, delay, when, at))?;
    if let Some(tried) = tried {
        *tried.counts.entry((id, kind)).or_default() += 1;
    }
    Some(at)
}

/// Returns the long delays after which a comparison of `clock_bounds` changes its truth.
pub fn far_bounds(cx: &mut Ctx<'_>, state: &ConcreteState, clock_bounds: &[Term]) -> Vec<Rational> {
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

/// The condition on the delay under which the switch `id` can be taken from `state` with some values.
fn possible(cx: &mut Ctx<'_>, state: &ConcreteState, id: SwitchId) -> Term {
    let switch = &cx.sts.switches[id];
    let guard = after_waiting(cx, switch.guard);
    let some = cx.pool.exists(&cx.sts.gates[switch.gate].fields, guard);
    let known: Substitution =
        state.values.iter().map(|(var, value)| (var, cx.pool.value(value.clone()))).collect();
    let when = cx.pool.substitute(some, &known);
    eliminate(cx.pool, when)
}

/// Returns instants at, before, after and between `points`, which are in order and not empty.
fn instants_around(
    rng: &mut ChaCha8Rng,
    points: &[Rational],
    timing: WaitingCost,
) -> Vec<(InstantKind, Rational)> {
    let milli = |n: i64| Rational::new(Int::from(n), Int::from(1000)).unwrap_or(Rational::ZERO);
    let mut candidates = Vec::with_capacity(4 * points.len() + 2);
    for (n, point) in points.iter().enumerate() {
        // Milliseconds. Chosen by feel: the smallest finds an edge that is wrong by rounding, the largest one that is
        // hidden by the delay of a live system.
        let close = milli([1, 10, 50][rng.random_range(0..3usize)]);
        candidates.push((InstantKind::At(n), point.clone()));
        candidates.push((InstantKind::JustAfter(n), point + &close));
        let before = Some(point - &close).filter(|before| !before.is_negative());
        candidates.extend(before.map(|before| (InstantKind::JustBefore(n), before)));
        if let Some(next) = points.get(n + 1) {
            let share = milli(rng.random_range(1..1000));
            candidates.push((InstantKind::Between(n), point + (next - point) * &share));
        }
    }
    if let Some(last) = points.last() {
        candidates.push((InstantKind::Later, last + milli(rng.random_range(1..2000))));
        if timing == WaitingCost::Free {
            candidates.push((InstantKind::MuchLater, last + long(rng)));
        }
    }
    candidates
}

/// Draws a long time in seconds; every magnitude up to two hours is equally likely.
pub fn long(rng: &mut ChaCha8Rng) -> Rational {
    let most = (1i64 << rng.random_range(1..=13u32)).min(MAX_FREE_WAIT);
    Rational::from(rng.random_range(1..=most))
}

/// The condition that `delay` is at most `horizon`.
pub fn at_most(cx: &mut Ctx<'_>, delay: VarId, horizon: &Rational) -> Term {
    let (delay, horizon) = (cx.pool.var(delay), cx.pool.value(Value::Real(horizon.clone())));
    cx.pool.le(delay, horizon)
}

/// Converts `time` in seconds, rounded down to nanoseconds.
pub fn nanoseconds(time: &Rational) -> Duration {
    let nanos = (time * Rational::from(1_000_000_000)).floor().to_i64().unwrap_or(i64::MAX);
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
}
