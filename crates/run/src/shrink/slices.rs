//! The part of a run that the failing step depends on: a slice by the variables of the model.
//!
//! The model says which variables decide the answer that was expected: those that the last input tests, and those
//! that the guard of the expected answer reads, seen through the updates of that input. An input of the run that
//! changes none of them, and does not lead to another place, had no part in what was expected. Leaving all such
//! inputs out is one candidate; it is a guess, since the fault need not follow the model, and a wrong one costs a run.
//!
//! [`find_levels`] gives sets of variables, the smallest first: those that decide the answer, those that decide the
//! former, and so on to a fixed point.

use std::collections::BTreeSet;

use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_symex::Ctx;

use super::planning::FailureSituation;

/// Returns sets of variables that the failing step depends on, each within the next; the last one is closed. Sets of
/// all variables are left out, since nothing is gained by them.
pub(super) fn find_levels(cx: &Ctx<'_>, situation: &FailureSituation) -> Vec<BTreeSet<VarId>> {
    let mut levels = vec![deciding_variables(cx, situation)];
    let closed = loop {
        let level = &levels[levels.len() - 1];
        let next: BTreeSet<VarId> = level.iter().copied().chain(sources_of(cx, level)).collect();
        if next == *level {
            break next;
        }
        levels.push(next);
    };
    // Between the first two and the last one there may be many, each of which would be a run.
    levels.truncate(2);
    if levels.last() != Some(&closed) {
        levels.push(closed);
    }
    levels.retain(|level| level.len() < cx.sts.vars.len());
    levels
}

/// Returns the variables that decide which answer is expected.
fn deciding_variables(cx: &Ctx<'_>, situation: &FailureSituation) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    for input in &situation.last_inputs {
        let switch = &cx.sts.switches[*input];
        found.extend(state_variables(cx, switch.guard));
        let outputs: Vec<SwitchId> = if situation.expected.is_empty() {
            let is_output = |id: &SwitchId| cx.sts.kind_of(&cx.sts.switches[*id]) == GateKind::Output;
            cx.sts.switches.from(switch.target).map(|(id, _)| id).filter(is_output).collect()
        } else {
            situation.expected.iter().copied().collect()
        };
        for output in outputs {
            for var in state_variables(cx, cx.sts.switches[output].guard) {
                // The input has just given the variable its value.
                match switch.update.iter().find(|(updated, _)| *updated == var) {
                    Some((_, term)) => found.extend(state_variables(cx, *term)),
                    None => found.extend([var]),
                }
            }
        }
    }
    found
}

/// Returns the variables from which those of `level` get their values, in any transition.
fn sources_of(cx: &Ctx<'_>, level: &BTreeSet<VarId>) -> BTreeSet<VarId> {
    let updates = cx.sts.switches.iter().flat_map(|switch| &switch.update);
    let of_level = updates.filter(|(var, _)| level.contains(var));
    of_level.flat_map(|(_, term)| state_variables(cx, *term)).collect()
}

fn state_variables(cx: &Ctx<'_>, term: Term) -> Vec<VarId> {
    let is_state = |var: &VarId| cx.sts.vars.iter().any(|known| known.var == *var);
    cx.pool.free_vars(term).into_iter().filter(is_state).collect()
}
