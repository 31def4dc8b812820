//! Which connection every message comes by, where a system has several.
//!
//! A message that came on one connection may have been sent after one that another connection still owes. That is
//! believed only where the specification can say something there: whatever else could come first (an input under
//! way, an internal step, a message held) has a course, or a state of the belief, of its own.

use ioxide_model::concrete::State;
use ioxide_model::index::Idx;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts};
use ioxide_smt::solver::Decision;

use super::Belief;
use super::course::Course;
use crate::cx::Ctx;
use crate::quiescence::can_react_in;

/// The connections of a system, by message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wiring {
    /// How many there are.
    connections: u32,
    /// The connection of every gate; `None` for what may come by any.
    of: Vec<Option<u32>>,
}

impl Wiring {
    /// The connections that `of` gives the gates of `sts`, by name.
    pub fn new(sts: &Sts, connections: u32, of: impl Fn(&str) -> Option<u32>) -> Self {
        Self { connections: connections.max(1), of: sts.gates.iter().map(|gate| of(&gate.name)).collect() }
    }

    /// The connection of a message.
    #[must_use]
    pub fn connection(&self, gate: GateId) -> Option<u32> {
        self.of.get(gate.index()).copied().flatten()
    }

    /// The lane of all connections that `lane` of `connection` is; every connection has a lane 0, with its own number.
    #[must_use]
    pub fn lane(&self, connection: u32, lane: u32) -> u32 {
        lane.wrapping_mul(self.connections).wrapping_add(connection)
    }

    /// Whether `lane` is one of `connection`.
    #[must_use]
    pub fn is_of(&self, lane: u32, connection: u32) -> bool {
        lane % self.connections == connection
    }

    /// Whether another connection than `connection` may owe a message that was sent already, after `course`.
    pub(super) fn owes(&self, cx: &mut Ctx<'_>, course: &Course, connection: u32) -> bool {
        match course.single.belief() {
            Belief::Unspecified => true,
            Belief::Concrete(states) => {
                states.iter().any(|state| self.owes_from(cx, state.loc, Some(state), course, connection))
            }
            Belief::Symbolic(states) => {
                states.iter().any(|state| self.owes_from(cx, state.loc, None, course, connection))
            }
        }
    }

    fn owes_from(
        &self,
        cx: &mut Ctx<'_>,
        loc: LocId,
        state: Option<&State>,
        course: &Course,
        connection: u32,
    ) -> bool {
        let sts = cx.sts;
        sts.switches_from(loc).any(|(_, switch)| {
            let is_seen = matches!(sts.kind_of(switch), GateKind::Output | GateKind::Observed);
            let is_elsewhere = match self.connection(switch.gate) {
                Some(other) => other != connection && !course.holds_on(other),
                None => true,
            };
            is_seen
                && is_elsewhere
                && state.is_none_or(|state| can_react_in(cx, switch, state) != Decision::Unsat)
        })
    }
}
