//! The belief after one certain order of events.
//!
//! While every value is known the belief is a set of concrete states and guards are evaluated; the solver is asked only
//! whether a guard over free fields has a solution. If a value is unknown the belief holds symbolic states. Both are
//! closed under internal steps before and after each label (\[FTW05] Table 5). In a timed system delays are labels like
//! any other; `timed` defines their meaning.
//!
//! *Promises.* A question the solver leaves open keeps the state in the belief. States missing from the belief are
//! reported.

use std::collections::BTreeSet;

use ioxide_model::concrete::{ConcreteState, initial_state};
use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::LocId;

use super::paths::{BeliefStep, PathLog};
use super::timed::{TimedCourse, Tolerance};
use super::{AllowedLabel, Forbidden, LostStates, concrete, explain, symbolic};
use crate::cx::Ctx;
use crate::state::SymState;

/// The greatest number of concrete states kept; an excess is reported, never silently cut. Chosen by feel: every
/// label evaluates guards in each of them. Beyond it nothing is forbidden any more.
pub(super) const MAX_BELIEF_STATES: usize = 100_000;
/// The greatest number of symbolic states kept, which cost a question each. Chosen by feel, as a tenth of the limit
/// on concrete ones.
pub(super) const MAX_SYMBOLIC: usize = 10_000;

/// The states the specification may be in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Belief {
    /// Every value is known.
    Concrete(BTreeSet<ConcreteState>),
    /// Some value is unknown.
    Symbolic(Vec<SymState>),
    /// The specification allows everything, after an input it does not mention.
    Unspecified,
}

impl Belief {
    /// Returns the number of states; `None` if the specification allows everything.
    #[must_use]
    pub fn count_states(&self) -> Option<usize> {
        match self {
            Self::Concrete(states) => Some(states.len()),
            Self::Symbolic(states) => Some(states.len()),
            Self::Unspecified => None,
        }
    }

    /// Moves every state to the location that `target` gives for its own.
    pub(super) fn relocate(&mut self, target: &dyn Fn(LocId) -> LocId) {
        match self {
            Self::Concrete(states) => {
                // Two states may become one, which the set keeps once.
                let moved = std::mem::take(states).into_iter();
                *states = moved.map(|state| ConcreteState { loc: target(state.loc), ..state }).collect();
            }
            Self::Symbolic(states) => states.iter_mut().for_each(|state| state.loc = target(state.loc)),
            Self::Unspecified => (),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count_states() == Some(0)
    }
}

/// A belief with its uncertainty.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HeldBelief {
    pub(super) belief: Belief,
    /// The number of questions the solver left open; the states they were about are kept.
    doubts: usize,
    /// The reason why the belief may lack states.
    lost: Option<LostStates>,
    /// The paths to these states, if they are asked for.
    paths: Option<Box<PathLog>>,
}

impl HeldBelief {
    /// Makes the belief before the first observation.
    fn new(cx: &mut Ctx<'_>) -> Self {
        let belief = match initial_state(cx.pool, cx.sts) {
            Some(state) => Belief::Concrete([state].into()),
            None => Belief::Symbolic(vec![SymState::initial(cx)]),
        };
        // A course without clocks keeps this invariant: its belief is closed under internal steps.
        let mut held = Self { belief, doubts: 0, lost: None, paths: None };
        held.close_internally(cx);
        held
    }

    /// Gives up the belief: from now on everything is allowed.
    pub(super) fn give_up_belief(&mut self) {
        self.belief = Belief::Unspecified;
    }

    /// Closes the belief under internal steps.
    pub(super) fn close_internally(&mut self, cx: &mut Ctx<'_>) {
        // Taken out, not copied: beliefs can be large. Every path below puts one back.
        let belief = std::mem::replace(&mut self.belief, Belief::Unspecified);
        let closed = match belief {
            Belief::Concrete(states) => concrete::close_internally(cx, states),
            Belief::Symbolic(states) => symbolic::close_internally(cx, states),
            Belief::Unspecified => return,
        };
        self.add_doubts(&closed);
        self.belief = closed.belief;
    }

    /// Moves the paths on by `label`, which came in one of the states of `belief_before`; the belief has moved on
    /// already.
    pub(super) fn step_paths(&mut self, cx: &Ctx<'_>, label: &Label, belief_before: &Belief) {
        if let Some(paths) = &mut self.paths {
            paths.step(cx, &BeliefStep { label, before: belief_before, after: &self.belief });
        }
    }

    /// Adds the uncertainty of `next`.
    pub(super) fn add_doubts(&mut self, next: &NextBelief) {
        self.doubts += next.doubts;
        self.lost = self.lost.or(next.lost);
    }
}

/// The belief after one order of events, with different rules for models with and without clocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CourseBelief {
    Untimed(UntimedCourse),
    Timed(Box<TimedCourse>),
}

impl CourseBelief {
    /// Makes the belief before the first observation; instants are observed within `tolerance`.
    pub(super) fn new(cx: &mut Ctx<'_>, tolerance: Tolerance) -> Self {
        let held = HeldBelief::new(cx);
        if cx.sts.is_timed() {
            Self::Timed(Box::new(TimedCourse::new(cx, tolerance, held)))
        } else {
            Self::Untimed(UntimedCourse { held_belief: held })
        }
    }

    fn held_belief(&self) -> &HeldBelief {
        match self {
            Self::Untimed(course) => &course.held_belief,
            Self::Timed(course) => &course.held_belief,
        }
    }

    fn held_mut(&mut self) -> &mut HeldBelief {
        match self {
            Self::Untimed(course) => &mut course.held_belief,
            Self::Timed(course) => &mut course.held_belief,
        }
    }

    /// Starts to follow the paths to the states.
    pub(super) fn start_paths(&mut self) {
        self.held_mut().paths = Some(Box::default());
    }

    /// Returns the paths to the states, if they are asked for.
    pub(super) fn paths(&self) -> Option<&PathLog> {
        self.held_belief().paths.as_deref()
    }

    /// Returns the paths to the states, if they are asked for.
    pub(super) fn paths_mut(&mut self) -> Option<&mut PathLog> {
        self.held_mut().paths.as_deref_mut()
    }

    /// Adds the paths of `other`, which is an equal belief; returns whether that changed anything.
    pub(super) fn join_paths(&mut self, other: &Self) -> bool {
        debug_assert_eq!(self, other, "paths are joined where they lead to the same belief");
        let theirs = other.paths();
        self.paths_mut().zip(theirs).is_some_and(|(mine, theirs)| mine.join(theirs))
    }

    /// Returns the timed belief; `None` if the model has no clocks.
    pub(super) fn as_timed(&self) -> Option<&TimedCourse> {
        match self {
            Self::Untimed(_) => None,
            Self::Timed(course) => Some(course),
        }
    }

    /// Returns the states that are possible on this course.
    pub(super) fn belief(&self) -> &Belief {
        &self.held_belief().belief
    }

    pub(super) fn count_doubts(&self) -> usize {
        self.held_belief().doubts
    }

    pub(super) fn lost_states(&self) -> Option<LostStates> {
        self.held_belief().lost
    }

    /// Gives up the belief: from now on everything is allowed.
    pub(super) fn give_up_belief(&mut self) {
        self.held_mut().give_up_belief();
    }

    /// Lets time pass up to a message; does nothing in a model without clocks.
    pub(super) fn advance_time(&mut self, cx: &mut Ctx<'_>, by: &Rational) {
        match self {
            Self::Untimed(_) => {}
            Self::Timed(course) => course.advance_time(cx, by),
        }
    }

    /// Moves on by one label; if it is forbidden, the belief stays as it was.
    pub(super) fn observe(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        match self {
            Self::Untimed(course) => course.observe(cx, label, relation),
            Self::Timed(course) => course.observe(cx, label, relation),
        }
    }

    /// Moves on by one label and returns whether that is possible; a refusal is not explained. Of several orders
    /// most are refused, and explanations would add terms to the pool at every message.
    pub(super) fn try_observe(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> bool {
        match self {
            Self::Untimed(course) => course.try_observe(cx, label, relation).is_some(),
            Self::Timed(course) => course.observe(cx, label, relation).is_ok(),
        }
    }

    /// Lets a label happen now that was given or seen at `given` (known in models with clocks), and returns whether
    /// that is possible.
    pub(super) fn observe_waiting(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        given: Option<&Rational>,
        relation: ConformanceRelation,
    ) -> bool {
        match (self, given) {
            (Self::Timed(course), Some(given)) => course.observe_waiting(cx, label, given, relation),
            // Without clocks the instant at which it was given does not matter, only the order.
            (course, _) => course.try_observe(cx, label, relation),
        }
    }

    /// Returns the belief in `state` alone, closed under internal steps; `None` in a timed model.
    pub(super) fn with_state(&self, cx: &mut Ctx<'_>, state: SymState) -> Option<Self> {
        // With clocks the instant of the state would be needed too, which a symbolic state alone does not have.
        let Self::Untimed(course) = self else { return None };
        let mut held = HeldBelief { belief: Belief::Symbolic(vec![state]), ..course.held_belief.clone() };
        held.close_internally(cx);
        Some(Self::Untimed(UntimedCourse { held_belief: held }))
    }

    /// Moves every state to the location that `target` gives for its own. Paths are dropped: they led elsewhere.
    pub(super) fn relocate(&mut self, target: &dyn Fn(LocId) -> LocId) {
        self.held_mut().belief.relocate(target);
        self.held_mut().paths = None;
        if let Self::Timed(course) = self {
            course.relocate_entry(target);
        }
    }

    /// Returns the reason why a label that was given or seen at `given` cannot have happened then; `None` if it can.
    pub(super) fn explain_refusal(
        &self,
        cx: &mut Ctx<'_>,
        label: &Label,
        given: Option<&Rational>,
        relation: ConformanceRelation,
    ) -> Option<Box<Forbidden>> {
        // On a copy: asking why must not move the belief.
        let mut then = self.clone();
        if let (Self::Timed(course), Some(given)) = (&mut then, given) {
            course.turn_back(given);
        }
        then.observe(cx, label, relation).err()
    }

    /// Returns whether the specification allows this label now; for an input, whether it mentions it.
    pub(super) fn accepts(&self, cx: &mut Ctx<'_>, label: &Label, relation: ConformanceRelation) -> bool {
        match self {
            _ if *self.belief() == Belief::Unspecified => false,
            Self::Untimed(course) => course.accepts(cx, label, relation),
            Self::Timed(course) => course.accepts(cx, label, relation),
        }
    }

    /// Returns whether instants are observed exactly; true without clocks.
    pub(super) fn is_exact(&self) -> bool {
        self.as_timed().is_none_or(TimedCourse::is_exact)
    }

    /// Returns the outputs allowed now, in the form of the reasons why quiescence is not.
    pub(super) fn expected_outputs(&self, cx: &mut Ctx<'_>) -> Forbidden {
        match self {
            Self::Untimed(course) => {
                let belief = &course.held_belief.belief;
                explain::explain_forbidden(cx, belief, belief, &Label::Quiescence)
            }
            Self::Timed(course) => *course.nothing_left(cx, &Label::Quiescence),
        }
    }
}

/// The belief after one order of events in a model without clocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UntimedCourse {
    held_belief: HeldBelief,
}

impl UntimedCourse {
    /// Judges a label on this course and moves its belief on.
    fn observe(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> Result<AllowedLabel, Box<Forbidden>> {
        self.try_observe(cx, label, relation).ok_or_else(|| {
            let belief = &self.held_belief.belief;
            Box::new(explain::explain_forbidden(cx, belief, belief, label))
        })
    }

    /// Moves the belief on by a label; `None` if it is forbidden, and the belief stays as it was.
    fn try_observe(
        &mut self,
        cx: &mut Ctx<'_>,
        label: &Label,
        relation: ConformanceRelation,
    ) -> Option<AllowedLabel> {
        let held = &mut self.held_belief;
        if held.belief == Belief::Unspecified {
            return Some(AllowedLabel::Unspecified);
        }
        let next = by_label(cx, &held.belief, label, relation);
        // Counted also where the label turns out forbidden: the verdict must know what it rests on.
        held.add_doubts(&next);
        // Before the check for an empty belief: an input that no state accepts is not forbidden; after it everything is
        // allowed.
        if next.is_unspecified(label) {
            held.give_up_belief();
            return Some(AllowedLabel::Unspecified);
        }
        if next.belief.is_empty() {
            return None;
        }
        let before = std::mem::replace(&mut held.belief, next.belief);
        held.close_internally(cx);
        held.step_paths(cx, label, &before);
        Some(AllowedLabel::Allowed)
    }

    /// Returns whether the specification goes on after `label`, and is not opened by it.
    fn accepts(&self, cx: &mut Ctx<'_>, label: &Label, relation: ConformanceRelation) -> bool {
        let next = by_label(cx, &self.held_belief.belief, label, relation);
        next.is_possible(label) && !(matches!(label, Label::Input(..)) && self.is_opened_by(cx, next.belief))
    }

    /// Returns whether an open state, from which everything is allowed, is among `next` or follows it by internal
    /// steps, and none was believed before.
    fn is_opened_by(&self, cx: &mut Ctx<'_>, next: Belief) -> bool {
        // Only concrete states are looked at; while values are unknown, the answer stays "no".
        let (Belief::Concrete(now), Belief::Concrete(next)) = (&self.held_belief.belief, next) else {
            return false;
        };
        let sts = cx.sts;
        let is_open = |state: &ConcreteState| sts.is_open(|var| state.values.get(var).cloned());
        if sts.composition.as_ref().is_none_or(|composition| composition.open.is_none())
            || now.iter().any(is_open)
        {
            return false;
        }
        match concrete::close_internally(cx, next).belief {
            Belief::Concrete(states) => states.iter().any(is_open),
            Belief::Symbolic(_) | Belief::Unspecified => false,
        }
    }
}

/// The states after `label`, of whichever kind the belief is.
pub(super) fn by_label(
    cx: &mut Ctx<'_>,
    belief: &Belief,
    label: &Label,
    relation: ConformanceRelation,
) -> NextBelief {
    match belief {
        Belief::Concrete(states) => concrete::states_after_label(cx, states, label, relation),
        Belief::Symbolic(states) => symbolic::states_after_label(cx, states, label, relation),
        Belief::Unspecified => {
            NextBelief { belief: Belief::Unspecified, doubts: 0, lost: None, refused: false }
        }
    }
}

/// A computed belief with its uncertainty.
pub(super) struct NextBelief {
    pub(super) belief: Belief,
    pub(super) doubts: usize,
    pub(super) lost: Option<LostStates>,
    /// True if the label is an input that some state refuses, so that by the relation it is not specified.
    pub(super) refused: bool,
}

impl NextBelief {
    /// Returns whether the specification goes on after `label`.
    pub(super) fn is_possible(&self, label: &Label) -> bool {
        !self.is_unspecified(label) && !self.belief.is_empty()
    }

    /// Returns whether the specification allows everything after `label`: an input it does not mention.
    pub(super) fn is_unspecified(&self, label: &Label) -> bool {
        matches!(label, Label::Input(..)) && (self.refused || self.belief.is_empty())
    }
}
