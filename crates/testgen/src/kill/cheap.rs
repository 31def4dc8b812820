//! Equivalence that needs no search.

use ioxide_model::sts::{GateKind, Sts, Switch};
use ioxide_model::term::Term;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Ctx, LiveVars};

use crate::conform::ConformProof;
use crate::mutate::{Edit, MutationChange};

/// Returns a proof if the change cannot be observed: the guard is equivalent, or the assigned values are never read.
pub(super) fn unseen(cx: &mut Ctx<'_>, edit: &Edit, imp: &Sts) -> Option<ConformProof> {
    let (id, after) = match &edit.change {
        MutationChange::Switch(id, after) => (*id, &**after),
        MutationChange::Initial(var, _) => {
            let live = LiveVars::compute(cx.pool, imp, &[]);
            return (!live.is_live(imp.initial, *var)).then_some(ConformProof::DeadAssignment);
        }
        // Several switches.
        MutationChange::Behind(_) => return None,
    };
    let before = &cx.sts.switches[id];
    let same_place =
        before.source == after.source && before.gate == after.gate && before.target == after.target;
    if !same_place || before.resets != after.resets {
        return None;
    }
    if before.update == after.update {
        let (old, new) = (before.guard, after.guard);
        let same = implies(cx, old, new) && implies(cx, new, old);
        return same.then_some(ConformProof::SameSwitches);
    }
    if before.guard != after.guard {
        return None;
    }
    let live = LiveVars::compute(cx.pool, imp, &[]);
    let value = |switch: &Switch, var| switch.update.iter().find(|(it, _)| *it == var).map(|(_, term)| *term);
    let dead = |var| value(before, var) == value(after, var) || !live.is_live(after.target, var);
    cx.sts.vars.iter().all(|var| dead(var.var)).then_some(ConformProof::DeadAssignment)
}

/// Returns whether the guard of an input was only weakened, and only where no other switch takes the message (\[AT15]
/// sec. 4.5; there, every message has one switch). The specification must be deterministic.
pub(super) fn is_guard_weakened(cx: &mut Ctx<'_>, edit: &Edit) -> bool {
    let sts = cx.sts;
    let Some((id, after)) = edit.switch() else { return false };
    let before = &sts.switches[id];
    let only_guard = before.source == after.source
        && before.gate == after.gate
        && before.target == after.target
        && before.resets == after.resets
        && before.update == after.update;
    // In a timed model an observed input that may still come is an excuse for waiting: a weaker guard can be observed.
    let is_free = match sts.kind_of(before) {
        GateKind::Input => true,
        GateKind::Observed => !sts.is_timed(),
        GateKind::Output | GateKind::Internal => false,
    };
    if !only_guard || !is_free || !implies(cx, before.guard, after.guard) {
        return false;
    }
    let others: Vec<Term> = sts
        .switches_from(before.source)
        .filter(|(it, switch)| *it != id && switch.gate == before.gate)
        .map(|(_, switch)| switch.guard)
        .collect();
    let others = cx.pool.or(others);
    let outside = cx.pool.not(before.guard);
    cx.decide(&[after.guard, outside, others]) == SolverDecision::Unsat
}

/// Returns whether the system is in one state after every trace: it has no internal switch, and no two switches of a
/// location can take the same message; false if the solver does not decide.
pub(crate) fn is_deterministic(cx: &mut Ctx<'_>) -> bool {
    let sts = cx.sts;
    let all: Vec<_> = sts.switches.iter_enumerated().collect();
    for (at, (_, one)) in all.iter().enumerate() {
        if sts.kind_of(one) == GateKind::Internal {
            return false;
        }
        for (_, other) in &all[at + 1..] {
            let overlap = one.source == other.source && one.gate == other.gate;
            if overlap && cx.decide(&[one.guard, other.guard]) != SolverDecision::Unsat {
                return false;
            }
        }
    }
    true
}

/// Returns whether `b` surely holds wherever `a` does.
fn implies(cx: &mut Ctx<'_>, a: Term, b: Term) -> bool {
    let not_b = cx.pool.not(b);
    a == b || cx.decide(&[a, not_b]) == SolverDecision::Unsat
}
