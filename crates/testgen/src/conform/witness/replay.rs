//! The replay of a trace on both models before it is returned: the monitor must forbid its last label, and the
//! implementation must have the trace.
//!
//! The replay checks the product by other means: evaluation instead of solving wherever values are known.

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::trace::Trace;
use ioxide_symex::{AllowedLabel, Belief, Ctx, Monitor};

use super::super::InputRule;
use super::super::product::{InputCompletion, ModelProduct};
use super::super::replayed_states::{concrete_start, follow_label, is_stable};
use super::NoWitness;

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
        // If inputs are compared, an input that the specification does not mention is itself the difference; otherwise
        // it is no failure.
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
            Some(label) => after = follow_label(cx, sts, &after, &label, product.completion),
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
