//! A graph in the DOT language of Graphviz.
//!
//! Strings are quoted; a quote and a backslash are escaped, and an ampersand that would
//! start a character reference is written `&amp;`, since Graphviz reads references even in
//! plain labels (Graphviz documentation, "Character representation").

use std::fmt::Write as _;

use ioxide_model::index::Idx;

use crate::graph::{EdgeKind, GraphEdge, GraphNode, PictureGraph};

/// `graph` as a DOT digraph.
#[must_use]
pub fn write_dot(graph: &PictureGraph) -> String {
    let mut out = String::new();
    let title = quote(graph.title());
    out.push_str(&format!("digraph {title} {{\n"));
    out.push_str(&format!("  graph [label={title}, labelloc=t, rankdir=LR, fontname=\"sans-serif\"];\n"));
    out.push_str("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    out.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (id, node) in graph.nodes().iter_enumerated() {
        write_node(&mut out, id.index(), node);
    }
    for edge in graph.edges() {
        write_edge(&mut out, edge);
    }
    out.push_str("}\n");
    out
}

fn write_node(out: &mut String, n: usize, node: &GraphNode) {
    let mut attributes = vec![format!("label={}", quote(&node.name))];
    if !node.doc.is_empty() {
        attributes.push(format!("tooltip={}", quote(&node.doc)));
    }
    if !node.class.is_empty() {
        attributes.push(format!("class={}", quote(&node.class)));
    }
    let _ = writeln!(out, "  n{n} [{}];", attributes.join(", "));
    if node.initial {
        let _ = writeln!(out, "  start{n} [shape=point, width=0.1, label=\"\"];\n  start{n} -> n{n};");
    }
}

fn write_edge(out: &mut String, edge: &GraphEdge) {
    let lines: Vec<String> = edge.lines.iter().map(|line| escape(&line.text)).collect();
    let mut attributes = vec![format!("label=\"{}\"", lines.join("\\n"))];
    attributes.extend(edge_style(edge.kind).map(str::to_owned));
    if !edge.doc.is_empty() {
        attributes.push(format!("tooltip={}", quote(&edge.doc)));
    }
    if !edge.class.is_empty() {
        attributes.push(format!("class={}", quote(&edge.class)));
    }
    let _ = writeln!(out, "  n{} -> n{} [{}];", edge.from.index(), edge.to.index(), attributes.join(", "));
}

/// Returns the attributes of a kind of edges: a colour, and a difference other than colour.
fn edge_style(kind: EdgeKind) -> Option<&'static str> {
    match kind {
        EdgeKind::Input => Some("color=\"#1f5fbf\""),
        EdgeKind::Observed => Some("color=\"#1f5fbf\", arrowhead=empty"),
        EdgeKind::Output => Some("color=\"#b34700\", style=bold, arrowhead=vee"),
        EdgeKind::Internal => Some("color=\"#6b6b6b\", style=dashed"),
        EdgeKind::Plain => None,
    }
}

/// Returns `text` in quotes.
fn quote(text: &str) -> String {
    format!("\"{}\"", escape(text))
}

/// `text` for the inside of a quoted string.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '&' if starts_reference(&text[at + 1..]) => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// Returns whether the text after an ampersand makes it a character reference, as in `lt;` and `#60;`.
fn starts_reference(rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '#');
    end.is_some_and(|end| end > 0 && rest[end..].starts_with(';'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn strings_cannot_break_out() {
        check("a", "a");
        check("say \"hi\" \\N", "say \\\"hi\\\" \\\\N");
        check("a && b", "a && b");
        check("&lt; &#60; & lt;", "&amp;lt; &amp;#60; & lt;");
        check("a\nb\u{1}", "a\\nb ");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(escape(text), expected);
    }

    #[test]
    fn the_adder_in_dot() {
        insta::assert_snapshot!(write_dot(&PictureGraph::from_model(&samples::adder())), @r##"
        digraph "Adder" {
          graph [label="Adder", labelloc=t, rankdir=LR, fontname="sans-serif"];
          node [shape=box, style=rounded, fontname="sans-serif"];
          edge [fontname="sans-serif", fontsize=10];
          n0 [label="idle"];
          start0 [shape=point, width=0.1, label=""];
          start0 -> n0;
          n1 [label="busy"];
          n2 [label="finished"];
          n0 -> n1 [label="r0: ?inX(p)\n[p >= 1 && p <= 10]\nx := x + p", color="#1f5fbf", tooltip="Adds one number."];
          n0 -> n2 [label="r2: !done\n[x > 15]", color="#b34700", style=bold, arrowhead=vee];
          n1 -> n0 [label="r1: !outX(p: x)", color="#b34700", style=bold, arrowhead=vee];
        }
        "##);
    }

    #[test]
    fn the_door_in_dot() {
        let dot = write_dot(&PictureGraph::from_model(&samples::door()));
        insta::assert_snapshot!(dot.replace(", tooltip", ",\n    tooltip"), @r##"
        digraph "Door" {
          graph [label="Door", labelloc=t, rankdir=LR, fontname="sans-serif"];
          node [shape=box, style=rounded, fontname="sans-serif"];
          edge [fontname="sans-serif", fontsize=10];
          n0 [label="closed"];
          start0 [shape=point, width=0.1, label=""];
          start0 -> n0;
          n1 [label="opened"];
          n2 [label="closing"];
          n3 [label="broken"];
          n0 -> n1 [label="d1: ?open(code: secret)\nreset w", color="#1f5fbf"];
          n0 -> n0 [label="d2: ?open(code)\n[secret != code]", color="#1f5fbf"];
          n1 -> n1 [label="d3: !lamp(colour: Green, on: true)\n[w <= 5.0]", color="#b34700", style=bold, arrowhead=vee,
            tooltip="Shows <green> & \"on\"."];
          n1 -> n2 [label="d4: ?wind", color="#1f5fbf", arrowhead=empty];
          n1 -> n2 [label="d5: τ\n[w >= 5.0]\nreset w", color="#6b6b6b", style=dashed];
          n2 -> n0 [label="d6: !lamp(colour: Red, on: false)", color="#b34700", style=bold, arrowhead=vee];
        }
        "##);
    }

    #[test]
    fn nothing_is_a_graph_too() {
        let graph = PictureGraph::new("", [], []).unwrap();
        assert!(write_dot(&graph).starts_with("digraph \"\" {\n") && write_dot(&graph).ends_with("}\n"));
    }
}
