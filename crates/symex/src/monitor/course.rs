//! A course: one [order of events](crate::orders) with the belief of the monitor after it.
//!
//! The orders themselves are the engine's; here is what only the monitor asks of one: instants by which a waiting label
//! must have happened, and the reason why one cannot have happened.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;

use super::Forbidden;
use super::belief::CourseBelief;
use crate::cx::Ctx;
use crate::orders::{EventOrder, WaitingLabel};
use crate::state::SymState;

/// One order of events.
pub(super) type EventCourse = EventOrder<CourseBelief>;

impl EventCourse {
    /// Returns whether, `by` seconds from now, an input was given so long ago that it must have been taken, or a
    /// message seen so long ago that every message sent before it has arrived.
    pub(super) fn has_expired(&self, by: &Rational) -> bool {
        let is_over = |waiting: &WaitingLabel| {
            let given = waiting.given.as_ref();
            given
                .zip(self.state.as_timed())
                .is_some_and(|(given, course)| course.has_expired(given, waiting.is_held, by))
        };
        self.waiting().iter().any(is_over)
    }

    /// Returns whether no waiting label must have happened by now.
    pub(super) fn is_timely(&self) -> bool {
        !self.has_expired(&Rational::ZERO)
    }

    /// Gives up the belief and the waiting labels: from now on everything is allowed.
    pub(super) fn give_up_belief(&mut self) {
        self.forget_waiting();
        self.state.give_up_belief();
    }

    /// Returns the course whose belief is `state`, closed under internal steps; `None` in a timed model.
    pub(super) fn with_state(&self, cx: &mut Ctx<'_>, state: SymState) -> Option<Self> {
        let mut next = self.clone();
        next.state = self.state.with_state(cx, state)?;
        Some(next)
    }

    /// Returns the reason why the first held message cannot have been sent or, if none is held, why an input under way
    /// cannot have been taken: the system had to speak before it. `None` if nothing speaks against what waits.
    pub(super) fn first_refusal(
        &self,
        cx: &mut Ctx<'_>,
        relation: ConformanceRelation,
    ) -> Option<Box<Forbidden>> {
        let mut refuse =
            |it: &WaitingLabel| self.state.explain_refusal(cx, &it.label, it.given.as_ref(), relation);
        match self.first_held() {
            Some(held) => {
                let refused = refuse(held)?;
                Some(Box::new(Forbidden { held: Some(held.id), ..*refused }))
            }
            // Inputs are never wrong, but one that cannot have been taken shows that an output was due before it.
            None => self.waiting().first().and_then(refuse),
        }
    }

    /// Returns whether the specification mentions this input; true while a label waits, as other courses decide then.
    pub(super) fn accepts(&self, cx: &mut Ctx<'_>, label: &Label, relation: ConformanceRelation) -> bool {
        // Where something is under way, the courses in which it was taken are believed too, and are asked.
        !self.is_settled() || self.state.accepts(cx, label, relation)
    }
}

/// Returns the belief after a waiting label has happened; `None` if it cannot have happened then.
pub(super) fn take_waiting(
    cx: &mut Ctx<'_>,
    belief: &CourseBelief,
    waiting: &WaitingLabel,
    relation: ConformanceRelation,
) -> Option<CourseBelief> {
    let mut next = belief.clone();
    next.observe_waiting(cx, &waiting.label, waiting.given.as_ref(), relation).then_some(next)
}
