//! The semantics of inputs under way, by trying every order from the start: no sharing, nothing incremental.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;

use super::explicit::Explicit;

/// An input sent or confirmed, or a label seen.
#[derive(Clone)]
enum Event {
    Sent(u32, Label),
    /// The last input sent was taken.
    Confirmed,
    Seen(Label),
}

/// One order of events: the belief after it, and the inputs not taken in it.
#[derive(Clone, PartialEq)]
struct World {
    /// The belief; `None` after an input that the specification does not mention.
    belief: Option<BTreeSet<ConcreteState>>,
    pending: Vec<(u32, Label)>,
    /// The labels in the order in which they happened.
    happened: Vec<Label>,
}

/// The events so far.
pub(super) struct Queues<'e> {
    explicit: &'e Explicit,
    events: Vec<Event>,
}

impl<'e> Queues<'e> {
    pub(super) fn new(explicit: &'e Explicit) -> Self {
        Self { explicit, events: Vec::new() }
    }

    pub(super) fn send(&mut self, lane: u32, label: &Label) {
        self.events.push(Event::Sent(lane, label.clone()));
    }

    pub(super) fn confirm_last(&mut self) {
        self.events.push(Event::Confirmed);
    }

    /// Records `label` and returns whether some order allows it.
    pub(super) fn see(&mut self, label: &Label) -> bool {
        self.events.push(Event::Seen(label.clone()));
        !self.worlds().is_empty()
    }

    /// Returns whether some order allows `label`, without recording it.
    pub(super) fn would_see(&mut self, label: &Label) -> bool {
        let is_possible = self.see(label);
        self.events.pop();
        is_possible
    }

    pub(super) fn under_way(&self) -> usize {
        self.worlds().iter().map(|world| world.pending.len()).max().unwrap_or(0)
    }

    pub(super) fn is_open(&self) -> bool {
        self.worlds().iter().any(|world| world.belief.is_none())
    }

    /// Returns the labels in every possible order, those still under way left out.
    pub(super) fn orders(&self) -> Vec<Vec<Label>> {
        self.worlds().into_iter().map(|world| world.happened).collect()
    }

    fn worlds(&self) -> Vec<World> {
        let start =
            World { belief: Some(self.explicit.initial_belief()), pending: Vec::new(), happened: Vec::new() };
        let mut found = Vec::new();
        self.go(start, &self.events, &mut found);
        found
    }

    /// Adds every world that `events` may lead to from `world`; before each of them inputs may be taken.
    fn go(&self, world: World, events: &[Event], found: &mut Vec<World>) {
        for at in 0..world.pending.len() {
            let lane = world.pending[at].0;
            if world.pending[..at].iter().all(|(other, _)| *other != lane) {
                self.go(self.taking(&world, at), events, found);
            }
        }
        let Some((event, rest)) = events.split_first() else {
            if !found.contains(&world) {
                found.push(world);
            }
            return;
        };
        let mut next = world;
        match event {
            Event::Sent(lane, label) => next.pending.push((*lane, label.clone())),
            // Only the last one sent is ever confirmed, and nothing was sent since.
            Event::Confirmed if next.pending.last().is_some_and(|last| self.is_last(last, events)) => return,
            Event::Confirmed => (),
            Event::Seen(Label::Quiescence) if !next.pending.is_empty() => return,
            Event::Seen(label) => {
                next.belief = next.belief.map(|belief| self.explicit.after(&belief, label));
                next.happened.push(label.clone());
                if next.belief.as_ref().is_some_and(BTreeSet::is_empty) {
                    return;
                }
            }
        }
        self.go(next, rest, found);
    }

    /// Returns whether `last` is the input sent just before `events`.
    fn is_last(&self, last: &(u32, Label), events: &[Event]) -> bool {
        let before = &self.events[..self.events.len() - events.len()];
        matches!(before.last(), Some(Event::Sent(lane, label)) if (lane, label) == (&last.0, &last.1))
    }

    fn taking(&self, world: &World, at: usize) -> World {
        let mut next = world.clone();
        let (_, label) = next.pending.remove(at);
        next.belief = next.belief.map(|belief| self.explicit.after(&belief, &label));
        next.happened.push(label);
        next.belief = next.belief.filter(|belief| !belief.is_empty());
        next
    }
}
