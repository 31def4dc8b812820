//! The arena of a game: the model, or its product with an observer, and the current states of the run.

use std::collections::BTreeSet;
use std::sync::Arc;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::index::Idx as _;
use ioxide_model::label::Label;
use ioxide_model::sts::{LocId, Sts, Switch, SwitchId};
use ioxide_model::term::{Term, VarId};
use ioxide_symex::{Ctx, SymState};

use crate::conform::{InputCompletion, ReplayedStates, concrete_start, follow_label};
use crate::kill::is_deterministic;
use crate::purpose::observer::{ObserverProduct, silences};

/// A system, a goal in it, and the states that the run may be in.
#[derive(Clone, Debug)]
pub(super) struct GameArena {
    /// The system with its visible and internal switches.
    base: Arc<Sts>,
    /// The system with additional switches, behind the others, for the moves of the observer on silence.
    all: Arc<Sts>,
    location: Option<LocId>,
    when: Term,
    /// The states that the run may be in.
    after: ReplayedStates,
    /// True if the labels of a run tell its state.
    is_seen: bool,
}

impl GameArena {
    /// Makes the arena of `goal`; `None` if the goal is neither a location to reach nor an observer.
    pub(super) fn new(cx: &mut Ctx<'_>, goal: &Goal) -> Option<Self> {
        let arena = |cx: &mut Ctx<'_>, base: Sts, all: Sts, location, when| Self {
            // With clocks, unknown values or internal steps at unseen instants there is never one state.
            is_seen: !base.is_timed() && !base.has_unknowns() && is_deterministic(&mut cx.with_system(&base)),
            base: Arc::new(base),
            all: Arc::new(all),
            location,
            when,
            after: ReplayedStates::default(),
        };
        match &goal.kind {
            GoalKind::Reach { location, when } => {
                let (base, all) = (cx.sts.clone(), cx.sts.clone());
                Some(arena(cx, base, all, *location, *when))
            }
            GoalKind::Observer(observer) => {
                // The moves on silence are kept apart: the run follows the product without them, label by label,
                // and takes them by hand where silence was seen; the search ahead needs them as switches.
                let product = ObserverProduct::new(cx, observer);
                let mut all = product.sts.clone();
                silences(cx, &product, observer).into_iter().for_each(|switch| {
                    all.switches.push(switch);
                });
                let tt = cx.pool.tt();
                Some(arena(cx, product.sts, all, Some(product.hit), tt))
            }
            GoalKind::Path(_)
            | GoalKind::Always(_)
            | GoalKind::Sometimes(_)
            | GoalKind::Assume(_)
            | GoalKind::Response(_)
            | GoalKind::Test(_) => None,
        }
    }

    /// The system, silences included.
    pub(super) fn full_system(&self) -> &Sts {
        &self.all
    }

    /// The system without the moves of the observer on silence.
    pub(super) fn base_system(&self) -> &Arc<Sts> {
        &self.base
    }

    /// The location of the goal; `None` for any.
    pub(super) fn goal_location(&self) -> Option<LocId> {
        self.location
    }

    /// The condition of the goal.
    pub(super) fn goal_condition(&self) -> Term {
        self.when
    }

    /// Returns whether the labels of a run tell its state, so that it can be followed by one state alone.
    pub(super) fn is_seen(&self) -> bool {
        self.is_seen
    }

    /// The states that the run may be in.
    pub(super) fn states(&self) -> &BTreeSet<ConcreteState> {
        &self.after.states
    }

    /// The state of the run if it can be told in every run, now and later; `None` if it may be ambiguous.
    pub(super) fn known_state(&self) -> Option<&ConcreteState> {
        let ReplayedStates { states, is_all } = &self.after;
        // One state now is not enough: a choice that labels do not show could make it several after the next move.
        states.first().filter(|_| self.is_seen && *is_all && states.len() == 1)
    }

    /// Returns whether the observer moves on silence.
    pub(super) fn waits_for_silence(&self) -> bool {
        self.silence_switches().next().is_some()
    }

    /// The variables in the condition of the goal.
    pub(super) fn goal_variables(&self, cx: &Ctx<'_>) -> Vec<VarId> {
        cx.pool.free_vars(self.when)
    }

    /// Returns whether `loc` is a location of the goal.
    pub(super) fn is_place(&self, loc: LocId) -> bool {
        self.location.is_none_or(|location| location == loc)
    }

    /// Returns the condition of the goal on the values of `state`.
    pub(super) fn condition(&self, cx: &mut Ctx<'_>, state: &SymState) -> Term {
        let store = state.store.substitution(cx.sts);
        cx.pool.substitute(self.when, &store)
    }

    /// Returns the symbolic state that stands for `state` alone.
    pub(super) fn symbolic(&self, cx: &mut Ctx<'_>, state: &ConcreteState) -> Option<SymState> {
        SymState::from_concrete(&mut cx.with_system(&self.all), state)
    }

    /// Begins a run.
    pub(super) fn start_run(&mut self, cx: &mut Ctx<'_>) {
        self.after = concrete_start(cx, &self.base);
    }

    /// Returns whether all states that the run may be in meet the goal.
    pub(super) fn is_hit(&self, cx: &Ctx<'_>) -> bool {
        let is_hit = |state: &ConcreteState| {
            self.is_place(state.loc) && cx.pool.holds(self.when, &state.values) == Ok(true)
        };
        let ReplayedStates { states, is_all } = &self.after;
        *is_all && !states.is_empty() && states.iter().all(is_hit)
    }

    /// Follows a label.
    pub(super) fn follow_label(&mut self, cx: &mut Ctx<'_>, label: &Label) {
        self.after = follow_label(cx, &self.base, &self.after, label, InputCompletion::None);
        if *label == Label::Quiescence {
            self.after.states = self.after.states.iter().map(|state| self.after_silence(cx, state)).collect();
        }
    }

    /// Returns `state` after the observer's move on silence, if it has one.
    fn after_silence(&self, cx: &Ctx<'_>, state: &ConcreteState) -> ConcreteState {
        let is_enabled = |switch: &&Switch| {
            switch.source == state.loc && cx.pool.holds(switch.guard, &state.values) == Ok(true)
        };
        let Some(switch) = self.silence_switches().find(is_enabled) else { return state.clone() };
        let mut after = ConcreteState { loc: switch.target, values: state.values.clone() };
        for &(var, term) in &switch.update {
            if let Ok(value) = cx.pool.eval(term, &state.values) {
                after.values.set(var, value);
            }
        }
        after
    }

    /// The moves of the observer on silence.
    pub(super) fn silence_switches(&self) -> impl Iterator<Item = &Switch> {
        let n = self.base.switches.len();
        (n..self.all.switches.len()).map(|at| &self.all.switches[SwitchId::new(at)])
    }
}
