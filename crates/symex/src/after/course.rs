//! A course: one order in which the labels may have happened, and the labels that wait.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;

use super::Forbidden;
use super::single::CourseBelief;
use crate::cx::Ctx;
use crate::state::SymState;

/// One order of events.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EventCourse {
    /// The belief after the labels that have happened.
    pub single: CourseBelief,
    /// Inputs not taken yet and messages not explained yet, in the order they were sent and seen.
    waiting: Vec<WaitingLabel>,
}

/// A label that has not happened yet in this course.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitingLabel {
    pub id: u64,
    pub lane: u32,
    pub label: Label,
    /// True if the message was seen, but may have been sent after one not seen yet; false for an input under way.
    pub is_held: bool,
    /// The instant at which it was given or seen, in a timed model.
    pub given: Option<Rational>,
}

impl EventCourse {
    /// Makes a course without waiting labels.
    pub(super) fn new(single: CourseBelief) -> Self {
        Self { single, waiting: Vec::new() }
    }

    pub(super) fn push(&mut self, waiting: WaitingLabel) {
        self.waiting.push(waiting);
    }

    /// Returns the number of waiting labels.
    pub(super) fn count_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of inputs under way.
    pub(super) fn count_pending_inputs(&self) -> usize {
        self.waiting.iter().filter(|waiting| !waiting.is_held).count()
    }

    /// Returns the number of messages held.
    pub(super) fn n_held(&self) -> usize {
        self.waiting.len() - self.count_pending_inputs()
    }

    /// Returns the message held for the longest time.
    pub(super) fn first_held(&self) -> Option<&WaitingLabel> {
        self.waiting.iter().find(|waiting| waiting.is_held)
    }

    /// Returns whether no label waits.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn waits_for(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.id == id)
    }

    /// Returns whether an input of `lane` was not taken yet.
    pub(super) fn waits_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|waiting| waiting.lane == lane && !waiting.is_held)
    }

    /// Returns whether a message of `lane` is held.
    pub(super) fn holds_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|waiting| waiting.lane == lane && waiting.is_held)
    }

    /// Returns whether a message is held that was seen no later than the label number `id`.
    pub(super) fn holds_since(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.is_held && waiting.id <= id)
    }

    /// Returns the course without the inputs under way on the lanes that are `gone`.
    pub(super) fn without_lanes(&self, gone: &impl Fn(u32) -> bool) -> Self {
        let is_left = |waiting: &&WaitingLabel| waiting.is_held || !gone(waiting.lane);
        Self { single: self.single.clone(), waiting: self.waiting.iter().filter(is_left).cloned().collect() }
    }

    /// Returns whether a message is held.
    pub(super) fn has_held(&self) -> bool {
        self.n_held() > 0
    }

    /// Returns whether, `by` seconds from now, an input was given so long ago that it must have been taken, or a
    /// message seen so long ago that every message sent before it has arrived.
    pub(super) fn has_expired(&self, by: &Rational) -> bool {
        let is_over = |waiting: &WaitingLabel| {
            let given = waiting.given.as_ref();
            given
                .zip(self.single.as_timed())
                .is_some_and(|(given, course)| course.has_expired(given, waiting.is_held, by))
        };
        self.waiting.iter().any(is_over)
    }

    /// Returns whether no waiting label must have happened by now.
    pub(super) fn is_timely(&self) -> bool {
        !self.has_expired(&Rational::ZERO)
    }

    /// Gives up the belief and the waiting labels: from now on everything is allowed.
    pub(super) fn give_up_belief(&mut self) {
        self.waiting.clear();
        self.single.give_up_belief();
    }

    /// Returns the positions of the labels that may happen next: the first of every lane. A message seen before an
    /// input was given was sent before it was taken; an input given before a message was seen may be taken after it was
    /// sent.
    pub(super) fn next_positions(&self) -> Vec<usize> {
        let is_first = |at: &usize| {
            let this = &self.waiting[*at];
            let is_free = |before: &WaitingLabel| match (before.is_held, this.is_held) {
                // Held before given: the message was sent before the input could be taken.
                (true, false) => false,
                // Given before held: the system may have sent the message before it took the input.
                (false, true) => true,
                (true, true) | (false, false) => before.lane != this.lane,
            };
            self.waiting[..*at].iter().all(is_free)
        };
        (0..self.waiting.len()).filter(is_first).collect()
    }

    /// Returns the course in which the label at `at` happened; `None` if it cannot have happened then.
    pub(super) fn take_waiting(
        &self,
        cx: &mut Ctx<'_>,
        at: usize,
        relation: ConformanceRelation,
    ) -> Option<Self> {
        let mut next = self.clone();
        debug_assert!(self.next_positions().contains(&at), "a label that waits behind another of its lane");
        let WaitingLabel { label, given, .. } = next.waiting.remove(at);
        next.single.take_back(cx, &label, given.as_ref(), relation).then_some(next)
    }

    /// Returns the course whose belief is `state`, closed under internal steps; `None` in a timed model.
    pub(super) fn with_state(&self, cx: &mut Ctx<'_>, state: SymState) -> Option<Self> {
        Some(Self { single: self.single.with_state(cx, state)?, waiting: self.waiting.clone() })
    }

    /// Returns the reason why the first held message cannot have been sent or, if none is held, why an input under way
    /// cannot have been taken: the system had to speak before it. `None` if nothing speaks against what waits.
    pub(super) fn first_refusal(
        &self,
        cx: &mut Ctx<'_>,
        relation: ConformanceRelation,
    ) -> Option<Box<Forbidden>> {
        let mut refuse =
            |it: &WaitingLabel| self.single.explain_refusal(cx, &it.label, it.given.as_ref(), relation);
        match self.first_held() {
            Some(held) => {
                let refused = refuse(held)?;
                Some(Box::new(Forbidden { held: Some(held.id), ..*refused }))
            }
            // Inputs are never wrong, but one that cannot have been taken shows that an output was due before it.
            None => self.waiting.first().and_then(refuse),
        }
    }

    /// Returns whether the specification mentions this input; true while a label waits, as other courses decide then.
    pub(super) fn accepts(&self, cx: &mut Ctx<'_>, label: &Label, relation: ConformanceRelation) -> bool {
        // Where something is under way, the courses in which it was taken are believed too, and are asked.
        !self.waiting.is_empty() || self.single.accepts(cx, label, relation)
    }
}
