//! The projection of instants that no clock depends on any more, so that a long run costs no more than a short one.

use ioxide_model::term::{Term, VarId};
use ioxide_smt::layers::forall::eliminate;

use super::super::belief::Belief;
use crate::bounds::keep_tightest;
use crate::cx::Ctx;
use crate::state::{PathCondition, Store, SymState};

/// Returns the belief without the instants that no clock mentions and that are not `since`.
pub(super) fn project_instants(cx: &mut Ctx<'_>, belief: Belief, since: Term) -> Belief {
    let Belief::Symbolic(states) = belief else { return belief };
    Belief::Symbolic(states.into_iter().map(|state| projected_state(cx, state, since)).collect())
}

fn projected_state(cx: &mut Ctx<'_>, state: SymState, since: Term) -> SymState {
    let mut kept = cx.pool.free_vars_of(state.store.terms());
    // Clock values are differences to instants, so an instant in the store is needed; so is the last one,
    // from which the next span is measured.
    kept.extend(cx.pool.free_vars(since));
    let mut gone: Vec<VarId> = cx.pool.free_vars_of(state.path.facts());
    gone.retain(|&var| !kept.contains(&var) && is_instant(cx, var));
    if gone.is_empty() {
        return state;
    }
    let all = cx.pool.and(state.path.facts().iter().copied());
    let some = cx.pool.exists(&gone, all);
    let some = eliminate(cx.pool, some);
    // Elimination failed: the facts are kept as they are, which is right but larger.
    if cx.pool.has_quantifier(some) {
        return state;
    }
    let path = keep_tightest(cx, PathCondition::default().with_fact(cx, some).facts()).into_iter().collect();
    SymState { store: Store::new(state.store.terms().to_vec()), path, ..state }
}

/// Returns whether `var` is the variable of an instant.
fn is_instant(cx: &mut Ctx<'_>, var: VarId) -> bool {
    let name = &cx.pool.var_info(var).name;
    let number = name.rsplit('@').next().and_then(|number| number.parse().ok());
    number.is_some_and(|number| cx.pool.indexed_var(cx.instant, number) == var)
}
