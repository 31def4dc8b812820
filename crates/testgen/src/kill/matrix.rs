//! The kill relation of tests and mutants.
//!
//! A test follows a trace of the specification and looks where the trace has an observation,
//! and once more at its end. It kills a mutant if, on the way, the mutant can do something the
//! specification forbids where the test looks. For a nondeterministic mutant that means *can*
//! kill: some run of the test does. Everything is known along a trace, so states are concrete.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{LocId, Sts, Switch};
use ioxide_model::term::{Term, VarId};
use ioxide_model::trace::Trace;
use ioxide_symex::{AllowedLabel, Belief, Ctx, Monitor, Store};

use super::TouchedParts;
use crate::conform::{
    ClockLimits, InputCompletion, InputRule, ModelProduct, ProductNext, ProductState, ProductStep,
    ReplayedStates, SideMember, SideSystem, concrete_after, concrete_start, join_liveness, liveness, ports,
};
use crate::mutate::Mutant;

/// A trace of the specification with the states after each of its labels.
#[derive(Clone, Debug)]
pub struct TraceWalk {
    labels: Vec<Label>,
    /// The states before the first label and after each; one more than labels.
    beliefs: Vec<BTreeSet<ConcreteState>>,
}

impl TraceWalk {
    /// The states before the first label and after each.
    #[must_use]
    pub fn beliefs(&self) -> &[BTreeSet<ConcreteState>] {
        &self.beliefs
    }

    /// The states at the end.
    #[must_use]
    pub fn last_belief(&self) -> Option<&BTreeSet<ConcreteState>> {
        self.beliefs.last()
    }
}

/// Follows `trace`, which ends before the last look; `None` if the specification does not have it, leaves one of its
/// inputs open, or its belief is not concrete.
pub fn walk(cx: &mut Ctx<'_>, trace: &Trace) -> Option<TraceWalk> {
    let mut monitor = Monitor::new(cx);
    let mut beliefs = vec![states(&monitor)?];
    for label in &trace.labels {
        if monitor.observe(cx, label).ok()? != AllowedLabel::Allowed {
            return None;
        }
        beliefs.push(states(&monitor)?);
    }
    Some(TraceWalk { labels: trace.labels.clone(), beliefs })
}

/// Returns the states of the monitor; `None` unless its belief is concrete.
fn states(monitor: &Monitor) -> Option<BTreeSet<ConcreteState>> {
    match monitor.belief() {
        Belief::Concrete(states) => Some(states.clone()),
        Belief::Symbolic(_) | Belief::Unspecified => None,
    }
}

/// A mutant with the product to run tests on it.
pub struct MatrixMutant<'m> {
    imp: &'m Sts,
    product: ModelProduct<'m>,
    touched: TouchedParts,
    /// The changed switches, as they are in the mutant and in the specification: where they start, and the conditions
    /// of their guards that do not depend on the message.
    changed: Vec<(LocId, Vec<Term>)>,
}

impl<'m> MatrixMutant<'m> {
    /// Prepares `imp`, the system of `mutant`; `None` if its messages differ from those of `spec`.
    pub fn new(cx: &mut Ctx<'_>, spec: &'m Sts, imp: &'m Sts, mutant: &Mutant) -> Option<Self> {
        let ports = ports(cx, imp, spec).ok()?;
        let live = join_liveness(liveness(cx, imp), &liveness(cx, spec));
        let (left, right) = (SideSystem::new(cx, imp, live.clone()), SideSystem::new(cx, spec, live));
        let (completion, relation) = (InputCompletion::Angelic, ConformanceRelation::Ioco);
        let limits = ClockLimits::new(cx, imp, spec);
        let product = ModelProduct {
            imp: left,
            spec: right,
            ports,
            completion,
            relation,
            inputs: InputRule::Free,
            limits,
        };
        let both = mutant.switches().flat_map(|(id, _)| [imp, spec].map(|sts| (sts, &sts.switches[id])));
        let changed = both.map(|(sts, switch)| (switch.source, state_conditions(cx, sts, switch))).collect();
        Some(Self { imp, product, touched: TouchedParts::new(imp, spec, mutant), changed })
    }

    /// Returns whether some run of the test along `walk` kills the mutant.
    pub fn kills(&self, cx: &mut Ctx<'_>, walk: &TraceWalk) -> bool {
        // States that are not found kill nothing: the others show what the mutant can do.
        let mut reached = concrete_start(cx, self.imp);
        for (at, belief) in walk.beliefs.iter().enumerate() {
            let label = walk.labels.get(at);
            // Where the specification may be in several states, one may ignore what another takes.
            let alike = belief.len() == 1 && reached.states == *belief && !self.is_touched(cx, belief);
            // Before an input that is to be given at some instant the test looks until then only.
            let next = walk.labels[at..].iter().find(|label| !matches!(label, Label::Delay(_)));
            let looks = !matches!(next, Some(Label::Input(..)));
            if looks && !alike && self.is_unsafe(cx, &reached.states, belief) {
                return true;
            }
            let Some(label) = label else { return false };
            // As long as nothing is touched, the mutant is the specification.
            reached = if alike {
                ReplayedStates { states: walk.beliefs[at + 1].clone(), is_all: reached.is_all }
            } else {
                concrete_after(cx, self.imp, &reached, label)
            };
            if reached.states.is_empty() {
                return false;
            }
        }
        false
    }

    /// Returns whether a changed switch may be taken in one of `states`, or later without another label.
    fn is_touched(&self, cx: &Ctx<'_>, states: &BTreeSet<ConcreteState>) -> bool {
        let may_be_taken = |state: &ConcreteState| {
            self.changed.iter().any(|(source, conditions)| {
                let is_refuted = |&term: &Term| cx.pool.holds(term, &state.values) == Ok(false);
                // A condition on a clock may hold after waiting.
                *source == state.loc && (self.imp.is_timed() || !conditions.iter().any(is_refuted))
            })
        };
        self.touched.internal || states.iter().any(may_be_taken)
    }

    /// Returns whether the mutant can show an observation here that the specification forbids, beyond doubt.
    fn is_unsafe(
        &self,
        cx: &mut Ctx<'_>,
        imp: &BTreeSet<ConcreteState>,
        spec: &BTreeSet<ConcreteState>,
    ) -> bool {
        let pair = ProductState {
            imp: members(cx, self.product.imp.sts, imp),
            spec: members(cx, self.product.spec.sts, spec),
            path: Vec::new(),
            fresh: 0,
        };
        let observations: Vec<ProductStep> = self.product.observations();
        observations.into_iter().any(|step| {
            let next = self.product.after_step(cx, &pair, step).unwrap_or_default();
            next.iter().any(|next| matches!(next, ProductNext::Fail { doubt: false }))
        })
    }
}

/// Returns the conditions of the guard of `switch` that are about the state alone.
fn state_conditions(cx: &Ctx<'_>, sts: &Sts, switch: &Switch) -> Vec<Term> {
    let fields = &sts.gates[switch.gate].fields;
    let mut conditions = cx.pool.conjuncts(switch.guard);
    conditions.retain(|&term| !cx.pool.free_vars(term).iter().any(|var| fields.contains(var)));
    conditions
}

/// Returns the states as members of a side.
fn members(cx: &mut Ctx<'_>, sts: &Sts, states: &BTreeSet<ConcreteState>) -> Vec<SideMember> {
    let mut member = |state: &ConcreteState| {
        let term = |var: VarId| -> Term {
            let value = state.values.get(var).cloned();
            let value = value.unwrap_or_else(|| cx.pool.default_value(cx.pool.var_info(var).sort));
            cx.pool.value(value)
        };
        SideMember::single(state.loc, Store::new(sts.stored_vars().map(term).collect()))
    };
    states.iter().map(&mut member).collect()
}
