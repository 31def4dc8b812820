//! The graphs to draw: nodes and edges with lines of text, made from a model or from plain lists.
//!
//! A [`PictureGraph`] knows nothing of coordinates and nothing of the format it is written in.
//! Each node and edge has a `class`, a free word that the writers hand on (to CSS in a
//! picture), so that a reader of events can colour what was covered.
//!
//! *Invariant.* Every edge joins two nodes that exist.

mod parts;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::sts::{GateKind, Model, Switch, SwitchId};

use crate::control_characters::show_control_characters;
use crate::describe::{SwitchText, describe_switch};

ioxide_model::index! { /// A node of a [`PictureGraph`].
pub struct GraphNodeId; }
ioxide_model::index! { /// An edge of a [`PictureGraph`].
pub struct EdgeId; }

/// Nodes and edges to be drawn.
#[derive(Clone, Debug)]
pub struct PictureGraph {
    title: String,
    nodes: IndexVec<GraphNodeId, GraphNode>,
    edges: IndexVec<EdgeId, GraphEdge>,
}

/// A location, a state of a machine, a node of an execution tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphNode {
    /// A stable name for programs; the location of a model by its name.
    pub id: String,
    /// The text in the box.
    pub name: String,
    /// The doc comment of the location in the model.
    pub doc: String,
    /// True for an initial node.
    pub initial: bool,
    /// Words for the style sheet, separated by spaces.
    pub class: String,
}

/// A switch, a transition of a machine, a branch of an execution tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// The source node.
    pub from: GraphNodeId,
    /// The target node.
    pub to: GraphNodeId,
    /// Its text, line by line.
    pub lines: Vec<EdgeLine>,
    /// The side that moves.
    pub kind: EdgeKind,
    /// The switch the edge stands for; `None` if it stands for none, or was bundled from several.
    pub switch: Option<SwitchId>,
    /// Further switches of a composed system in which a part takes the same step.
    pub more: Vec<SwitchId>,
    /// The doc comment of the switch in the model.
    pub doc: String,
    /// Words for the style sheet, separated by spaces.
    pub class: String,
}

/// One line of the text of an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EdgeLine {
    /// The role of the line.
    pub part: LinePart,
    /// The text.
    pub text: String,
}

/// The role of a line in the text of an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinePart {
    /// Label and message.
    Message,
    /// A condition.
    Guard,
    /// New values of variables.
    Update,
    /// Clocks set to 0.
    Reset,
}

/// The side that moves along an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The tester sends.
    Input,
    /// Another party sends to the system; the tester only observes it.
    Observed,
    /// The system sends.
    Output,
    /// An internal step, not observable.
    Internal,
    /// An edge without direction: a transition of a Mealy machine, a branch of a tree.
    Plain,
}

impl EdgeKind {
    /// All kinds, in the order of a legend.
    pub const ALL: [Self; 5] = [Self::Input, Self::Observed, Self::Output, Self::Internal, Self::Plain];

    /// The kind as a word for a style sheet.
    #[must_use]
    pub fn class_name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Observed => "observed",
            Self::Output => "output",
            Self::Internal => "internal",
            Self::Plain => "plain",
        }
    }
}

impl From<GateKind> for EdgeKind {
    fn from(kind: GateKind) -> Self {
        match kind {
            GateKind::Internal => Self::Internal,
            GateKind::Input => Self::Input,
            GateKind::Observed => Self::Observed,
            GateKind::Output => Self::Output,
        }
    }
}

/// The error that an edge starts or ends at a node that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DanglingEdge(pub EdgeId);

impl fmt::Display for DanglingEdge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "edge {} starts or ends at a node that does not exist", self.0.index())
    }
}

impl std::error::Error for DanglingEdge {}

impl PictureGraph {
    /// The locations and switches of `model`; of a system made of parts those of its parts, side by side.
    #[must_use]
    pub fn from_model(model: &Model) -> Self {
        let sts = &model.sts;
        if let Some(composition) = &sts.composition {
            return Self::from_parts(model, composition);
        }
        let nodes = sts.locations.iter_enumerated().map(|(loc, location)| GraphNode {
            id: location.name.to_string(),
            name: show_control_characters(&location.name),
            doc: location.doc.clone(),
            initial: loc == sts.initial,
            class: String::new(),
        });
        let edges = sts.switches.iter_enumerated().map(|(id, switch)| switch_edge(model, id, switch));
        Self { title: show_control_characters(&sts.name), nodes: nodes.collect(), edges: edges.collect() }
    }

    /// A graph of nodes and edges given one by one.
    ///
    /// # Errors
    /// If an edge starts or ends at a node that does not exist.
    pub fn new(
        title: &str,
        nodes: impl IntoIterator<Item = GraphNode>,
        edges: impl IntoIterator<Item = GraphEdge>,
    ) -> Result<Self, DanglingEdge> {
        let nodes: IndexVec<GraphNodeId, GraphNode> = nodes.into_iter().collect();
        let edges: IndexVec<EdgeId, GraphEdge> = edges.into_iter().collect();
        let exists = |node: GraphNodeId| node.index() < nodes.len();
        let joins = |edge: &GraphEdge| exists(edge.from) && exists(edge.to);
        let dangling = edges.ids().find(|&id| !joins(&edges[id]));
        match dangling {
            Some(id) => Err(DanglingEdge(id)),
            None => Ok(Self { title: show_control_characters(title), nodes, edges }),
        }
    }

    /// The same graph with classes for nodes and edges, say by coverage.
    #[must_use]
    pub fn with_classes(
        mut self,
        node_class: impl Fn(GraphNodeId, &GraphNode) -> String,
        edge_class: impl Fn(EdgeId, &GraphEdge) -> String,
    ) -> Self {
        for id in self.nodes.ids() {
            self.nodes[id].class = node_class(id, &self.nodes[id]);
        }
        for id in self.edges.ids() {
            self.edges[id].class = edge_class(id, &self.edges[id]);
        }
        self
    }

    /// The same graph with only the first line of every edge, up to its colon: the name of the switch.
    #[must_use]
    pub fn with_short_lines(mut self) -> Self {
        for id in self.edges.ids() {
            let edge = &mut self.edges[id];
            edge.lines.truncate(1);
            for line in &mut edge.lines {
                let end = line.text.find(':').unwrap_or(line.text.len());
                line.text.truncate(end);
            }
        }
        self
    }

    /// The same graph with edges of one kind and class between the same nodes made one, their
    /// lines one below the other: the usual picture of a machine with many inputs.
    ///
    /// An edge made of several stands for no single switch.
    #[must_use]
    pub fn bundle_edges(self) -> Self {
        let mut edges: IndexVec<EdgeId, GraphEdge> = IndexVec::new();
        let mut bundles: BTreeMap<(GraphNodeId, GraphNodeId, EdgeKind, String), EdgeId> = BTreeMap::new();
        for edge in &self.edges {
            match bundles.entry((edge.from, edge.to, edge.kind, edge.class.clone())) {
                Entry::Vacant(entry) => {
                    entry.insert(edges.push(edge.clone()));
                }
                Entry::Occupied(entry) => edges[*entry.get()].merge_edge(edge),
            }
        }
        Self { edges, ..self }
    }

    /// Returns the title: for a model, its name.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &IndexVec<GraphNodeId, GraphNode> {
        &self.nodes
    }

    /// The edges.
    #[must_use]
    pub fn edges(&self) -> &IndexVec<EdgeId, GraphEdge> {
        &self.edges
    }
}

impl GraphNode {
    /// Returns a node named `name`, with everything else empty.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { id: name.to_owned(), name: show_control_characters(name), ..Self::default() }
    }
}

impl GraphEdge {
    /// An edge with one line of text; without any if `text` is empty.
    #[must_use]
    pub fn with_text(from: GraphNodeId, to: GraphNodeId, text: &str) -> Self {
        let line = EdgeLine { part: LinePart::Message, text: show_control_characters(text) };
        let lines = if text.is_empty() { Vec::new() } else { vec![line] };
        Self {
            from,
            to,
            lines,
            kind: EdgeKind::Plain,
            switch: None,
            more: Vec::new(),
            doc: String::new(),
            class: String::new(),
        }
    }

    /// Takes over the lines and the comment of an edge between the same nodes.
    fn merge_edge(&mut self, other: &Self) {
        self.lines.extend(other.lines.iter().cloned());
        self.switch = None;
        self.more.clear();
        if !self.doc.is_empty() && !other.doc.is_empty() {
            self.doc.push('\n');
        }
        self.doc.push_str(&other.doc);
    }

    /// The text in one line.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join(" ")
    }
}

fn switch_edge(model: &Model, id: SwitchId, switch: &Switch) -> GraphEdge {
    GraphEdge {
        from: GraphNodeId::new(switch.source.index()),
        to: GraphNodeId::new(switch.target.index()),
        lines: switch_lines(&describe_switch(model, switch)),
        kind: model.sts.kind_of(switch).into(),
        switch: Some(id),
        more: Vec::new(),
        doc: switch.doc.clone(),
        class: String::new(),
    }
}

/// `r0: ?inX(p)`, `[1 <= p && p <= 10]`, `x := x + p`, `reset w`; range obligations are left
/// out, since a reader of a picture looks for what the author wrote.
fn switch_lines(text: &SwitchText) -> Vec<EdgeLine> {
    let mut lines =
        vec![EdgeLine { part: LinePart::Message, text: format!("{}: {}", text.label, text.message) }];
    if !text.guard.is_empty() {
        lines.push(EdgeLine { part: LinePart::Guard, text: format!("[{}]", text.guard.join(" && ")) });
    }
    if !text.updates.is_empty() {
        let updates: Vec<String> =
            text.updates.iter().map(|(var, value)| format!("{var} := {value}")).collect();
        lines.push(EdgeLine { part: LinePart::Update, text: updates.join(", ") });
    }
    if !text.resets.is_empty() {
        lines.push(EdgeLine { part: LinePart::Reset, text: format!("reset {}", text.resets.join(", ")) });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_switch_becomes_lines() {
        let graph = PictureGraph::from_model(&samples::adder());
        let texts: Vec<String> = graph.edges().iter().map(GraphEdge::text).collect();
        assert_eq!(
            texts,
            ["r0: ?inX(p) [p >= 1 && p <= 10] x := x + p", "r2: !done [x > 15]", "r1: !outX(p: x)"]
        );
        assert!(graph.nodes().iter().next().unwrap().initial);
    }

    #[test]
    fn clocks_and_kinds_are_told() {
        let graph = PictureGraph::from_model(&samples::door());
        let texts: Vec<String> = graph.edges().iter().map(GraphEdge::text).collect();
        assert!(texts.contains(&"d1: ?open(code: secret) reset w".to_owned()), "{texts:?}");
        let kinds: Vec<EdgeKind> = graph.edges().iter().map(|edge| edge.kind).collect();
        assert!(kinds.contains(&EdgeKind::Observed) && kinds.contains(&EdgeKind::Internal));
    }

    #[test]
    fn an_edge_to_nowhere_is_refused() {
        let edge = GraphEdge::with_text(GraphNodeId::new(0), GraphNodeId::new(1), "x");
        assert_eq!(
            PictureGraph::new("t", [GraphNode::new("a")], [edge]).unwrap_err(),
            DanglingEdge(EdgeId::new(0))
        );
    }

    #[test]
    fn edges_of_one_kind_between_the_same_nodes_are_bundled() {
        let (a, b) = (GraphNodeId::new(0), GraphNodeId::new(1));
        let edges = [
            GraphEdge::with_text(a, b, "x/1"),
            GraphEdge::with_text(b, a, "x/2"),
            GraphEdge::with_text(a, b, "y/1"),
        ];
        let internal = GraphEdge { kind: EdgeKind::Internal, ..GraphEdge::with_text(a, b, "τ") };
        let nodes = [GraphNode::new("a"), GraphNode::new("b")];
        let graph =
            PictureGraph::new("t", nodes, edges.into_iter().chain([internal])).unwrap().bundle_edges();
        let texts: Vec<String> = graph.edges().iter().map(GraphEdge::text).collect();
        assert_eq!(texts, ["x/1 y/1", "x/2", "τ"]);
    }

    #[test]
    fn a_bundle_stands_for_a_switch_only_if_it_is_one() {
        let graph = PictureGraph::from_model(&samples::brp()).bundle_edges();
        let switches = graph.edges().iter().filter(|edge| edge.switch.is_some()).count();
        assert_eq!((graph.edges().len(), switches), (9, 4));
    }

    #[test]
    fn classes_come_from_outside() {
        let graph = PictureGraph::from_model(&samples::adder())
            .with_classes(|_, node| format!("loc-{}", node.name), |id, _| format!("e{}", id.index()));
        assert_eq!(graph.nodes().iter().next().unwrap().class, "loc-idle");
        assert_eq!(graph.edges().iter().last().unwrap().class, "e2");
    }
}
