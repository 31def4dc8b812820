//! The time-out: long enough that silence after it means something.
//!
//! Above every deadline: at a state where no message can come arbitrarily late, none can come after
//! it; and every message the model mentions can come before it. Where deadlines depend on data, the
//! data the path allows count. The number is taken from a ladder of round ones.
//!
//! *Promises* nothing for soundness: by the corrected rules, a short time-out makes tests
//! inconclusive, never wrong.

use ioxide_model::number::Rational;
use ioxide_model::sts::GateKind;
use ioxide_model::term::{Term, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::Ctx;

use super::Timeout;
use super::build::StateSketch;
use super::error::CaseLint;
use super::guard_solver::GuardSolver;

/// Round numbers of seconds; a message that can come after the last one counts as arbitrarily late. Chosen by feel:
/// numbers that people write, no two of which are far apart.
const LADDER: [i64; 19] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
    500_000, 1_000_000,
];

/// The time-out asked for; `None` if it stays open or the model has no time.
pub(super) fn choose_timeout(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    sketches: &[StateSketch],
    wanted: &Timeout,
) -> Option<Rational> {
    match wanted {
        Timeout::Free => None,
        Timeout::Fixed(time) => cx.sts.is_timed().then(|| time.clone()),
        Timeout::Above => cx.sts.is_timed().then(|| timeout_above_deadlines(cx, guard_solver, sketches)),
    }
}

/// Returns the fact about the constant `tm`: equal to `timeout`, or positive if that is `None`.
pub(super) fn facts(cx: &mut Ctx<'_>, tm: VarId, timeout: Option<&Rational>) -> Vec<Term> {
    let tm = cx.pool.var(tm);
    let fact = match timeout {
        Some(time) => {
            let time = cx.pool.value(Value::Real(time.clone()));
            cx.pool.eq(tm, time)
        }
        None => {
            let zero = cx.pool.value(Value::Real(Rational::ZERO));
            cx.pool.lt(zero, tm)
        }
    };
    vec![fact]
}

/// The least number of the ladder above every deadline of the path.
fn timeout_above_deadlines(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    sketches: &[StateSketch],
) -> Rational {
    // One rung for all states. It only climbs, and what a state asks for holds on every higher rung too.
    let mut rung = 0;
    for sketch in sketches {
        rung = above_deadlines(cx, guard_solver, sketch, rung);
        for successor in sketch.successors.iter().filter(|successor| successor.kind != GateKind::Input) {
            rung = above_earliest(cx, guard_solver, sketch, successor.when, rung);
        }
    }
    Rational::from(LADDER[rung])
}

/// Climbs until no message can come after the rung, unless messages can come arbitrarily late.
fn above_deadlines(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    sketch: &StateSketch,
    rung: usize,
) -> usize {
    let last = LADDER.len() - 1;
    let mut can_come_after = |cx: &mut Ctx<'_>, rung: usize| {
        let waited = cx.pool.var(sketch.delay);
        let limit = seconds(cx, LADDER[rung]);
        let late = cx.pool.le(limit, waited);
        // An open question counts as "it can": the time-out gets longer, not shorter.
        decide_with(cx, guard_solver, sketch, &[late, sketch.silence.later]) != SolverDecision::Unsat
    };
    if can_come_after(cx, last) {
        return rung;
    }
    (rung..last).find(|&rung| !can_come_after(cx, rung)).unwrap_or(last)
}

/// Climbs until the message can come before the rung, unless it cannot come at all.
fn above_earliest(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    sketch: &StateSketch,
    when: Term,
    rung: usize,
) -> usize {
    let mut can_come_before = |cx: &mut Ctx<'_>, rung: usize| {
        let waited = cx.pool.var(sketch.delay);
        let limit = seconds(cx, LADDER[rung]);
        let early = cx.pool.lt(waited, limit);
        decide_with(cx, guard_solver, sketch, &[early, when]) == SolverDecision::Sat
    };
    // Without such a rung the message cannot come at all, or that is open. Then it does not move the
    // time-out.
    (rung..LADDER.len()).find(|&rung| can_come_before(cx, rung)).unwrap_or(rung)
}

/// Warns if no message can come before the time-out, although one can come after it.
pub(super) fn too_short(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    n: usize,
    sketch: &StateSketch,
    timeout: &Rational,
) -> Option<CaseLint> {
    if !cx.sts.is_timed() {
        return None;
    }
    let waited = cx.pool.var(sketch.delay);
    let limit = cx.pool.value(Value::Real(timeout.clone()));
    let early = cx.pool.lt(waited, limit);
    let heard: Vec<Term> = sketch
        .successors
        .iter()
        .filter(|successor| successor.kind != GateKind::Input)
        .map(|successor| successor.when)
        .collect();
    let some = cx.pool.or(heard);
    if decide_with(cx, guard_solver, sketch, &[early, some]) != SolverDecision::Unsat
        || decide_with(cx, guard_solver, sketch, &[some]) != SolverDecision::Sat
    {
        return None;
    }
    Some(CaseLint::TimeoutTooShort { state: n, timeout: timeout.clone() })
}

fn decide_with(
    cx: &mut Ctx<'_>,
    guard_solver: &mut GuardSolver,
    sketch: &StateSketch,
    more: &[Term],
) -> SolverDecision {
    let mut facts = sketch.known.clone();
    for &fact in more {
        facts.extend(cx.pool.conjuncts(fact));
    }
    guard_solver.decide(cx, &facts)
}

/// The term of `n` seconds.
fn seconds(cx: &mut Ctx<'_>, n: i64) -> Term {
    cx.pool.value(Value::Real(Rational::from(n)))
}
