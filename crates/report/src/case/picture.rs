//! A case as a graph to draw: its states in a row, a leaf for every verdict of a state.

use ioxide_model::index::Idx;
use ioxide_testgen::case::{ArcTarget, CaseArc, TestCase};

use super::{ArcActor, CaseView};
use crate::control_characters::show_control_characters;
use crate::graph::{EdgeKind, EdgeLine, GraphEdge, GraphNode, GraphNodeId, LinePart, PictureGraph};

/// The graph of a case; arcs of a state that lead to the same verdict end at one leaf.
#[must_use]
pub fn case_graph(view: &CaseView<'_>) -> PictureGraph {
    let mut drawing = Drawing { nodes: state_nodes(view), edges: Vec::new(), leaves: Vec::new() };
    for (n, state) in view.case.states.iter().enumerate() {
        for arc in &state.arcs {
            let to = drawing.target_node(n, arc);
            drawing.edges.push(arc_edge(view, GraphNodeId::new(n), to, arc));
        }
    }
    PictureGraph::new(&view.title(), drawing.nodes, drawing.edges)
        .expect("every edge starts and ends at a node made here")
}

struct Drawing {
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
    /// The leaves made: state, word, node.
    leaves: Vec<(usize, &'static str, GraphNodeId)>,
}

impl Drawing {
    fn target_node(&mut self, n: usize, arc: &CaseArc) -> GraphNodeId {
        let word = match arc.target {
            ArcTarget::State(next) => return GraphNodeId::new(next),
            ArcTarget::Verdict(verdict) => verdict.word(),
        };
        if let Some((_, _, leaf)) = self.leaves.iter().find(|(state, name, _)| (*state, *name) == (n, word)) {
            return *leaf;
        }
        let leaf = GraphNodeId::new(self.nodes.len());
        let id = format!("{}.{word}", TestCase::state_name(n));
        self.nodes.push(GraphNode { id, name: word.into(), class: "verdict".into(), ..GraphNode::default() });
        self.leaves.push((n, word, leaf));
        leaf
    }
}

fn state_nodes(view: &CaseView<'_>) -> Vec<GraphNode> {
    let node = |(n, state): (usize, &ioxide_testgen::case::CaseState)| GraphNode {
        id: TestCase::state_name(n),
        name: match state.loc {
            Some(loc) => {
                format!(
                    "{} ({})",
                    TestCase::state_name(n),
                    show_control_characters(&view.model.sts.locations[loc].name)
                )
            }
            None => TestCase::state_name(n),
        },
        initial: n == 0,
        ..GraphNode::default()
    };
    view.case.states.iter().enumerate().map(node).collect()
}

fn arc_edge(view: &CaseView<'_>, from: GraphNodeId, to: GraphNodeId, arc: &CaseArc) -> GraphEdge {
    let message = format!("{} {}", arc.rule.word(), view.message_text(arc));
    let guard = format!("[{}]", view.guard_text(arc.guard));
    let lines = vec![
        EdgeLine { part: LinePart::Message, text: show_control_characters(&message) },
        EdgeLine { part: LinePart::Guard, text: show_control_characters(&guard) },
    ];
    let kind = match (view.actor(arc), arc.gate) {
        (ArcActor::Silence, _) | (_, None) => EdgeKind::Plain,
        (_, Some(gate)) => EdgeKind::from(view.model.sts.gates[gate].kind),
    };
    let (more, doc) = (Vec::new(), String::new());
    GraphEdge { from, to, lines, kind, switch: arc.switch, more, doc, class: arc.rule.word().into() }
}
