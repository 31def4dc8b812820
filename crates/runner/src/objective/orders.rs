//! The decision whether a trace is in an objective, whichever way its messages crossed.
//!
//! An input that was only sent may have been taken later than other messages came, and messages of several
//! connections may have been sent in another order than they came. Every order that the specification allows
//! is tried, one world each: where the objective is after it, where the specification is, and what has still to
//! happen. A trace is inside if it is in every order; so whatever happened, what is judged was to be judged.
//!
//! The worlds are made from the whole trace, and only when somebody is about to be blamed.

use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_symex::{Arrival, Ctx, Monitor};

use super::{Objective, ObjectiveWatch};

/// Worlds that are kept; where there are more, whether the trace is inside is not known.
const MAX_WORLDS: usize = 256;

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

/// One order of events.
#[derive(Clone)]
struct EventOrder {
    watch: ObjectiveWatch,
    monitor: Monitor,
    waiting: Vec<WaitingTurn>,
}

/// A label whose turn has not come.
#[derive(Clone, PartialEq)]
struct WaitingTurn {
    at: usize,
    lane: u32,
    label: Label,
    is_held: bool,
}

/// Returns whether every order of `labels` is in `objective`; `None` if that is not known.
pub fn is_inside(
    cx: &mut Ctx<'_>,
    objective: &Objective,
    labels: &[(Label, LabelOrigin)],
    relation: ConformanceRelation,
) -> Option<bool> {
    let monitor = Monitor::new(cx).with_relation(relation);
    let mut worlds = EventOrders {
        objective,
        all: vec![EventOrder { watch: ObjectiveWatch::default(), monitor, waiting: Vec::new() }],
    };
    for (at, (label, happened)) in labels.iter().enumerate() {
        worlds.all.retain(|world| !world.waits_for_one_of(labels, at));
        worlds.add(cx, at, label, *happened);
        worlds.add_orders(cx)?;
    }
    worlds.all.retain(|world| !world.waits_for_one_of(labels, labels.len()));
    let mut inside = Some(!worlds.all.is_empty());
    for world in &mut worlds.all {
        let doubts = world.watch.doubts();
        let is_inside = world.watch.is_inside(cx, objective, world.monitor.belief());
        match (is_inside, world.watch.doubts() > doubts) {
            (true, _) => (),
            (false, true) => inside = None,
            (false, false) => return Some(false),
        }
    }
    inside
}

/// All orders that are believed.
struct EventOrders<'o> {
    objective: &'o Objective,
    all: Vec<EventOrder>,
}

impl EventOrders<'_> {
    fn add(&mut self, cx: &mut Ctx<'_>, at: usize, label: &Label, happened: LabelOrigin) {
        let before = std::mem::take(&mut self.all);
        for world in before {
            match happened {
                LabelOrigin::Sent { lane, .. } => self.all.push(world.with_waiting(at, lane, label, false)),
                LabelOrigin::Came(Arrival::Answer { lane, others }) if !world.waits_on(lane) => {
                    if others > 0 {
                        self.all.push(world.with_waiting(at, lane, label, true));
                    }
                    self.all.extend(world.after_label(cx, self.objective, label));
                }
                LabelOrigin::Came(Arrival::Crossing(way)) if !(way.is_answer && world.waits_on(way.lane)) => {
                    self.all.push(world.with_waiting(at, way.lane, label, true));
                    if !world.holds_on(way.lane) {
                        self.all.extend(world.after_label(cx, self.objective, label));
                    }
                }
                LabelOrigin::Came(Arrival::Answer { .. } | Arrival::Crossing(_)) => (),
                LabelOrigin::Now if *label == Label::Quiescence && !world.waiting.is_empty() => (),
                LabelOrigin::Now | LabelOrigin::Came(Arrival::Direct) => {
                    self.all.extend(world.after_label(cx, self.objective, label));
                }
            }
        }
    }

    /// Adds the orders in which more of the waiting labels have happened.
    fn add_orders(&mut self, cx: &mut Ctx<'_>) -> Option<()> {
        let mut done: Vec<EventOrder> = Vec::new();
        let mut todo = std::mem::take(&mut self.all);
        while let Some(world) = todo.pop() {
            if done.iter().any(|other| other.is_same(&world)) {
                continue;
            }
            if done.len() >= MAX_WORLDS {
                return None;
            }
            todo.extend(world.heads().into_iter().filter_map(|at| world.taking(cx, self.objective, at)));
            done.push(world);
        }
        self.all = done;
        Some(())
    }
}

impl EventOrder {
    fn is_same(&self, other: &Self) -> bool {
        self.waiting == other.waiting && self.monitor == other.monitor && self.watch.is_same(&other.watch)
    }

    /// Returns this order with one more label that waits.
    fn with_waiting(&self, at: usize, lane: u32, label: &Label, is_held: bool) -> Self {
        let mut next = self.clone();
        next.waiting.push(WaitingTurn { at, lane, label: label.clone(), is_held });
        next
    }

    /// Returns the order after `label`; `None` if the specification does not allow it.
    fn after_label(&self, cx: &mut Ctx<'_>, objective: &Objective, label: &Label) -> Option<Self> {
        let mut next = self.clone();
        next.watch.advance(cx, objective, label);
        next.monitor.observe(cx, label).ok()?;
        Some(next)
    }

    /// Returns the positions of the waiting labels that may happen next, as in the monitor.
    fn heads(&self) -> Vec<usize> {
        let is_first = |at: &usize| {
            let this = &self.waiting[*at];
            self.waiting[..*at].iter().all(|before| match (before.is_held, this.is_held) {
                (true, false) => false,
                (false, true) => true,
                (true, true) | (false, false) => before.lane != this.lane,
            })
        };
        (0..self.waiting.len()).filter(is_first).collect()
    }

    fn taking(&self, cx: &mut Ctx<'_>, objective: &Objective, at: usize) -> Option<Self> {
        let mut next = self.clone();
        let turn = next.waiting.remove(at);
        next.after_label(cx, objective, &turn.label)
    }

    fn waits_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|turn| turn.lane == lane && !turn.is_held)
    }

    fn holds_on(&self, lane: u32) -> bool {
        self.waiting.iter().any(|turn| turn.lane == lane && turn.is_held)
    }

    /// Returns whether an input waits that was confirmed when the trace had at most `n` labels.
    fn waits_for_one_of(&self, labels: &[(Label, LabelOrigin)], n: usize) -> bool {
        self.waiting.iter().any(|turn| match labels[turn.at].1 {
            LabelOrigin::Sent { confirmed: Some(when), .. } => when <= n,
            _ => false,
        })
    }
}
