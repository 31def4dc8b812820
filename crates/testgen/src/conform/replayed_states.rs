//! The states of a system after a trace, by evaluation, for any system and any completion of its inputs.
//!
//! The replay of a witness, suspected mutants, known traces and games follow systems this way. It is not the belief of
//! the monitor (`symex/monitor/concrete.rs` has the table): the monitor must not lack a state, or it would fail a
//! system that is right; here every state that is found must be possible, or a replay would confirm a trace that the
//! system does not have. So what cannot be evaluated is left out, and [`ReplayedStates::is_all`] says that it was.
//! Inputs that no switch takes are completed, which a specification never is.

use std::collections::BTreeSet;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{Ctx, LoneSteps, Quiescence, decided_successors, is_quiescent, may_wait};

use super::product::InputCompletion;

/// The greatest number of states of a set closed under internal steps; beyond it the set is not all. It was chosen by
/// feel: a tenth of what the monitor keeps, as many systems are followed at once.
const MAX_CLOSED_STATES: usize = 10_000;
/// The number of states of such a set above which those are left out that lone internal steps lead away from. Chosen by
/// feel: finding these steps costs more than a few states.
const FEW_CLOSED_STATES: usize = 60;

/// The states of a system after a trace, as far as evaluation finds them: each is possible, but there may be more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ReplayedStates {
    /// The states that were found.
    pub states: BTreeSet<ConcreteState>,
    /// True if there are no others. Not so where an initial value is unknown, internal steps are too many or happen at
    /// unknown instants, a guard or an update cannot be evaluated, or silence is not decided.
    pub is_all: bool,
}

impl ReplayedStates {
    /// Returns whether the system certainly cannot have the trace.
    pub fn is_impossible(&self) -> bool {
        self.is_all && self.states.is_empty()
    }
}

/// The initial states of a system; none, and not all, if a value is unknown.
pub(crate) fn concrete_start(cx: &Ctx<'_>, sts: &Sts) -> ReplayedStates {
    let start = concrete::initial_state(cx.pool, sts);
    let is_all = start.is_some();
    closure(cx, sts, ReplayedStates { states: start.into_iter().collect(), is_all })
}

/// The states of an implementation with angelic completion after `label`.
pub(crate) fn concrete_after(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    before: &ReplayedStates,
    label: &Label,
) -> ReplayedStates {
    follow_label(cx, sts, before, label, InputCompletion::Angelic)
}

/// The states of a system after `label`; `completion` decides on inputs that no switch accepts.
pub(crate) fn follow_label(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    before: &ReplayedStates,
    label: &Label,
    completion: InputCompletion,
) -> ReplayedStates {
    let mut next = ReplayedStates { states: BTreeSet::new(), is_all: before.is_all };
    for state in &before.states {
        match successors(cx, sts, state, label, completion) {
            Some(states) => next.states.extend(states),
            None => next.is_all = false,
        }
    }
    if matches!(label, Label::Delay(_)) && has_internal(sts) {
        // Internal steps while time passes are not followed.
        next.is_all = false;
    }
    closure(cx, sts, next)
}

/// Returns the states after `label` in `state`; `None` if that cannot be computed.
fn successors(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    state: &ConcreteState,
    label: &Label,
    completion: InputCompletion,
) -> Option<Vec<ConcreteState>> {
    if *label == Label::Quiescence {
        return match is_quiescent(&mut cx.with_system(sts), state) {
            Quiescence::Quiet => Some(vec![state.clone()]),
            Quiescence::Active => Some(Vec::new()),
            Quiescence::Unknown(_) => None,
        };
    }
    if let Label::Delay(by) = label {
        let later = concrete::advance_clocks(sts, state, by);
        return match may_wait(&mut cx.with_system(sts), state, &later) {
            SolverDecision::Sat => Some(vec![later]),
            SolverDecision::Unsat => Some(Vec::new()),
            SolverDecision::Unknown(_) => None,
        };
    }
    let next = decided_successors(&mut cx.with_system(sts), state, label).ok()?;
    let next: Vec<ConcreteState> = next.into_iter().map(|successor| successor.state).collect();
    let may_ignore = matches!(label, Label::Input(..)) && completion != InputCompletion::None;
    // [AT15], `exec_neg`: an input is ignored only where no internal step is possible; elsewhere the step may come
    // first and lead to a state that takes the input.
    if next.is_empty() && may_ignore && is_stable(cx, sts, state)? {
        return Some(vec![state.clone()]);
    }
    Some(next)
}

fn has_internal(sts: &Sts) -> bool {
    sts.switches.iter().any(|switch| sts.kind_of(switch) == GateKind::Internal)
}

/// Returns whether no internal step is possible in `state`; `None` if that cannot be computed.
pub(super) fn is_stable(cx: &Ctx<'_>, sts: &Sts, state: &ConcreteState) -> Option<bool> {
    concrete::internal_successors(cx.pool, sts, state).ok().map(|next| next.is_empty())
}

/// Returns the states closed under internal steps, as far as they can be computed.
fn closure(cx: &Ctx<'_>, sts: &Sts, ReplayedStates { states, is_all }: ReplayedStates) -> ReplayedStates {
    let few = concrete::tau_closure(cx.pool, sts, states.clone(), FEW_CLOSED_STATES);
    let closed = match few {
        Ok(closure) if closure.truncated => {
            if let Some(reduced) = reduced_closure(cx, sts, states.clone(), is_all) {
                return reduced;
            }
            concrete::tau_closure(cx.pool, sts, states, MAX_CLOSED_STATES)
        }
        few => few,
    };
    match closed {
        Ok(closure) => ReplayedStates { states: closure.states, is_all: is_all && !closure.truncated },
        // Nothing is claimed then: no state is kept, and `is_all` is false.
        Err(_) => ReplayedStates::default(),
    }
}

/// Returns the states closed under internal steps of which those are left out that lone steps lead away from: the
/// others show everything that they show. `None` if they are too many as well, or cannot be computed.
fn reduced_closure(
    cx: &Ctx<'_>,
    sts: &Sts,
    states: BTreeSet<ConcreteState>,
    is_all: bool,
) -> Option<ReplayedStates> {
    let mut lone = LoneSteps::new(cx.pool, sts)?;
    let mut settle = |state| lone.settle(cx.pool, sts, state, MAX_CLOSED_STATES).unwrap_or_default();
    let states = states.into_iter().map(&mut settle).collect::<Option<BTreeSet<_>>>()?;
    let closure = concrete::close_under(states, MAX_CLOSED_STATES, |state| {
        let next = concrete::internal_successors(cx.pool, sts, state).ok();
        let settled = next.and_then(|next| next.into_iter().map(|to| settle(to.state)).collect());
        settled.ok_or(())
    });
    let closure = closure.ok().filter(|closure| !closure.truncated)?;
    Some(ReplayedStates { states: closure.states, is_all })
}
