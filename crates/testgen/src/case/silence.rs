//! The meaning of silence: an output may still come, or the state is quiescent, or silence is a failure.
//!
//! \[BLLN23] R9 and R10, with the payload quantified away in both, and asked about all instants from the
//! time-out on, not about the time-out alone.

use ioxide_model::sort::Sort;
use ioxide_model::sts::GateKind;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_symex::Ctx;

use super::front::{CaseFront, FrontSwitch};

/// The conditions on the delay and the observations under which silence is allowed.
pub(super) struct SilenceCondition {
    /// A message can come at some instant not before the delay.
    pub(super) later: Term,
    /// No output can come at any instant without an input.
    pub(super) quiet: Term,
}

/// Returns the conditions under which silence is allowed where the model could take `siblings`, none of them inputs.
pub(super) fn silence(
    cx: &mut Ctx<'_>,
    front: &CaseFront,
    delay: VarId,
    siblings: &[(GateKind, &FrontSwitch)],
) -> SilenceCondition {
    let instant = later_instant(cx);
    let mut outputs = Vec::new();
    let mut messages = Vec::new();
    for &(kind, taken) in siblings {
        let fact = cx.pool.and(taken.state.path.facts().iter().copied());
        let at = cx.pool.var(instant);
        let fact = cx.pool.substitute(fact, &[(delay, at)].into_iter().collect::<Substitution>());
        let bound = fields(cx, front, kind);
        if kind == GateKind::Output {
            let mut all = bound.clone();
            all.push(instant);
            outputs.push(cx.pool.exists(&all, fact));
        }
        messages.push(holds_since(cx, delay, instant, &bound, fact));
    }
    let active = cx.pool.or(outputs);
    let quiet = cx.pool.not(active);
    let quiet = front.for_some(cx, &[quiet]);
    let later = cx.pool.or(messages);
    let later = front.for_some(cx, &[later]);
    SilenceCondition { later, quiet }
}

/// The condition that `fact` holds at some instant not before the delay, for some values of `fields`.
fn holds_since(cx: &mut Ctx<'_>, delay: VarId, instant: VarId, fields: &[VarId], fact: Term) -> Term {
    let (waited, at) = (cx.pool.var(delay), cx.pool.var(instant));
    let not_before = cx.pool.le(waited, at);
    let both = cx.pool.and([not_before, fact]);
    let mut bound = fields.to_vec();
    bound.push(instant);
    cx.pool.exists(&bound, both)
}

/// The fields of the messages of this kind at the next step.
fn fields(cx: &mut Ctx<'_>, front: &CaseFront, kind: GateKind) -> Vec<VarId> {
    let gates = cx.sts.gates.iter().filter(|gate| gate.kind == kind);
    let bases: Vec<VarId> = gates.flat_map(|gate| gate.fields.iter().copied()).collect();
    bases.into_iter().map(|field| cx.pool.indexed_var(field, front.state.depth + 1)).collect()
}

/// The variable for an instant from now on; bound wherever it occurs.
fn later_instant(cx: &mut Ctx<'_>) -> VarId {
    let base = cx.delay;
    debug_assert_eq!(cx.pool.var_info(base).sort, Sort::Real);
    cx.pool.indexed_var(base, u32::MAX)
}
