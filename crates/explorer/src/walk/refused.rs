//! The switches of a belief that cannot be taken, and the conjunct of each guard that is violated.

use ioxide_model::sts::{GateKind, SwitchId};
use ioxide_model::term::Term;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Belief, Ctx, SymState};

use super::choices::MAX_OFFERING_STATES;

/// A switch that starts in the belief and cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSwitch {
    /// The switch.
    pub switch: SwitchId,
    /// The reason, for people.
    pub why: String,
}

/// Returns the observable switches of the states in `belief` that none of these states can take, each with the reason
/// in the first of them.
pub fn find_refused(cx: &mut Ctx<'_>, belief: &Belief) -> Vec<RefusedSwitch> {
    let mut found: Vec<RefusedSwitch> = Vec::new();
    let mut possible: Vec<SwitchId> = Vec::new();
    for state in belief_states(cx, belief) {
        let sts = cx.sts;
        for (switch, _) in
            sts.switches_from(state.loc).filter(|(_, it)| sts.kind_of(it) != GateKind::Internal)
        {
            match refusal_reason(cx, &state, switch) {
                None => possible.push(switch),
                Some(why) if found.iter().all(|other| other.switch != switch) => {
                    found.push(RefusedSwitch { switch, why });
                }
                Some(_) => (),
            }
        }
    }
    found.retain(|it| !possible.contains(&it.switch));
    found.sort_by_key(|it| (cx.sts.kind_of(&cx.sts.switches[it.switch]), it.switch));
    found
}

fn belief_states(cx: &mut Ctx<'_>, belief: &Belief) -> Vec<SymState> {
    match belief {
        Belief::Concrete(states) => states
            .iter()
            .take(MAX_OFFERING_STATES)
            .filter_map(|state| SymState::from_concrete(cx, state))
            .collect(),
        Belief::Symbolic(states) => states.iter().take(MAX_OFFERING_STATES).cloned().collect(),
        Belief::Unspecified => Vec::new(),
    }
}

/// Returns the reason why `switch` cannot be taken in `state`; `None` if the solver has not refuted its guard.
pub fn refusal_reason(cx: &mut Ctx<'_>, state: &SymState, switch: SwitchId) -> Option<String> {
    let known = state.store.substitution(cx.sts);
    let path = state.path.facts();
    let impossible = |cx: &mut Ctx<'_>, term: Term| {
        let here = cx.pool.substitute(term, &known);
        cx.decide(&[path, &[here]].concat()) == SolverDecision::Unsat
    };
    let guard = cx.sts.switches[switch].guard;
    if !impossible(cx, guard) {
        return None;
    }
    let conjuncts = cx.pool.conjuncts(guard);
    let conjunct = conjuncts.into_iter().find(|&conjunct| impossible(cx, conjunct));
    Some(match conjunct {
        Some(conjunct) => conjunct_text(cx, state, conjunct),
        None => format!("no values satisfy all of `{}`", cx.pool.show(guard)),
    })
}

/// Returns a text such as "`x > 15` does not hold with x = 7".
fn conjunct_text(cx: &Ctx<'_>, state: &SymState, conjunct: Term) -> String {
    let free = cx.pool.free_vars(conjunct);
    let values: Vec<String> = state
        .store
        .iter(cx.sts)
        .filter(|(var, _)| free.contains(var))
        .map(|(var, term)| format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show(term)))
        .collect();
    if values.is_empty() {
        format!("`{}` does not hold", cx.pool.show(conjunct))
    } else {
        format!("`{}` does not hold with {}", cx.pool.show(conjunct), values.join(", "))
    }
}
