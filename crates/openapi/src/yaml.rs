//! YAML 1.2 (its core schema) and JSON as a tree.
//!
//! *Promises.* Aliases are expanded, and the tree never has more than [`MAX_NODES`] nodes, whatever the text holds.

use std::collections::BTreeMap;

use thiserror::Error;
use yaml_rust2::Event;
use yaml_rust2::parser::Parser;
use yaml_rust2::scanner::{Marker, TScalarStyle};

use crate::node::SpecNode;

/// The greatest number of nodes of a tree. Aliases can describe exponentially many; it bounds the memory. Chosen by
/// feel.
const MAX_NODES: usize = 2_000_000;
/// The greatest depth of nesting in the text; aliases may lead deeper. Recursion follows it; chosen by feel.
const MAX_DEPTH: usize = 200;

/// The reason why a text is no tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadTree {
    #[error("{0}")]
    Json(String),
    #[error("{0}")]
    Yaml(String),
    #[error("line {0}: a key is not text")]
    Key(usize),
    #[error("line {0}: it is too large or too deep")]
    TooLarge(usize),
    #[error("it is empty")]
    Empty,
}

/// Reads a tree from JSON, if `text` begins with a brace, or from YAML.
pub fn read_tree(text: &str) -> Result<SpecNode, BadTree> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return serde_json::from_str(text).map_err(|error| BadTree::Json(error.to_string()));
    }
    let mut builder = YamlBuilder::default();
    let mut parser = Parser::new_from_str(text);
    // One event after the other: reading all of them at once would recurse as deep as the text is nested.
    while builder.problem.is_none() {
        let (event, mark) = parser.next_token().map_err(|error| BadTree::Yaml(error.to_string()))?;
        if matches!(event, Event::DocumentEnd | Event::StreamEnd) {
            break;
        }
        builder.on_event(event, mark);
    }
    match builder.problem {
        Some(problem) => Err(problem),
        None => builder.root.ok_or(BadTree::Empty),
    }
}

/// A list or a map whose end was not read yet.
struct UnfinishedNode {
    node: SpecNode,
    key: Option<String>,
    anchor: usize,
}

/// A builder of a tree from the events of a parser.
#[derive(Default)]
struct YamlBuilder {
    open: Vec<UnfinishedNode>,
    anchors: BTreeMap<usize, (SpecNode, usize)>,
    root: Option<SpecNode>,
    size: usize,
    problem: Option<BadTree>,
}

impl YamlBuilder {
    fn on_event(&mut self, event: Event, mark: Marker) {
        match event {
            Event::SequenceStart(anchor, _) => self.begin_node(SpecNode::List(Vec::new()), anchor, mark),
            Event::MappingStart(anchor, _) => self.begin_node(SpecNode::Map(Vec::new()), anchor, mark),
            Event::SequenceEnd | Event::MappingEnd => {
                // Only a complete node has an anchor, so no node can hold itself.
                if let Some(UnfinishedNode { node, anchor, .. }) = self.open.pop() {
                    self.add_node(node, anchor, mark);
                }
            }
            Event::Scalar(text, style, anchor, _) => {
                let node =
                    if style == TScalarStyle::Plain { plain_scalar(text) } else { SpecNode::Text(text) };
                self.add_node(node, anchor, mark);
            }
            Event::Alias(anchor) => {
                if let Some((node, size)) = self.anchors.get(&anchor).cloned() {
                    // Before the copy is added: aliases inside of aliases multiply, and the count must not lag behind.
                    self.size += size;
                    self.add_node(node, 0, mark);
                }
            }
            _ => (),
        }
    }

    fn begin_node(&mut self, node: SpecNode, anchor: usize, mark: Marker) {
        if self.open.len() >= MAX_DEPTH {
            self.problem = Some(BadTree::TooLarge(mark.line()));
        }
        self.open.push(UnfinishedNode { node, key: None, anchor });
    }

    /// Adds a complete node to the innermost open one.
    fn add_node(&mut self, node: SpecNode, anchor: usize, mark: Marker) {
        self.size += 1;
        if self.size > MAX_NODES {
            self.problem = Some(BadTree::TooLarge(mark.line()));
            return;
        }
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), count_nodes(&node)));
        }
        let Some(top) = self.open.last_mut() else {
            self.root.get_or_insert(node);
            return;
        };
        match (&mut top.node, top.key.take(), node) {
            (SpecNode::List(items), _, node) => items.push(node),
            (SpecNode::Map(members), Some(key), node) => insert_member(members, key, node),
            (SpecNode::Map(_), None, SpecNode::Text(key) | SpecNode::Number(key)) => top.key = Some(key),
            (SpecNode::Map(_), None, SpecNode::Bool(key)) => top.key = Some(key.to_string()),
            (SpecNode::Map(_), None, SpecNode::Null) => top.key = Some("null".into()),
            _ => self.problem = Some(BadTree::Key(mark.line())),
        }
    }
}

/// Adds a member; `<<` adds the members of another map that are not there yet.
fn insert_member(members: &mut Vec<(String, SpecNode)>, key: String, node: SpecNode) {
    match node {
        SpecNode::Map(more) if key == "<<" => {
            for (key, value) in more {
                if !members.iter().any(|(other, _)| *other == key) {
                    members.push((key, value));
                }
            }
        }
        node => {
            // A key of its own goes before one that `<<` brought, whichever comes first in the text.
            members.retain(|(other, _)| *other != key);
            members.push((key, node));
        }
    }
}

fn count_nodes(node: &SpecNode) -> usize {
    1 + node
        .items()
        .iter()
        .chain(node.members().iter().map(|(_, value)| value))
        .map(count_nodes)
        .sum::<usize>()
}

/// Returns the value of a text without quotes: null, a Boolean, a number, or else a text.
fn plain_scalar(text: String) -> SpecNode {
    match text.as_str() {
        "" | "~" | "null" | "Null" | "NULL" => SpecNode::Null,
        "true" | "True" | "TRUE" => SpecNode::Bool(true),
        "false" | "False" | "FALSE" => SpecNode::Bool(false),
        _ if is_number(&text) => SpecNode::Number(text.trim_start_matches('+').to_owned()),
        _ => SpecNode::Text(text),
    }
}

/// Returns whether `text` is a number that JSON has too.
fn is_number(text: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(text.trim_start_matches('+')).is_ok()
}
