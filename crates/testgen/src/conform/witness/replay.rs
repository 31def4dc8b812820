//! The replay of a trace on both models before it is returned: the monitor must forbid its last label, and the
//! implementation must have the trace.
//!
//! The replay checks the product by other means: evaluation instead of solving wherever values are known.

use std::collections::BTreeSet;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::Sts;
use ioxide_model::trace::Trace;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{AllowedLabel, Belief, Ctx, Monitor, Quiescence, is_quiescent, may_wait};

use super::super::InputRule;
use super::super::product::{InputCompletion, ModelProduct};
use super::{MAX_STATES, NoWitness};

/// Checks that the specification allows `trace` but for its last label, and that the implementation has all of it.
pub(super) fn replayed(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, trace: &Trace) -> Result<(), NoWitness> {
    let doubtful = |text: String| Err(NoWitness::Doubtful(text));
    let Some((last, before)) = trace.labels.split_last() else { return Err(NoWitness::Impossible) };
    let mut after = Monitor::new(cx);
    for label in before {
        if product.relation == ConformanceRelation::Uioco && is_refused(cx, &after, label) {
            return doubtful("a state of the specification refuses an input".into());
        }
        match after.observe(cx, label) {
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
    let is_different = match after.observe(cx, last) {
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

/// Returns whether some state without internal steps refuses the input `label`; false for a symbolic belief.
fn is_refused(cx: &mut Ctx<'_>, after: &Monitor, label: &Label) -> bool {
    let (Label::Input(..), Belief::Concrete(states)) = (label, after.belief()) else { return false };
    let sts = cx.sts;
    let refuses = |state: &ConcreteState| {
        is_stable(cx, sts, state)
            && concrete::successors(cx.pool, sts, state, label).is_ok_and(|next| next.is_empty())
    };
    states.iter().any(refuses)
}

/// Returns whether the implementation, completed, has `trace`, by evaluation; true without a check if its initial
/// values, or the instants of its internal steps, are unknown.
fn implements(cx: &mut Ctx<'_>, product: &ModelProduct<'_>, trace: &Trace) -> bool {
    let sts = product.imp.sts;
    // Where initial values or the instants of internal steps are unknown, some of them make the trace possible:
    // the condition says so.
    if sts.is_timed() && !product.imp.is_visible() {
        return true;
    }
    let Some(start) = concrete::initial_state(cx.pool, sts) else { return true };
    let mut states = closure(cx, sts, [start].into());
    for label in &trace.labels {
        let Some(label) = product.label_of_imp(label) else {
            if matches!(label, Label::Input(..)) && product.completion != InputCompletion::None {
                states.retain(|state| is_stable(cx, sts, state));
                continue;
            }
            return false;
        };
        states = concretely(cx, sts, &states, &label, product.completion);
        if states.is_empty() {
            return false;
        }
    }
    true
}

/// The initial states of an implementation; empty if a value is unknown.
pub(crate) fn concrete_start(cx: &Ctx<'_>, sts: &Sts) -> BTreeSet<ConcreteState> {
    let start = concrete::initial_state(cx.pool, sts);
    closure(cx, sts, start.into_iter().collect())
}

/// The states of an implementation with angelic completion after `label`.
pub(crate) fn concrete_after(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    states: &BTreeSet<ConcreteState>,
    label: &Label,
) -> BTreeSet<ConcreteState> {
    concretely(cx, sts, states, label, InputCompletion::Angelic)
}

/// The states of a system after `label`; `completion` decides on inputs that no switch accepts.
pub(crate) fn concretely(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    states: &BTreeSet<ConcreteState>,
    label: &Label,
    completion: InputCompletion,
) -> BTreeSet<ConcreteState> {
    let mut next = BTreeSet::new();
    for state in states {
        next.extend(successors(cx, sts, state, label, completion));
    }
    closure(cx, sts, next)
}

fn successors(
    cx: &mut Ctx<'_>,
    sts: &Sts,
    state: &ConcreteState,
    label: &Label,
    completion: InputCompletion,
) -> Vec<ConcreteState> {
    if *label == Label::Quiescence {
        let quiet = is_quiescent(&mut cx.over(sts), state) == Quiescence::Quiet;
        return if quiet { vec![state.clone()] } else { Vec::new() };
    }
    if let Label::Delay(by) = label {
        let later = concrete::delayed(sts, state, by);
        let may = may_wait(&mut cx.over(sts), state, &later) == SolverDecision::Sat;
        return if may { vec![later] } else { Vec::new() };
    }
    let next = concrete::successors(cx.pool, sts, state, label).unwrap_or_default();
    let next: Vec<ConcreteState> = next.into_iter().map(|successor| successor.state).collect();
    let ignores = next.is_empty()
        && matches!(label, Label::Input(..))
        && completion != InputCompletion::None
        && is_stable(cx, sts, state);
    if ignores { vec![state.clone()] } else { next }
}

fn is_stable(cx: &Ctx<'_>, sts: &Sts, state: &ConcreteState) -> bool {
    concrete::internal_successors(cx.pool, sts, state).is_ok_and(|next| next.is_empty())
}

fn closure(cx: &Ctx<'_>, sts: &Sts, states: BTreeSet<ConcreteState>) -> BTreeSet<ConcreteState> {
    concrete::tau_closure(cx.pool, sts, states, MAX_STATES)
        .map_or_else(|_| BTreeSet::new(), |closure| closure.states)
}
