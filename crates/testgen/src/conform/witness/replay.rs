//! The replay of a trace on both models before it is returned: the monitor must forbid its last label, and the
//! implementation must have the trace.
//!
//! The replay checks the product by other means: evaluation instead of solving wherever values are known.

use std::collections::BTreeSet;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{AllowedLabel, Belief, Ctx, Monitor, Quiescence, is_quiescent, may_wait};

use super::super::InputRule;
use super::super::product::{InputCompletion, ModelProduct};
use super::{MAX_STATES, NoWitness};

/// Checks that the specification allows `trace` but for its last label, and that the implementation has all of it.
pub(super) fn check_trace(
    cx: &mut Ctx<'_>,
    product: &ModelProduct<'_>,
    trace: &Trace,
) -> Result<(), NoWitness> {
    let doubtful = |text: String| Err(NoWitness::Doubtful(text));
    let Some((last, before)) = trace.labels.split_last() else { return Err(NoWitness::Impossible) };
    let mut monitor = Monitor::new(cx);
    for label in before {
        if product.relation == ConformanceRelation::Uioco && is_refused(cx, &monitor, label) {
            return doubtful("a state of the specification refuses an input".into());
        }
        match monitor.observe(cx, label) {
            Ok(AllowedLabel::Allowed) => (),
            Ok(AllowedLabel::Unspecified) => {
                return doubtful("the specification leaves an input open".into());
            }
            Ok(AllowedLabel::Unknown) => {
                return doubtful("the replay lost states of the specification".into());
            }
            Err(_) => return doubtful("an earlier label is forbidden already".into()),
        }
    }
    let compared = product.inputs == InputRule::Compared;
    let is_different = match monitor.observe(cx, last) {
        Err(_) => true,
        Ok(AllowedLabel::Unspecified) => compared,
        Ok(AllowedLabel::Allowed | AllowedLabel::Unknown) => false,
    };
    if !is_different {
        return doubtful("the replay does not find the last label forbidden".into());
    }
    if implements(cx, product, trace) {
        return Ok(());
    }
    doubtful("the replay does not find the trace in the implementation".into())
}

/// Returns whether some state without internal steps refuses the input `label`, or that cannot be computed; false for a
/// symbolic belief.
fn is_refused(cx: &mut Ctx<'_>, monitor: &Monitor, label: &Label) -> bool {
    let (Label::Input(..), Belief::Concrete(states)) = (label, monitor.belief()) else { return false };
    let sts = cx.sts;
    let refuses = |state: &ConcreteState| {
        is_stable(cx, sts, state) != Some(false)
            && concrete::successors(cx.pool, sts, state, label).map_or(true, |next| next.is_empty())
    };
    states.iter().any(refuses)
}

/// Returns whether the implementation, completed, has `trace`, by evaluation; true without a check if its initial
/// values, or the instants of its internal steps, are unknown.
fn implements(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, trace: &Trace) -> bool {
    let sts = product.imp.sts;
    // Where initial values or the instants of internal steps are unknown, some of them make the trace possible:
    // the condition says so.
    if sts.is_timed() && !product.imp.is_visible() || concrete::initial_state(cx.pool, sts).is_none() {
        return true;
    }
    let mut after = concrete_start(cx, sts);
    for label in &trace.labels {
        match product.label_of_imp(label) {
            Some(label) => after = concretely(cx, sts, &after, &label, product.completion),
            // An input that the implementation does not know is ignored where it is stable.
            None if matches!(label, Label::Input(..)) && product.completion != InputCompletion::None => {
                after.states.retain(|state| is_stable(cx, sts, state) == Some(true));
            }
            None => return false,
        }
        if after.states.is_empty() {
            return false;
        }
    }
    true
}

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
    concretely(cx, sts, before, label, InputCompletion::Angelic)
}

/// The states of a system after `label`; `completion` decides on inputs that no switch accepts.
pub(crate) fn concretely(
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
    let next = concrete::successors(cx.pool, sts, state, label).ok()?;
    let next: Vec<ConcreteState> = next.into_iter().map(|successor| successor.state).collect();
    let may_ignore = matches!(label, Label::Input(..)) && completion != InputCompletion::None;
    if next.is_empty() && may_ignore && is_stable(cx, sts, state)? {
        return Some(vec![state.clone()]);
    }
    Some(next)
}

fn has_internal(sts: &Sts) -> bool {
    sts.switches.iter().any(|switch| sts.kind_of(switch) == GateKind::Internal)
}

/// Returns whether no internal step is possible in `state`; `None` if that cannot be computed.
fn is_stable(cx: &Ctx<'_>, sts: &Sts, state: &ConcreteState) -> Option<bool> {
    concrete::internal_successors(cx.pool, sts, state).ok().map(|next| next.is_empty())
}

/// Returns the states closed under internal steps, as far as they can be computed.
fn closure(cx: &Ctx<'_>, sts: &Sts, ReplayedStates { states, is_all }: ReplayedStates) -> ReplayedStates {
    match concrete::tau_closure(cx.pool, sts, states, MAX_STATES) {
        Ok(closure) => ReplayedStates { states: closure.states, is_all: is_all && !closure.truncated },
        Err(_) => ReplayedStates::default(),
    }
}
