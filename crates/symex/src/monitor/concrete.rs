//! The belief while every value is known: guards are evaluated.
//!
//! Three engines follow concrete states, all by the steps and the closure of [`ioxide_model::concrete`]. They differ in
//! what they do where a step cannot be computed, because they promise different things:
//!
//! | engine | where a step cannot be computed |
//! | --- | --- |
//! | the monitor, here | the solver decides; in doubt the state stays, so that a Fail is never wrong |
//! | replay of traces (`testgen/conform/replayed_states.rs`) | the state is left out, and the set is no longer all |
//! | explicit search (`testgen/conform/explicit/world.rs`) | the whole enumeration is given up |

use std::collections::BTreeSet;
use std::convert::Infallible;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, GateKind, Switch};
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;

use super::belief::{Belief, MAX_BELIEF_STATES, NextBelief};
use super::{HaltCheck, LostStates};
use crate::cx::Ctx;
use crate::guard::decide_enabled;
use crate::quiescence::{Quiescence, is_quiescent};

/// The uncertainty of a belief.
#[derive(Default)]
struct Cost {
    /// The number of questions the solver left open; their states are kept.
    doubts: usize,
    /// The reason why the belief lacks states.
    lost: Option<LostStates>,
}

/// The states after `label`, not yet closed under internal steps.
pub(super) fn states_after_label(
    cx: &mut Ctx<'_>,
    states: &BTreeSet<ConcreteState>,
    label: &Label,
    relation: ConformanceRelation,
) -> NextBelief {
    let mut cost = Cost::default();
    let mut next = BTreeSet::new();
    let mut refused = false;
    for state in states {
        match label {
            Label::Input(gate, values) | Label::Output(gate, values) => {
                let taken = states_after_message(cx, state, *gate, values, &mut cost);
                // uioco: an input is specified only if every stable state of the belief takes it. An unstable
                // state may still move to one that does.
                refused |= taken.is_empty()
                    && relation == ConformanceRelation::Uioco
                    && is_stable(cx, state, &mut cost);
                next.extend(taken);
            }
            Label::Quiescence => match is_quiescent(cx, state) {
                Quiescence::Active => (),
                Quiescence::Quiet => next.extend([state.clone()]),
                // In doubt the state stays: a belief that is too large forbids too little, never too much.
                Quiescence::Unknown(_) => {
                    cost.doubts += 1;
                    next.extend([state.clone()]);
                }
            },
            Label::Delay(time) => next.extend([concrete::advance_clocks(cx.sts, state, time)]),
        }
        if next.len() > MAX_BELIEF_STATES {
            cost.lost = Some(LostStates::States(MAX_BELIEF_STATES));
            break;
        }
    }
    NextBelief { belief: Belief::Concrete(next), doubts: cost.doubts, lost: cost.lost, refused }
}

/// The states after a message at `gate`.
fn states_after_message(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
    gate: GateId,
    values: &[Value],
    cost: &mut Cost,
) -> Vec<ConcreteState> {
    let sts = cx.sts;
    let here = sts.switches_from(state.loc).filter(|(_, switch)| switch.gate == gate);
    here.filter_map(|(_, switch)| take_switch(cx, state, switch, values, cost)).collect()
}

/// Returns whether no internal step can be taken.
fn is_stable(cx: &mut Ctx<'_>, state: &ConcreteState, cost: &mut Cost) -> bool {
    let sts = cx.sts;
    let mut internal = sts.switches_from(state.loc).filter(|(_, s)| sts.kind_of(s) == GateKind::Internal);
    !internal.any(|(_, switch)| take_switch(cx, state, switch, &[], cost).is_some())
}

/// The closure under internal steps.
pub(super) fn close_internally(cx: &mut Ctx<'_>, states: BTreeSet<ConcreteState>) -> NextBelief {
    let sts = cx.sts;
    let (mut cost, mut check) = (Cost::default(), HaltCheck::default());
    let closed = concrete::close_under(states, MAX_BELIEF_STATES, |state| -> Result<_, Infallible> {
        // A model whose internal steps go on for ever reaches the limit of states only after seconds.
        if check.is_halted(cx) {
            return Ok(Vec::new());
        }
        let internal = sts.switches_from(state.loc).filter(|(_, s)| sts.kind_of(s) == GateKind::Internal);
        Ok(internal.filter_map(|(_, switch)| take_switch(cx, state, switch, &[], &mut cost)).collect())
    });
    let Ok(closure) = closed;
    cost.lost = cost.lost.or(check.stopped());
    if closure.truncated {
        cost.lost = Some(LostStates::States(MAX_BELIEF_STATES));
    }
    let belief = Belief::Concrete(closure.states);
    NextBelief { belief, doubts: cost.doubts, lost: cost.lost, refused: false }
}

/// Returns the state after `switch` with these field values; `None` if it is not enabled or its update has no value.
fn take_switch(
    cx: &mut Ctx<'_>,
    state: &ConcreteState,
    switch: &Switch,
    values: &[Value],
    cost: &mut Cost,
) -> Option<ConcreteState> {
    match decide_enabled(cx, state, switch, values) {
        SolverDecision::Sat => (),
        SolverDecision::Unsat => return None,
        // If the solver cannot decide either, the state is kept.
        SolverDecision::Unknown(_) => cost.doubts += 1,
    }
    match concrete::successor(cx.pool, cx.sts, state, switch, values) {
        Ok(next) => Some(next),
        Err(_) => {
            // The state after it exists but is not known: from here on the belief is not complete.
            cost.lost = Some(LostStates::Update);
            None
        }
    }
}
