//! Representative instants at which a condition on a delay holds.
//!
//! A condition on one delay whose comparisons are linear in it changes its truth only where a
//! comparison does. So the points of change, one instant between each two of them and one after the
//! last stand for all instants; boundaries, where timing faults sit, are among them.

use ioxide_model::number::Rational;
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;

use crate::cx::Ctx;

/// Returns instants, in order, at which `condition` holds, if nothing but `delay` is unknown: its boundaries and one
/// instant within every stretch between them.
///
/// Empty if it holds at no instant, or if the solver cannot decide.
pub fn sample_instants(cx: &mut Ctx<'_>, delay: VarId, condition: Term) -> Vec<Rational> {
    let corners = change_instants(cx, delay, condition);
    let mut candidates = Vec::with_capacity(2 * corners.len());
    for (at, corner) in corners.iter().enumerate() {
        let inside = match corners.get(at + 1) {
            Some(next) => midpoint(corner, next),
            None => corner + &Rational::ONE,
        };
        candidates.extend([corner.clone(), inside]);
    }
    candidates.retain(|at| holds_at(cx, delay, condition, at));
    candidates
}

/// Returns zero and the instants at which a comparison in `condition` changes, in order; comparisons that mention
/// another unknown than `delay` are left out.
pub fn change_instants(cx: &mut Ctx<'_>, delay: VarId, condition: Term) -> Vec<Rational> {
    let mut corners = vec![Rational::ZERO];
    for atom in cx.pool.subterms(&[condition], |term| !cx.pool.is_ground(term)) {
        corners.extend(change_instant(cx, delay, atom).filter(|at| !at.is_negative()));
    }
    corners.sort();
    corners.dedup();
    corners
}

/// Returns the mean of `a` and `b`.
fn midpoint(a: &Rational, b: &Rational) -> Rational {
    (a + b).div(&Rational::from(2))
}

/// Returns the instant at which the comparison `atom` changes; `None` unless it is linear in `delay` and mentions
/// nothing else.
fn change_instant(cx: &mut Ctx<'_>, delay: VarId, atom: Term) -> Option<Rational> {
    let (TermNode::Le(a, b) | TermNode::Lt(a, b) | TermNode::Eq(a, b)) = *cx.pool.node(atom) else {
        return None;
    };
    if cx.pool.free_vars(atom) != [delay] || !cx.pool.sort(a).is_numeric() {
        return None;
    }
    let difference = cx.pool.sub(a, b);
    let value = |at: i64| {
        let mut here = Valuation::new();
        here.set(delay, Value::Real(Rational::from(at)));
        match cx.pool.eval(difference, &here).ok()? {
            Value::Real(value) => Some(value),
            _ => None,
        }
    };
    let (start, slope) = (value(0)?, value(1)? - &value(0)?);
    (!slope.is_zero()).then(|| (-&start).div(&slope))
}

/// Returns whether `condition` holds after a delay of `at` seconds; false if the solver cannot decide.
pub fn holds_at(cx: &mut Ctx<'_>, delay: VarId, condition: Term, at: &Rational) -> bool {
    let mut here = Valuation::new();
    here.set(delay, Value::Real(at.clone()));
    if let Ok(holds) = cx.pool.holds(condition, &here) {
        return holds;
    }
    let at = cx.pool.value(Value::Real(at.clone()));
    let here = cx.pool.substitute(condition, &[(delay, at)].into_iter().collect());
    cx.decide(&[here]) == SolverDecision::Sat
}
