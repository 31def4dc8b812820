//! Guards in concrete states, decided by the solver where evaluation cannot decide them: a quantifier may range over
//! more values than can be tried.

use ioxide_model::concrete::{self, ConcreteState, ConcreteSuccessor, StateClosure};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Switch};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverDecision, UnknownReason};

use crate::cx::Ctx;
use crate::outputs::constant_substitution;

/// Decides whether `switch` can be taken in `state` with these field values.
pub fn decide_enabled(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
    switch: &Switch,
    values: &[Value],
) -> SolverDecision {
    match concrete::is_enabled(cx.pool, cx.sts, state, switch, values) {
        Ok(true) => return SolverDecision::Sat,
        Ok(false) => return SolverDecision::Unsat,
        Err(_) => (),
    }
    let fields: Valuation = concrete::field_values(cx.sts, switch, values);
    let mut known = constant_substitution(cx, state);
    for (field, value) in fields.iter() {
        known.set(field, cx.pool.value(value.clone()));
    }
    let guard = cx.pool.substitute(switch.guard, &known);
    cx.decide(&[guard])
}

/// Returns every state reached from `state` by one switch with the message `label`.
///
/// # Errors
/// If the solver does not decide a guard, or an updated value cannot be evaluated.
pub fn decided_successors(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
    label: &Label,
) -> Result<Vec<ConcreteSuccessor>, UnknownReason> {
    let (Label::Input(gate, values) | Label::Output(gate, values)) = label else { return Ok(Vec::new()) };
    take_decided(cx, state, values, |switch| switch.gate == *gate)
}

/// Returns every state reached from `state` by one internal switch.
///
/// # Errors
/// As [`decided_successors`].
pub fn decided_internal_successors(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
) -> Result<Vec<ConcreteSuccessor>, UnknownReason> {
    let sts = cx.sts;
    take_decided(cx, state, &[], |switch| sts.kind_of(switch) == GateKind::Internal)
}

/// Returns the states reached from `state` by any number of internal steps, at most `limit` of them.
///
/// # Errors
/// As [`decided_successors`].
pub fn decided_closure(
    cx: &mut Ctx<'_>,
    state: ConcreteState,
    limit: usize,
) -> Result<StateClosure<ConcreteState>, UnknownReason> {
    concrete::close_under([state].into(), limit, |state| {
        Ok(decided_internal_successors(cx, state)?.into_iter().map(|next| next.state).collect())
    })
}

/// Takes the switches of `state` that are wanted and enabled with these field values.
fn take_decided(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
    values: &[Value],
    is_wanted: impl Fn(&Switch) -> bool,
) -> Result<Vec<ConcreteSuccessor>, UnknownReason> {
    let sts = cx.sts;
    let mut found = Vec::new();
    for (id, switch) in sts.switches_from(state.loc).filter(|(_, switch)| is_wanted(switch)) {
        match decide_enabled(cx, state, switch, values) {
            SolverDecision::Sat => {
                let next = concrete::successor(cx.pool, sts, state, switch, values);
                let state = next.map_err(|_| UnknownReason::Incomplete)?;
                found.push(ConcreteSuccessor { switch: id, state });
            }
            SolverDecision::Unsat => (),
            SolverDecision::Unknown(why) => return Err(why),
        }
    }
    Ok(found)
}
