//! The symbolic execution graph: states reached, and the switches between them.

use ioxide_model::index::IndexVec;
use ioxide_model::sts::SwitchId;

use crate::state::SymState;

ioxide_model::index! { /// A state of an [`ExecGraph`].
pub struct ExploredId; }

/// A switch taken from one explored state to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExploredEdge {
    /// The state in which it was taken.
    pub from: ExploredId,
    /// The switch.
    pub switch: SwitchId,
    /// The state it leads to, or the state that covers that one.
    pub to: ExploredId,
}

/// The symbolic execution graph (\[BT19] Def. 14), states merged as exploration decides.
///
/// If states are merged, the store and the path of a node summarise all states it stands for, not the history of one
/// way to it; [`find_concrete_run`](crate::find_concrete_run) gives that.
#[derive(Clone, Debug, Default)]
pub struct ExecGraph {
    /// The states, in order of discovery; the first is the initial one.
    pub nodes: IndexVec<ExploredId, SymState>,
    /// Every switch that can be taken between them.
    pub edges: Vec<ExploredEdge>,
    /// The edge that discovered each state; `None` for the initial one.
    pub found_by: IndexVec<ExploredId, Option<ExploredEdge>>,
}

impl ExecGraph {
    /// Adds a state and the edge that found it.
    pub(crate) fn add_state(&mut self, state: SymState, from: Option<(ExploredId, SwitchId)>) -> ExploredId {
        let to = self.nodes.push(state);
        let edge = from.map(|(from, switch)| ExploredEdge { from, switch, to });
        self.edges.extend(edge);
        self.found_by.push(edge);
        to
    }

    /// The switches on the way from the initial state to `node`.
    #[must_use]
    pub fn path_to(&self, node: ExploredId) -> Vec<SwitchId> {
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
