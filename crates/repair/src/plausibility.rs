//! Signs that an edited transition is not one that people write: they cost bits where the runs do not decide.
//!
//! A part of a guard that the other parts imply says nothing; a guard that nothing satisfies takes the transition away;
//! two transitions of a state that take the same input at once leave open which of them is meant.

use ioxide_model::sts::{GateKind, Model, Switch, SwitchId};
use ioxide_model::term::Term;
use ioxide_smt::halt::Halt;
use ioxide_smt::solver::{Solver, SolverDecision};
use ioxide_symex::Ctx;

/// The bits of a guard that nothing satisfies. Chosen by feel, as all of these.
const NEVER_BITS: f64 = 4.0;
/// The bits of a guard with a part that says nothing.
const REDUNDANT_BITS: f64 = 1.5;
/// The bits of an input that two transitions take at once.
const SHARED_INPUT_BITS: f64 = 1.5;
/// The bits of an output that two transitions send.
const SHARED_OUTPUT_BITS: f64 = 0.5;

/// Returns the bits that speak against the transitions `changed` of a model. What the solver leaves open speaks against
/// nothing.
pub(crate) fn implausible_bits(
    model: &mut Model,
    solver: &mut dyn Solver,
    changed: &[SwitchId],
    halt: &Halt,
) -> f64 {
    let mut cx = Ctx::new(model, solver);
    cx.run_within(halt, |cx| changed.iter().map(|&id| bits_of(cx, id)).sum())
}

fn bits_of(cx: &mut Ctx<'_>, id: SwitchId) -> f64 {
    let sts = cx.sts;
    let switch = &sts.switches[id];
    let guard = written_guard(cx, switch);
    let is_never = |cx: &mut Ctx<'_>, facts: &[Term]| matches!(cx.decide(facts), SolverDecision::Unsat);
    let parts = cx.pool.conjuncts(guard);
    if is_never(cx, &parts) {
        return NEVER_BITS;
    }
    let mut bits = 0.0;
    let is_implied = |cx: &mut Ctx<'_>, at: usize| {
        let opposite = cx.pool.not(parts[at]);
        let others = parts.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, &part)| part);
        let facts: Vec<Term> = others.chain([opposite]).collect();
        is_never(cx, &facts)
    };
    if parts.len() > 1 && (0..parts.len()).any(|at| is_implied(cx, at)) {
        bits += REDUNDANT_BITS;
    }
    let shared = match sts.kind_of(switch) {
        GateKind::Input | GateKind::Observed => SHARED_INPUT_BITS,
        GateKind::Output => SHARED_OUTPUT_BITS,
        GateKind::Internal => return bits,
    };
    let siblings: Vec<Term> = sts
        .switches_from(switch.source)
        .filter(|(other, sibling)| *other != id && sibling.gate == switch.gate)
        .map(|(_, sibling)| sibling.guard)
        .collect();
    let is_shared = siblings.into_iter().any(|sibling| {
        let facts: Vec<Term> = parts.iter().copied().chain([sibling]).collect();
        matches!(cx.decide(&facts), SolverDecision::Sat)
    });
    bits + if is_shared { shared } else { 0.0 }
}

/// Returns the guard without the condition that updated values are in their ranges.
fn written_guard(cx: &mut Ctx<'_>, switch: &Switch) -> Term {
    match switch.range_check {
        Some(check) => cx.pool.conjuncts_beyond(switch.guard, check),
        None => switch.guard,
    }
}
