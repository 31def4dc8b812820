//! The condition under which the rest of a purpose is possible whatever the system answers: \[BT19] sec. 7, universal
//! quantification of outputs.

use ioxide_model::sts::GateKind;
use ioxide_model::term::{Term, VarId};
use ioxide_symex::Ctx;

use super::PurposeStep;

/// Returns the condition, over all that was sent and seen before step `next` of `steps`, under which the rest can be
/// followed whatever the system answers: every output is possible, and the rest is for all its values and, in a timed
/// model, all its delays; every input and silence has some for which the rest is. `end` must hold at the end. `None` if
/// the system has no such choice.
pub(crate) fn holds_for_any_answer(
    cx: &mut Ctx<'_>,
    steps: &[PurposeStep],
    next: usize,
    end: Term,
) -> Option<Term> {
    let mut rest = end;
    let mut has_answers = false;
    // From the last step backwards: `rest` is the condition under which the way can be followed from there.
    for (at, step) in steps.iter().enumerate().skip(next).rev() {
        let gate = step.step.switch().map(|switch| cx.sts.switches[switch].gate);
        let depth = u32::try_from(at + 1).unwrap_or(u32::MAX);
        let mut bases: Vec<VarId> = gate.map_or_else(Vec::new, |gate| cx.sts.gates[gate].fields.clone());
        bases.extend(cx.sts.is_timed().then_some(cx.delay));
        let chosen: Vec<VarId> = bases.iter().map(|&base| cx.pool.indexed_var(base, depth)).collect();
        let guard = cx.pool.and(step.facts.iter().copied());
        rest = match gate.map(|gate| cx.sts.gates[gate].kind) {
            None | Some(GateKind::Input) => {
                let both = cx.pool.and([guard, rest]);
                cx.pool.exists(&chosen, both)
            }
            Some(GateKind::Output | GateKind::Observed | GateKind::Internal) => {
                has_answers |= !chosen.is_empty();
                // Some answer is possible, and no possible answer spoils the rest: ∃ guard, and not ∃ (guard and not
                // rest).
                let refused = cx.pool.not(rest);
                let bad = cx.pool.and([guard, refused]);
                let bad = cx.pool.exists(&chosen, bad);
                let never = cx.pool.not(bad);
                let possible = cx.pool.exists(&chosen, guard);
                cx.pool.and([possible, never])
            }
        };
    }
    has_answers.then_some(rest)
}
