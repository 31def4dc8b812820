//! A case as a graph to draw: its states in a row, a leaf for every verdict of a state.

use ioxide_model::index::Idx;
use ioxide_testgen::case::{Arc, Case, Target};

use super::{Action, CaseView};
use crate::graph::{Edge, EdgeKind, Graph, Line, Node, NodeId, Part};
use crate::visible::visible;

/// The graph of a case; arcs of a state that lead to the same verdict end at one leaf.
#[must_use]
pub fn graph(view: &CaseView<'_>) -> Graph {
    let mut drawing = Drawing { nodes: states(view), edges: Vec::new(), leaves: Vec::new() };
    for (n, state) in view.case.states.iter().enumerate() {
        for arc in &state.arcs {
            let to = drawing.target(n, arc);
            drawing.edges.push(edge(view, NodeId::new(n), to, arc));
        }
    }
    Graph::new(&view.title(), drawing.nodes, drawing.edges)
        .expect("every edge starts and ends at a node made here")
}

struct Drawing {
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// The leaves made: state, word, node.
    leaves: Vec<(usize, &'static str, NodeId)>,
}

impl Drawing {
    fn target(&mut self, n: usize, arc: &Arc) -> NodeId {
        let word = match arc.target {
            Target::State(next) => return NodeId::new(next),
            Target::Verdict(verdict) => verdict.word(),
        };
        if let Some((_, _, leaf)) = self.leaves.iter().find(|(state, name, _)| (*state, *name) == (n, word)) {
            return *leaf;
        }
        let leaf = NodeId::new(self.nodes.len());
        let id = format!("{}.{word}", Case::state_name(n));
        self.nodes.push(Node { id, name: word.into(), class: "verdict".into(), ..Node::default() });
        self.leaves.push((n, word, leaf));
        leaf
    }
}

fn states(view: &CaseView<'_>) -> Vec<Node> {
    let node = |(n, state): (usize, &ioxide_testgen::case::CaseState)| Node {
        id: Case::state_name(n),
        name: match state.loc {
            Some(loc) => {
                format!("{} ({})", Case::state_name(n), visible(&view.model.sts.locations[loc].name))
            }
            None => Case::state_name(n),
        },
        initial: n == 0,
        ..Node::default()
    };
    view.case.states.iter().enumerate().map(node).collect()
}

fn edge(view: &CaseView<'_>, from: NodeId, to: NodeId, arc: &Arc) -> Edge {
    let message = format!("{} {}", arc.rule.word(), view.message(arc));
    let guard = format!("[{}]", view.guard(arc.guard));
    let lines = vec![
        Line { part: Part::Message, text: visible(&message) },
        Line { part: Part::Guard, text: visible(&guard) },
    ];
    let kind = match (view.action(arc), arc.gate) {
        (Action::Silence, _) | (_, None) => EdgeKind::Plain,
        (_, Some(gate)) => EdgeKind::from(view.model.sts.gates[gate].kind),
    };
    let (more, doc) = (Vec::new(), String::new());
    Edge { from, to, lines, kind, switch: arc.switch, more, doc, class: arc.rule.word().into() }
}
