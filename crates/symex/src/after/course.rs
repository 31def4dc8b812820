//! One order in which the labels may have happened, and what it has still to take.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::relation::ConformanceRelation;

use super::Forbidden;
use super::single::CourseBelief;
use crate::cx::Ctx;

/// One order of events.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct EventCourse {
    /// The belief after it.
    pub single: CourseBelief,
    /// Inputs not taken yet and messages not explained yet, in the order they were sent and seen.
    waiting: Vec<WaitingLabel>,
}

/// A label whose turn has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WaitingLabel {
    pub id: u64,
    pub lane: u32,
    pub label: Label,
    /// It was seen, and may have been sent after something that was not; else it was given, and is under way.
    pub is_held: bool,
    /// When it was given or seen, in a timed system.
    pub given: Option<Rational>,
}

impl EventCourse {
    /// Nothing is under way.
    pub(super) fn new(single: CourseBelief) -> Self {
        Self { single, waiting: Vec::new() }
    }

    pub(super) fn push(&mut self, waiting: WaitingLabel) {
        self.waiting.push(waiting);
    }

    /// How many labels wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// How many of them are inputs.
    pub(super) fn inputs(&self) -> usize {
        self.waiting.iter().filter(|waiting| !waiting.is_held).count()
    }

    /// Nothing is under way.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn waits_for(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.id == id)
    }

    /// Whether an input of `lane` was not taken yet.
    pub(super) fn waits_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|waiting| waiting.lane == lane && !waiting.is_held)
    }

    /// Whether a message of `lane` is held.
    pub(super) fn holds_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|waiting| waiting.lane == lane && waiting.is_held)
    }

    /// Whether a message is held that was seen no later than the label number `id`.
    pub(super) fn holds_since(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.is_held && waiting.id <= id)
    }

    /// The same without the inputs under way on the lanes that are `gone`.
    pub(super) fn losing(&self, gone: &impl Fn(u32) -> bool) -> Self {
        let is_left = |waiting: &&WaitingLabel| waiting.is_held || !gone(waiting.lane);
        Self { single: self.single.clone(), waiting: self.waiting.iter().filter(is_left).cloned().collect() }
    }

    /// Whether a message is held.
    pub(super) fn holds(&self) -> bool {
        self.inputs() < self.waiting.len()
    }

    /// Whether, once so much more time has passed, an input was given so long ago that it must have been taken, or a
    /// message seen so long ago that whatever was sent before it has come.
    pub(super) fn has_expired(&self, by: &Rational) -> bool {
        let is_over = |waiting: &WaitingLabel| {
            let given = waiting.given.as_ref();
            given
                .zip(self.single.timed())
                .is_some_and(|(given, course)| course.has_expired(given, waiting.is_held, by))
        };
        self.waiting.iter().any(is_over)
    }

    /// Nothing it waits for must have happened by now.
    pub(super) fn is_timely(&self) -> bool {
        !self.has_expired(&Rational::ZERO)
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        self.waiting.clear();
        self.single.forget();
    }

    /// The positions of the labels that may be next: the first of every lane. What was seen before an input was
    /// given came before it; what was given before a message was seen may come after it.
    pub(super) fn heads(&self) -> Vec<usize> {
        let is_first = |at: &usize| {
            let this = &self.waiting[*at];
            let is_free = |before: &WaitingLabel| match (before.is_held, this.is_held) {
                (true, false) => false,
                (false, true) => true,
                (true, true) | (false, false) => before.lane != this.lane,
            };
            self.waiting[..*at].iter().all(is_free)
        };
        (0..self.waiting.len()).filter(is_first).collect()
    }

    /// The course in which the label at `at` had its turn; `None` if it cannot have been then.
    pub(super) fn taking(&self, cx: &mut Ctx<'_>, at: usize, relation: ConformanceRelation) -> Option<Self> {
        let mut next = self.clone();
        let WaitingLabel { label, given, .. } = next.waiting.remove(at);
        next.single.take_back(cx, &label, given.as_ref(), relation).then_some(next)
    }

    /// Why the first message held cannot have come, if one is held and cannot.
    pub(super) fn refusal(&self, cx: &mut Ctx<'_>, relation: ConformanceRelation) -> Option<Box<Forbidden>> {
        let held = self.waiting.iter().find(|waiting| waiting.is_held)?;
        self.single.refusal(cx, &held.label, held.given.as_ref(), relation)
    }

    /// Whether the specification mentions this input once everything under way was taken.
    pub(super) fn accepts(&self, cx: &mut Ctx<'_>, label: &Label, relation: ConformanceRelation) -> bool {
        // Where something is under way, the courses in which it was taken are believed too, and are asked.
        !self.waiting.is_empty() || self.single.accepts(cx, label, relation)
    }
}
