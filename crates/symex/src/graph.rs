//! The symbolic execution graph: states reached, and the switches between them.

use ioxide_model::index::IndexVec;
use ioxide_model::sts::SwitchId;

use crate::state::SymState;

ioxide_model::index! { /// A state of an [`ExecGraph`].
pub struct NodeId; }

/// A switch taken from one explored state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it was taken.
    pub from: NodeId,
    /// What was taken.
    pub switch: SwitchId,
    /// What it leads to, or the state that stands for what it leads to.
    pub to: NodeId,
}

/// The symbolic execution graph (000 Def. 14), states merged where exploration says so.
///
/// Where states are merged, the store and the path of a node are a summary of what it stands
/// for, not the history of one way to it; [`along`](crate::along) gives that.
#[derive(Clone, Debug, Default)]
pub struct ExecGraph {
    /// The states, in order of discovery; the first is the initial one.
    pub nodes: IndexVec<NodeId, SymState>,
    /// Every switch that can be taken between them.
    pub edges: Vec<Edge>,
    /// The edge that discovered each state; none for the initial one.
    pub found_by: IndexVec<NodeId, Option<Edge>>,
}

impl ExecGraph {
    /// Adds a state and the edge that found it.
    pub(crate) fn add(&mut self, state: SymState, from: Option<(NodeId, SwitchId)>) -> NodeId {
        let to = self.nodes.push(state);
        let edge = from.map(|(from, switch)| Edge { from, switch, to });
        self.edges.extend(edge);
        self.found_by.push(edge);
        to
    }

    /// The switches on the way from the initial state to `node`.
    #[must_use]
    pub fn path_to(&self, node: NodeId) -> Vec<SwitchId> {
        let mut switches = Vec::new();
        let mut at = node;
        while let Some(edge) = self.found_by[at] {
            switches.push(edge.switch);
            at = edge.from;
        }
        switches.reverse();
        switches
    }
}
