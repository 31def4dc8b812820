//! The decision whether a trace is in an objective, whichever way its messages crossed.
//!
//! An input that was only sent may have been taken later than other messages came, and messages of several connections
//! may have been sent in another order than they came. Every [order](EventOrders) that the specification allows is
//! tried: where the objective is after it, and where the specification is. A trace is inside if it is in every order;
//! so whatever happened, what is judged was to be judged.
//!
//! The orders are made from the whole trace, and only when somebody is about to be blamed.

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_symex::{Arrival, Ctx, EventOrder, EventOrders, Monitor, WaitingLabel};

use super::{Objective, ObjectiveWatch};

/// Orders that are kept; where there are more, whether the trace is inside is not known, and nothing is a failure. As
/// many as the monitor follows, and chosen by feel as there: four inputs on lanes of their own have 65.
const MAX_ORDERS: usize = 256;

/// The origin of a label of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelOrigin {
    /// It happened at its position.
    Now,
    /// It was sent at its position on this lane, and taken then or later, at the latest when it was confirmed.
    Sent {
        /// The lane.
        lane: u32,
        /// The number of labels seen when it was confirmed; `None` if it was not.
        confirmed: Option<usize>,
    },
    /// It was seen at its position, and came in this way.
    Came(Arrival),
}

/// The state of the engine: where the objective and the specification are after one order of events.
///
/// Its monitor gets one certain order, so it follows no orders itself.
#[derive(Clone)]
struct ObjectivePosition {
    watch: ObjectiveWatch,
    monitor: Monitor,
}

impl PartialEq for ObjectivePosition {
    /// Equal positions judge every continuation alike; how many questions were left open on the way does not matter.
    fn eq(&self, other: &Self) -> bool {
        self.monitor == other.monitor && self.watch.is_same(&other.watch)
    }
}

impl ObjectivePosition {
    /// Returns the position after `label`; `None` if the specification does not allow it.
    fn after_label(&self, cx: &mut Ctx<'_>, objective: &Objective, label: &Label) -> Option<Self> {
        let mut next = self.clone();
        next.watch.advance(cx, objective, label);
        next.monitor.observe(cx, label).ok()?;
        Some(next)
    }
}

/// Returns whether every order of `labels` is in `objective`; `None` if that is not known.
pub fn is_inside(
    cx: &mut Ctx<'_>,
    objective: &Objective,
    labels: &[(Label, LabelOrigin)],
    relation: ConformanceRelation,
) -> Option<bool> {
    let monitor = Monitor::new(cx).with_relation(relation);
    let start = ObjectivePosition { watch: ObjectiveWatch::default(), monitor };
    let mut orders = EventOrders::new(start, MAX_ORDERS);
    for (at, (label, origin)) in labels.iter().enumerate() {
        // An input whose receipt was confirmed by now has happened, so orders in which it still waits are impossible.
        orders.retain(|order| !waits_for_confirmed(order, labels, at));
        let happen = |position: &ObjectivePosition, event: &WaitingLabel| {
            position.after_label(cx, objective, &event.label)
        };
        let id = at as u64;
        match *origin {
            LabelOrigin::Sent { lane, .. } => {
                orders.give_input(&WaitingLabel::input(id, lane, label.clone()), happen);
            }
            LabelOrigin::Came(arrival) => orders.see_message(id, label, arrival, happen),
            LabelOrigin::Now if *label == Label::Quiescence => orders.see_silence(id, happen),
            LabelOrigin::Now => orders.see_message(id, label, Arrival::Direct, happen),
        }
        if !orders.is_all() {
            return None;
        }
    }
    orders.retain(|order| !waits_for_confirmed(order, labels, labels.len()));
    let mut inside = Some(!orders.orders().is_empty());
    for order in orders.orders() {
        let ObjectivePosition { mut watch, monitor } = order.state.clone();
        let doubts = watch.doubts();
        let is_inside = watch.is_inside(cx, objective, monitor.belief());
        match (is_inside, watch.doubts() > doubts) {
            (true, _) => (),
            // Another order may still be certainly outside, which decides.
            (false, true) => inside = None,
            (false, false) => return Some(false),
        }
    }
    inside
}

/// Returns whether an input waits in `order` that was confirmed when the trace had at most `n` labels.
fn waits_for_confirmed<S>(order: &EventOrder<S>, labels: &[(Label, LabelOrigin)], n: usize) -> bool {
    order.waiting().iter().any(|waiting| match labels[waiting.id as usize].1 {
        LabelOrigin::Sent { confirmed: Some(when), .. } => when <= n,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use ioxide_smt::brute::BruteSolver;
    use ioxide_symex::Crossing;

    use super::*;
    use crate::samples::model;

    /// Defect: an input that was lost with its connection was believed to be taken once the system was silent.
    #[test]
    fn an_input_on_a_connection_that_ended_may_be_lost() {
        let mut spec = model(
            "model M { input stop output closed output bad
                state running { stop: on stop -> running  end: emit closed -> over }
                state over { late: on stop -> over }
                purpose stopped { state s { on stop -> hit  quiet -> miss } } }",
        );
        let objective = Objective::from_goal(&spec.sts.goals[0]).expect("an observer is an objective");
        let gate = |name: &str| spec.sts.gate_named(name).expect("a message");
        let stop = Label::Input(gate("stop"), Vec::new());
        let closed = Label::Output(gate("closed"), Vec::new());
        let mut solver = BruteSolver::new();
        let cx = &mut Ctx::new(&mut spec, &mut solver);
        let mut is_inside_if = |is_end: bool| {
            let way = Crossing { connection: 0, lane: 0, is_answer: false, others: 0, is_end };
            let labels = [
                (stop.clone(), LabelOrigin::Sent { lane: 0, confirmed: None }),
                (closed.clone(), LabelOrigin::Came(Arrival::Crossing(way))),
                (Label::Quiescence, LabelOrigin::Now),
            ];
            is_inside(cx, &objective, &labels, ConformanceRelation::default())
        };
        assert_eq!(is_inside_if(false), Some(true), "silent means that it was taken");
        assert_eq!(is_inside_if(true), Some(false), "it may never have been taken");
    }
}
