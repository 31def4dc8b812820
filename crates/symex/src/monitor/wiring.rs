//! The connections of a system that has several, by message.
//!
//! A message that arrived on one connection may have been sent after one that another connection has not delivered yet.
//! That is believed only if the specification allows such a message: every other event that could come first (an input
//! under way, an internal step, a held message) has a course, or a state of the belief, of its own. A message of an
//! array of parts comes by the connection of the instance that its first field names.

use ioxide_model::concrete::ConcreteState;
use ioxide_model::index::Idx;
use ioxide_model::label::Label;
use ioxide_model::number::Int;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, Switch, SwitchId};
use ioxide_model::term::{Substitution, TermNode, TermPool, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;

use super::Belief;
use super::course::EventCourse;
use super::timed::TimedCourse;
use crate::cx::Ctx;
use crate::quiescence::can_react_in;
use crate::state::SymState;

/// The connection that a message comes by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MessageRoute {
    /// Any connection.
    Any,
    /// This connection.
    One(u32),
    /// The connection of the instance that the first field of the message names, by index.
    FirstField(Vec<(i64, u32)>),
}

impl MessageRoute {
    /// Returns the connection of a message whose first field has this value; `None` if it is not determined.
    fn connection_for(&self, first: Option<i64>) -> Option<u32> {
        match self {
            Self::Any => None,
            Self::One(connection) => Some(*connection),
            Self::FirstField(instances) => {
                let own = instances.iter().find(|(index, _)| Some(*index) == first);
                own.map(|(_, connection)| *connection)
            }
        }
    }
}

/// The connections of a system, by message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionWiring {
    /// The number of connections, at least 1.
    connections: u32,
    /// The route of every gate.
    of: Vec<MessageRoute>,
    /// The connection of every switch; `None` if it is not determined.
    of_switch: Vec<Option<u32>>,
}

impl ConnectionWiring {
    /// Makes the wiring in which `of` gives the route of each gate of `sts`.
    pub fn new(pool: &TermPool, sts: &Sts, connections: u32, of: impl Fn(GateId) -> MessageRoute) -> Self {
        let of: Vec<MessageRoute> = sts.gates.iter_enumerated().map(|(gate, _)| of(gate)).collect();
        let of_switch = |switch: &Switch| {
            let first = sts.gates[switch.gate].fields.first();
            of[switch.gate.index()]
                .connection_for(first.and_then(|&field| pinned_integer(pool, switch, field)))
        };
        let of_switch = sts.switches.iter().map(of_switch).collect();
        Self { connections: connections.max(1), of, of_switch }
    }

    /// Returns the connection of a message; `None` if it is not determined, or `label` is not a message.
    #[must_use]
    pub fn connection_of_label(&self, label: &Label) -> Option<u32> {
        let (Label::Input(gate, args) | Label::Output(gate, args)) = label else { return None };
        let first = args.first().and_then(Value::as_int).and_then(Int::to_i64);
        self.of.get(gate.index())?.connection_for(first)
    }

    /// Returns the connection of the messages of a switch; `None` if it is not determined.
    fn connection_of(&self, switch: SwitchId) -> Option<u32> {
        self.of_switch.get(switch.index()).copied().flatten()
    }

    /// Returns the number, among the lanes of all connections, of `lane` of `connection`; lane 0 has the number of its
    /// connection.
    #[must_use]
    pub fn global_lane(&self, connection: u32, lane: u32) -> u32 {
        // Lanes of all connections are numbered in turn, so that `is_of` finds the connection by the remainder.
        lane.wrapping_mul(self.connections).wrapping_add(connection)
    }

    /// Returns whether `lane` belongs to `connection`.
    #[must_use]
    pub fn is_of(&self, lane: u32, connection: u32) -> bool {
        lane % self.connections == connection
    }

    /// Returns whether, after `course`, another connection than `connection` may have a message that was sent but not
    /// delivered.
    pub(super) fn may_owe_message(&self, cx: &mut Ctx<'_>, course: &EventCourse, connection: u32) -> bool {
        // An earlier message may have been sent at any instant since the last one, so time starts there.
        if let Some(entry) = course.state.as_timed().map(TimedCourse::entry_belief) {
            return self.owes_in_time(cx, entry, course, connection);
        }
        match course.state.belief() {
            Belief::Unspecified => true,
            Belief::Concrete(states) => {
                states.iter().any(|state| self.owes_from(cx, state.loc, Some(state), course, connection))
            }
            Belief::Symbolic(states) => {
                states.iter().any(|state| self.owes_from(cx, state.loc, None, course, connection))
            }
        }
    }

    /// Decides [`may_owe_message`](Self::may_owe_message) in a timed model, from the states just after the last
    /// message, at any instant since: every switch counts that no value of a variable excludes, and an internal step
    /// may lead to any message.
    fn owes_in_time(&self, cx: &mut Ctx<'_>, entry: &Belief, course: &EventCourse, connection: u32) -> bool {
        let states: Vec<SymState> = match entry {
            Belief::Unspecified => return true,
            Belief::Concrete(states) => {
                states.iter().filter_map(|state| SymState::from_concrete(cx, state)).collect()
            }
            Belief::Symbolic(states) => states.clone(),
        };
        states.iter().any(|state| self.owes_some_time(cx, state, course, connection))
    }

    fn owes_some_time(
        &self,
        cx: &mut Ctx<'_>,
        state: &SymState,
        course: &EventCourse,
        connection: u32,
    ) -> bool {
        let sts = cx.sts;
        let is_clock = |var: VarId| sts.clocks.iter().any(|clock| clock.var == var);
        // Clocks stay open on purpose: their values at the unknown instant of sending are not known.
        let known: Substitution = state.store.iter(sts).filter(|(var, _)| !is_clock(*var)).collect();
        sts.switches_from(state.loc).any(|(id, switch)| {
            let kind = sts.kind_of(switch);
            // What an internal step leads to is not explored: it may lead to a message of another connection.
            let matters =
                kind == GateKind::Internal || is_seen(kind) && self.is_elsewhere(id, course, connection);
            matters && {
                let guard = cx.pool.substitute(switch.guard, &known);
                guard != cx.pool.bool(false)
            }
        })
    }

    /// Returns whether the messages of a switch may come by another connection than `connection`, on which none is
    /// held.
    fn is_elsewhere(&self, switch: SwitchId, course: &EventCourse, connection: u32) -> bool {
        self.connection_of(switch).is_none_or(|other| other != connection && !course.holds_on(other))
    }

    /// Returns whether the messages of a switch may come by a connection on which none is held.
    pub(super) fn is_free(&self, switch: SwitchId, course: &EventCourse) -> bool {
        self.connection_of(switch).is_none_or(|connection| !course.holds_on(connection))
    }

    fn owes_from(
        &self,
        cx: &mut Ctx<'_>,
        loc: LocId,
        state: Option<&ConcreteState>,
        course: &EventCourse,
        connection: u32,
    ) -> bool {
        let sts = cx.sts;
        sts.switches_from(loc).any(|(id, switch)| {
            is_seen(sts.kind_of(switch))
                && self.is_elsewhere(id, course, connection)
                && state.is_none_or(|state| can_react_in(cx, switch, state) != SolverDecision::Unsat)
        })
    }
}

/// Returns whether the tester sees messages of this kind.
fn is_seen(kind: GateKind) -> bool {
    matches!(kind, GateKind::Output | GateKind::Observed)
}

/// Returns the integer that the guard of `switch` equates `field` with.
fn pinned_integer(pool: &TermPool, switch: &Switch, field: VarId) -> Option<i64> {
    let value = |a, b| match (pool.node(a), pool.node(b)) {
        (TermNode::Var(var), TermNode::Value(value)) if *var == field => value.as_int().and_then(Int::to_i64),
        _ => None,
    };
    pool.conjuncts(switch.guard).into_iter().find_map(|fact| match *pool.node(fact) {
        // Only an equation in a conjunct fixes the field: under a disjunction it may have another value.
        TermNode::Eq(a, b) => value(a, b).or_else(|| value(b, a)),
        _ => None,
    })
}
