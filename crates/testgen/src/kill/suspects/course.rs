//! The states of a suspect after the labels of a run, whenever its inputs were taken.
//!
//! An input that was written, but not confirmed, may have been taken after messages that were seen later than it was
//! sent. Every such [order](EventOrders) is followed; where there are too many, or messages crossed, the states are no
//! longer all.
//!
//! The trace of a run does not say on which lanes its inputs were sent. Each has a lane of its own here, so they may
//! have been taken in any order: more orders than there are, and a suspect that shows a label in none of them cannot
//! show it.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::sts::Sts;
use ioxide_symex::{Arrival, Ctx, EventOrders, WaitingLabel};

use crate::conform::{ReplayedStates, concrete_after, concrete_start};

/// The orders of a run that are followed in one suspect; where there are more, it is not ruled out in this run. Chosen
/// by feel: three unconfirmed inputs have 16, and every order costs the states of the suspect once more.
const MAX_ORDERS: usize = 16;

/// The states that a suspect may be in.
#[derive(Clone, Debug)]
pub(super) struct SuspectCourse {
    orders: EventOrders<ReplayedStates>,
    /// The states that the suspect is in if all inputs were taken: over all orders in which nothing waits.
    settled: BTreeSet<ConcreteState>,
    /// True if the labels may have happened in an order that is not followed.
    is_doubtful: bool,
    /// The number of labels followed.
    labels: u32,
}

impl Default for SuspectCourse {
    /// No states, which are not all: nothing is known before a run starts.
    fn default() -> Self {
        Self::in_states(ReplayedStates::default())
    }
}

impl SuspectCourse {
    /// The states before the first label.
    pub fn start(cx: &Ctx<'_>, system: &Sts) -> Self {
        Self::in_states(concrete_start(cx, system))
    }

    fn in_states(start: ReplayedStates) -> Self {
        let settled = start.states.clone();
        Self { orders: EventOrders::new(start, MAX_ORDERS), settled, is_doubtful: false, labels: 0 }
    }

    /// The states if all inputs were taken.
    pub fn states(&self) -> &BTreeSet<ConcreteState> {
        &self.settled
    }

    /// Notes that the labels may have happened in an order that is not followed.
    pub fn doubt(&mut self) {
        self.is_doubtful = true;
    }

    /// Follows an input, which the suspect has taken by now if that `is_confirmed`. An input shows nothing: no suspect
    /// is impossible because of it.
    pub fn follow_input(&mut self, cx: &mut Ctx<'_>, system: &Sts, label: &Label, is_confirmed: bool) {
        let id = self.next_number();
        let input = WaitingLabel::input(u64::from(id), id, label.clone());
        self.orders.give_input(&input, |states, event| Some(take_label(cx, system, states, &event.label)));
        if is_confirmed {
            self.orders.retain(|order| !order.waits_for(input.id));
        }
        self.note_orders();
    }

    /// Follows an observation; returns whether the suspect cannot show it.
    pub fn follow_observation(&mut self, cx: &mut Ctx<'_>, system: &Sts, label: &Label) -> bool {
        let id = u64::from(self.next_number());
        let happen = |states: &ReplayedStates, event: &WaitingLabel| {
            let next = take_label(cx, system, states, &event.label);
            (!next.is_impossible()).then_some(next)
        };
        match label {
            // Who is silent has taken everything.
            Label::Quiescence => self.orders.see_silence(id, happen),
            _ => self.orders.see_message(id, label, Arrival::Direct, happen),
        }
        self.note_orders();
        self.orders.orders().is_empty() && !self.is_doubtful
    }

    fn next_number(&mut self) -> u32 {
        self.labels += 1;
        self.labels
    }

    /// Collects the states of the orders in which nothing waits, and notes whether orders are missing.
    fn note_orders(&mut self) {
        self.is_doubtful |= !self.orders.is_all();
        let settled = self.orders.orders().iter().filter(|order| order.is_settled());
        self.settled = settled.flat_map(|order| order.state.states.iter().cloned()).collect();
    }
}

/// Returns the states after a label.
fn take_label(cx: &mut Ctx<'_>, system: &Sts, states: &ReplayedStates, label: &Label) -> ReplayedStates {
    let mut next = concrete_after(cx, system, states, label);
    if matches!(label, Label::Input(..)) && next.states.is_empty() {
        // No state took the input, not even by ignoring it: that nothing follows is not shown by anything seen.
        next.is_all = false;
    }
    next
}
