//! The orders in which inputs and outputs may have happened, for all engines.
//!
//! An input that was written is *under way* until the system takes it, which cannot be seen; a message that was seen
//! may have been sent after one that has not arrived yet, and is then *held*. An [`EventOrder`] is one order: a state
//! after the labels that have happened in it, and the labels that wait. The engine knows nothing of the state but how
//! to ask for the one after a label, so all who follow a system by what is seen of it use the same rules:
//!
//! | who | the state | a label is impossible if |
//! | --- | --- | --- |
//! | the [monitor](crate::Monitor) | the belief, with clocks in a timed model | the specification forbids it |
//! | an observation objective | the belief, and the position in the objective | the specification forbids it |
//! | a suspected mutant | its concrete states | the mutant certainly cannot show it |
//!
//! *The rules.* With `a` given or seen before `b`, `a` happened first
//! - if both are inputs, or both are messages, of one lane;
//! - if `a` was seen and `b` was given: the system took the input after the tester gave it;
//! - if `a` was known to have happened when `b` came: it could not be held, it was confirmed, or a message seen by then
//!   (`b` itself, perhaps) answers an input of its lane; and if `b` is silence.
//!
//! Every other pair may have happened either way. The random test in `tests/it/orders.rs` compares the engine with the
//! enumeration of all sequences that keep these rules.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;

/// The route by which a message arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arrival {
    /// On the only connection and lane, after everything that was sent before it.
    #[default]
    Direct,
    /// As the answer to the input of this lane, while `others` lanes have no answer yet.
    Answer {
        /// The lane.
        lane: u32,
        /// The number of outstanding answers, which may have been sent before this one.
        others: usize,
    },
    /// On one of several connections, whose messages may arrive in another order than they were sent.
    Crossing(Crossing),
}

/// The arrival of a message on one of several connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crossing {
    /// The connection.
    pub connection: u32,
    /// The lane on it: messages of one lane arrive in the order they were sent.
    pub lane: u32,
    /// True if this is the answer to the input of this lane, which was thus taken.
    pub is_answer: bool,
    /// The number of outstanding answers on the same connection, which may have been sent before this one.
    pub others: usize,
    /// True if this is the end of the connection: inputs under way on it may be lost.
    pub is_end: bool,
}

impl Arrival {
    /// Returns the lane; the only one, number 0, of a message that came directly.
    #[must_use]
    pub fn lane(self) -> u32 {
        match self {
            Self::Direct => 0,
            Self::Answer { lane, .. } | Self::Crossing(Crossing { lane, .. }) => lane,
        }
    }

    /// Returns the lane whose inputs were taken before this message was sent; `None` if it answers no input.
    #[must_use]
    pub fn answered_lane(self) -> Option<u32> {
        match self {
            Self::Answer { lane, .. } | Self::Crossing(Crossing { lane, is_answer: true, .. }) => Some(lane),
            Self::Direct | Self::Crossing(Crossing { is_answer: false, .. }) => None,
        }
    }

    /// Returns whether a message that is still to come may have been sent before this one.
    #[must_use]
    pub fn may_overtake(self) -> bool {
        match self {
            Self::Direct => false,
            // Without another outstanding answer nothing can have been sent before this one.
            Self::Answer { others, .. } => others > 0,
            Self::Crossing(_) => true,
        }
    }
}

/// A label that has not happened yet in some order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingLabel {
    /// A number of its own, which grows as labels are given and seen.
    pub id: u64,
    /// The lane.
    pub lane: u32,
    /// The label.
    pub label: Label,
    /// True if the message was seen, but may have been sent after one not seen yet; false for an input under way.
    pub is_held: bool,
    /// The instant at which it was given or seen, where instants matter.
    pub given: Option<Rational>,
}

impl WaitingLabel {
    /// Makes an input under way, in a model without clocks.
    #[must_use]
    pub fn input(id: u64, lane: u32, label: Label) -> Self {
        Self { id, lane, label, is_held: false, given: None }
    }
}

/// One order of events.
#[derive(Clone, Debug, PartialEq)]
pub struct EventOrder<S> {
    /// The state after the labels that have happened.
    pub state: S,
    /// Inputs not taken yet and messages not explained yet, in the order they were given and seen.
    waiting: Vec<WaitingLabel>,
}

impl<S> EventOrder<S> {
    /// Makes an order in which nothing waits.
    pub fn new(state: S) -> Self {
        Self { state, waiting: Vec::new() }
    }

    /// Adds a label that waits, the youngest of all.
    pub fn push(&mut self, waiting: WaitingLabel) {
        debug_assert!(self.waiting.last().is_none_or(|last| last.id < waiting.id), "numbers grow");
        self.waiting.push(waiting);
    }

    /// Returns the labels that wait, the oldest first.
    #[must_use]
    pub fn waiting(&self) -> &[WaitingLabel] {
        &self.waiting
    }

    /// Lets no label wait any more.
    pub(crate) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    /// Returns the number of waiting labels.
    #[must_use]
    pub fn count_waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns the number of inputs under way.
    #[must_use]
    pub fn count_pending_inputs(&self) -> usize {
        self.waiting.iter().filter(|waiting| !waiting.is_held).count()
    }

    /// Returns the number of messages held.
    #[must_use]
    pub fn count_held(&self) -> usize {
        self.waiting.len() - self.count_pending_inputs()
    }

    /// Returns whether a message is held.
    #[must_use]
    pub fn has_held(&self) -> bool {
        self.count_held() > 0
    }

    /// Returns the message held for the longest time.
    #[must_use]
    pub fn first_held(&self) -> Option<&WaitingLabel> {
        self.waiting.iter().find(|waiting| waiting.is_held)
    }

    /// Returns whether no label waits.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Returns whether the label with this number has not happened yet.
    #[must_use]
    pub fn waits_for(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.id == id)
    }

    /// Returns whether an input of `lane` was not taken yet.
    #[must_use]
    pub fn waits_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|waiting| waiting.lane == lane && !waiting.is_held)
    }

    /// Returns whether a message of `lane` is held.
    #[must_use]
    pub fn holds_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|waiting| waiting.lane == lane && waiting.is_held)
    }

    /// Returns whether a message is held that was seen no later than the label number `id`.
    #[must_use]
    pub fn holds_since(&self, id: u64) -> bool {
        self.waiting.iter().any(|waiting| waiting.is_held && waiting.id <= id)
    }

    /// Returns whether a message that comes by `arrival` may be the next event of this order.
    #[must_use]
    pub fn may_happen_next(&self, arrival: Arrival) -> bool {
        // An earlier message of the same lane that is still held was sent before it.
        self.may_be_held_or_next(arrival) && (arrival == Arrival::Direct || !self.holds_on(arrival.lane()))
    }

    /// Returns whether a message that comes by `arrival` may wait in this order for one that was sent before it.
    #[must_use]
    pub fn may_hold(&self, arrival: Arrival) -> bool {
        arrival.may_overtake() && self.may_be_held_or_next(arrival)
    }

    /// An answer proves that its input was taken: orders in which the input still waits are wrong.
    fn may_be_held_or_next(&self, arrival: Arrival) -> bool {
        arrival.answered_lane().is_none_or(|lane| !self.waits_on(lane))
    }

    /// Returns the positions of the labels that may happen next: the first of every lane. A message seen before an
    /// input was given was sent before it was taken; an input given before a message was seen may be taken after it was
    /// sent.
    pub(crate) fn next_positions(&self) -> Vec<usize> {
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

    /// Returns the order in which the label at `at` happened; `None` if `happen` finds it impossible.
    fn take_waiting(
        &self,
        at: usize,
        happen: &mut impl FnMut(&S, &WaitingLabel) -> Option<S>,
    ) -> Option<Self> {
        debug_assert!(self.next_positions().contains(&at), "a label that waits behind another");
        let state = happen(&self.state, &self.waiting[at])?;
        let mut waiting = self.waiting.clone();
        waiting.remove(at);
        Some(Self { state, waiting })
    }
}

impl<S: Clone> EventOrder<S> {
    /// Returns this order with one more label that waits.
    #[must_use]
    pub fn with_waiting(&self, waiting: WaitingLabel) -> Self {
        let mut next = self.clone();
        next.push(waiting);
        next
    }

    /// Returns the order without the inputs under way on the lanes that are `gone`: they are lost.
    #[must_use]
    pub fn without_lanes(&self, gone: &impl Fn(u32) -> bool) -> Self {
        let is_left = |waiting: &&WaitingLabel| waiting.is_held || !gone(waiting.lane);
        Self { state: self.state.clone(), waiting: self.waiting.iter().filter(is_left).cloned().collect() }
    }
}

/// The result of [`close_orders`].
pub struct ClosedOrders<S> {
    /// The orders.
    pub orders: Vec<EventOrder<S>>,
    /// True if there are no others; false if the limit was reached.
    pub is_all: bool,
}

/// Adds every order in which more of the waiting labels have happened, up to `max` orders. `happen` returns the state
/// after a label; `None` if it is impossible there. `join` adds to a state what an equal one has besides, and returns
/// whether that changed it.
pub fn close_orders<S: PartialEq>(
    mut todo: Vec<EventOrder<S>>,
    max: usize,
    mut happen: impl FnMut(&S, &WaitingLabel) -> Option<S>,
    join: impl Fn(&mut S, &S) -> bool,
) -> ClosedOrders<S> {
    let mut orders: Vec<EventOrder<S>> = Vec::new();
    while let Some(order) = todo.pop() {
        // Two orders of independent labels lead to the same state; it is followed once, or again if it has changed.
        let at = match orders.iter().position(|known| *known == order) {
            Some(at) if join(&mut orders[at].state, &order.state) => at,
            Some(_) => continue,
            None if orders.len() >= max => return ClosedOrders { orders, is_all: false },
            None => {
                orders.push(order);
                orders.len() - 1
            }
        };
        let order = &orders[at];
        let positions = order.next_positions().into_iter();
        todo.extend(positions.filter_map(|at| order.take_waiting(at, &mut happen)));
    }
    ClosedOrders { orders, is_all: true }
}

/// All orders of what was given and seen so far, for those who only ask what is possible.
///
/// The monitor keeps its orders itself: it has to say why an order ends, when a held message is overdue, and which of
/// several connections can still owe one. Here a message on one of several connections is always held as well, which
/// gives more orders than the monitor has, never fewer.
#[derive(Clone, Debug)]
pub struct EventOrders<S> {
    orders: Vec<EventOrder<S>>,
    /// The greatest number of orders.
    max: usize,
    is_all: bool,
    /// True once a connection has ended: inputs under way may be lost.
    has_ended: bool,
}

impl<S: Clone + PartialEq> EventOrders<S> {
    /// Makes the one order before the first label; at most `max` will be followed.
    pub fn new(state: S, max: usize) -> Self {
        Self { orders: vec![EventOrder::new(state)], max, is_all: true, has_ended: false }
    }

    /// Returns the orders; none if the labels are possible in no order.
    #[must_use]
    pub fn orders(&self) -> &[EventOrder<S>] {
        &self.orders
    }

    /// Returns whether no order is missing because of the limit.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.is_all
    }

    /// Keeps the orders that `is_possible`.
    pub fn retain(&mut self, is_possible: impl FnMut(&EventOrder<S>) -> bool) {
        self.orders.retain(is_possible);
    }

    /// Records that an input was given; when the system takes it is open.
    pub fn give_input(&mut self, input: &WaitingLabel, happen: impl FnMut(&S, &WaitingLabel) -> Option<S>) {
        debug_assert!(!input.is_held, "an input is under way, not held");
        self.orders.iter_mut().for_each(|order| order.push(input.clone()));
        self.close(happen);
    }

    /// Records that a message came by `arrival`.
    pub fn see_message(
        &mut self,
        id: u64,
        label: &Label,
        arrival: Arrival,
        mut happen: impl FnMut(&S, &WaitingLabel) -> Option<S>,
    ) {
        let message =
            WaitingLabel { id, lane: arrival.lane(), label: label.clone(), is_held: true, given: None };
        let mut next = Vec::new();
        for order in std::mem::take(&mut self.orders) {
            if order.may_hold(arrival) {
                next.push(order.with_waiting(message.clone()));
            }
            if order.may_happen_next(arrival)
                && let Some(state) = happen(&order.state, &message)
            {
                next.push(EventOrder { state, ..order });
            }
        }
        self.orders = next;
        self.has_ended |= matches!(arrival, Arrival::Crossing(Crossing { is_end: true, .. }));
        self.close(happen);
    }

    /// Records that the system was silent: it has taken every input and sent every message.
    pub fn see_silence(&mut self, id: u64, mut happen: impl FnMut(&S, &WaitingLabel) -> Option<S>) {
        let silence = WaitingLabel { id, lane: 0, label: Label::Quiescence, is_held: false, given: None };
        let has_ended = self.has_ended;
        // Whose connection has ended may never take what was sent on it. Lanes do not say here which connection they
        // belong to, so any input may be lost: more orders than there are, never fewer.
        let is_silent = |order: &EventOrder<S>| order.is_settled() || has_ended && !order.has_held();
        self.orders.retain(is_silent);
        self.orders = std::mem::take(&mut self.orders)
            .into_iter()
            .filter_map(|order| Some(EventOrder { state: happen(&order.state, &silence)?, ..order }))
            .collect();
        self.close(happen);
    }

    /// Adds the orders in which more of the waiting labels have happened; `happen` returns the state after one, `None`
    /// if it is not possible.
    fn close(&mut self, happen: impl FnMut(&S, &WaitingLabel) -> Option<S>) {
        let closed = close_orders(std::mem::take(&mut self.orders), self.max, happen, |_, _| false);
        self.orders = closed.orders;
        // Once orders are missing, their continuations are missing for good.
        self.is_all &= closed.is_all;
    }
}
