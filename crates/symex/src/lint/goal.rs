//! The formulas of the properties of a model.

use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::term::{Term, VarId};

use crate::cx::Ctx;

/// Returns the variables that properties mention: they are live everywhere.
pub(super) fn goal_variables(cx: &Ctx<'_>) -> Vec<VarId> {
    let mut vars = cx.pool.free_vars_of(&goal_terms(cx));
    // `next(x)` reads `x` after a transition, so `x` matters as well.
    vars.extend(cx.sts.goals.iter().flat_map(|goal| goal.frame.next.iter().map(|(_, var)| *var)));
    let stored: Vec<VarId> = cx.sts.stored_vars().collect();
    vars.retain(|var| stored.contains(var));
    vars
}

/// Returns the formulas of properties about states and steps.
pub(super) fn goal_terms(cx: &Ctx<'_>) -> Vec<Term> {
    let said = |goal: &Goal| match goal.kind {
        GoalKind::Always(term) | GoalKind::Sometimes(term) | GoalKind::Assume(term) => Some(term),
        _ => None,
    };
    cx.sts.goals.iter().filter_map(said).collect()
}
