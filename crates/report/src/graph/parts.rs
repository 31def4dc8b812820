//! A system made of parts as one graph: the parts side by side, each with its own locations and switches.
//!
//! A switch of the system is an edge in every part that takes it; an edge stands for all switches of the system in
//! which its part takes the same step, and names the other parts that take part in it. Of guards and updates an edge
//! shows those that belong to its part and are the same in all of these switches.

use std::collections::BTreeMap;

use ioxide_model::compose::{Composition, PartId, PartSystem as SystemPart};
use ioxide_model::index::Idx;
use ioxide_model::sts::{Model, Switch, SwitchId};
use ioxide_model::term::{Term, TermNode, VarId};
use ioxide_model::value::Value;

use super::{EdgeLine, GraphEdge, GraphNode, GraphNodeId, LinePart, PictureGraph, switch_lines};
use crate::control_characters::show_control_characters;
use crate::describe::describe_switch;

impl PictureGraph {
    /// Draws the parts of `model`, whose composition is `composition`.
    pub(super) fn from_parts(model: &Model, composition: &Composition) -> Self {
        // Terms are put together again, in a pool of their own.
        let mut model = model.clone();
        let mut firsts = Vec::with_capacity(composition.parts.len());
        let mut nodes = Vec::new();
        for part in &composition.parts {
            firsts.push(nodes.len());
            nodes.extend(part_nodes(&model, part));
        }
        let mut edges = Vec::new();
        for (id, part) in composition.parts.iter_enumerated() {
            edges.extend(part_edges(&mut model, composition, (id, part), firsts[id.index()]));
        }
        let title = show_control_characters(&model.sts.name);
        Self { title, nodes: nodes.into_iter().collect(), edges: edges.into_iter().collect() }
    }
}

/// Returns a node for each location of a part; a part without locations, such as a channel, is one node.
fn part_nodes(model: &Model, part: &SystemPart) -> Vec<GraphNode> {
    if part.places.is_empty() {
        return vec![GraphNode { initial: true, ..GraphNode::new(&part.name) }];
    }
    let start = part.control.and_then(|control| {
        let var = model.sts.vars.iter().find(|var| var.var == control)?;
        location_index(model.pool.as_value(var.init?)?)
    });
    let node = |(at, name): (usize, &std::sync::Arc<str>)| GraphNode {
        initial: at == start.unwrap_or(0),
        ..GraphNode::new(&format!("{}: {name}", part.name))
    };
    part.places.iter().enumerate().map(node).collect()
}

fn location_index(value: &Value) -> Option<usize> {
    match value {
        Value::Data(value) => usize::try_from(value.ctor).ok(),
        _ => None,
    }
}

/// Returns the edges of a part, each with the switches of the system in which the part takes that step.
fn part_edges(
    model: &mut Model,
    composition: &Composition,
    (id, part): (PartId, &SystemPart),
    first: usize,
) -> Vec<GraphEdge> {
    let mut found: BTreeMap<(usize, usize, usize, String), JointEdge> = BTreeMap::new();
    let switches: Vec<(SwitchId, Switch)> =
        model.sts.switches.iter_enumerated().map(|(id, switch)| (id, switch.clone())).collect();
    for (switch_id, switch) in switches {
        let moves = composition.moves.get(&switch.label).map(Vec::as_slice).unwrap_or_default();
        let Some(own) = moves.iter().find(|moved| moved.part == id) else { continue };
        let (from, to) = step_ends(model, part, &switch);
        let others: Vec<String> = moves
            .iter()
            .filter(|moved| moved.part != id)
            .map(|moved| format!("{}.{}", composition.parts[moved.part].name, moved.switch))
            .collect();
        let order = part.switches.iter().position(|label| *label == own.switch).unwrap_or(usize::MAX);
        let share = share_of_part(model, part, &switch, &own.switch);
        let mut lines = switch_lines(&describe_switch(model, &share));
        if part.places.is_empty() {
            // What a channel does with its packets needs no telling.
            lines.truncate(1);
        }
        let edge = GraphEdge {
            from: GraphNodeId::new(first + from),
            to: GraphNodeId::new(first + to),
            kind: model.sts.kind_of(&switch).into(),
            switch: Some(switch_id),
            doc: switch.doc.clone(),
            ..GraphEdge::with_text(GraphNodeId::new(first), GraphNodeId::new(first), "")
        };
        let key = (order, from, to, own.switch.to_string());
        let new = || JointEdge { edge: GraphEdge { lines: lines.clone(), ..edge }, meetings: Vec::new() };
        let JointEdge { edge, meetings } = found.entry(key).or_insert_with(new);
        if edge.switch != Some(switch_id) {
            edge.more.push(switch_id);
            edge.lines.retain(|line| lines.contains(line));
        }
        if !others.is_empty() {
            meetings.push(others.join(" + "));
        }
    }
    found.into_values().map(JointEdge::into_edge).collect()
}

/// The number of meetings that the line of an edge lists. Chosen by feel: more is not read.
const MAX_LISTED_MEETINGS: usize = 3;

/// An edge of a part, and the steps of other parts that are taken together with it.
struct JointEdge {
    edge: GraphEdge,
    meetings: Vec<String>,
}

impl JointEdge {
    /// Returns the edge with a line, behind that of the message, that names the other parts, up to a limit.
    fn into_edge(mut self) -> GraphEdge {
        if !self.meetings.is_empty() {
            let listed = self.meetings.iter().take(MAX_LISTED_MEETINGS);
            let listed: Vec<String> = listed.map(|meeting| show_control_characters(meeting)).collect();
            let more = if self.meetings.len() > MAX_LISTED_MEETINGS { " …" } else { "" };
            let text = format!("with {}{more}", listed.join(" or "));
            let at = self.edge.lines.len().min(1);
            self.edge.lines.insert(at, EdgeLine { part: LinePart::Message, text });
        }
        self.edge
    }
}

/// Returns the positions of the locations of `part` before and after a switch, read off its guard and its update.
fn step_ends(model: &Model, part: &SystemPart, switch: &Switch) -> (usize, usize) {
    let Some(control) = part.control else { return (0, 0) };
    let pool = &model.pool;
    let at = |fact: Term| {
        let TermNode::Eq(a, b) = *pool.node(fact) else { return None };
        let is_control = |term: Term| matches!(pool.node(term), TermNode::Var(var) if *var == control);
        [(a, b), (b, a)]
            .into_iter()
            .find(|(var, _)| is_control(*var))
            .and_then(|(_, value)| location_index(pool.as_value(value)?))
    };
    let from = pool.conjuncts(switch.guard).into_iter().find_map(at).unwrap_or(0);
    let after = switch.update.iter().find(|(var, _)| *var == control);
    let to = after.and_then(|(_, term)| location_index(pool.as_value(*term)?)).unwrap_or(from);
    (from, to)
}

/// Returns the share of a switch that concerns `part`: its own variables and the fields of the message, under `label`.
fn share_of_part(model: &mut Model, part: &SystemPart, switch: &Switch, label: &str) -> Switch {
    let fields = model.sts.gates[switch.gate].fields.clone();
    let pool = &mut model.pool;
    let is_own = |var: &VarId| part.vars.contains(var) && part.control != Some(*var);
    let concerns = |term: Term| {
        let read = pool.free_vars(term);
        read.iter().any(is_own) || !read.is_empty() && read.iter().all(|var| fields.contains(var))
    };
    let facts: Vec<Term> = pool.conjuncts(switch.guard).into_iter().filter(|&fact| concerns(fact)).collect();
    Switch {
        label: label.into(),
        guard: pool.and(facts),
        update: switch.update.iter().copied().filter(|(var, _)| is_own(var)).collect(),
        resets: switch.resets.iter().copied().filter(|clock| part.vars.contains(clock)).collect(),
        range_check: None,
        ..switch.clone()
    }
}
