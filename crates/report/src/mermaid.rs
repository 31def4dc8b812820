//! A graph as a Mermaid flowchart.
//!
//! A flowchart takes any quoted text on its edges and breaks lines at `<br/>`; a Mermaid
//! state diagram does neither, so the flowchart it is. Every character that is not plainly
//! harmless is written as an entity `#n;` (Mermaid documentation, "Flowcharts: entity codes").

use std::fmt::Write as _;

use ioxide_model::index::Idx;

use crate::graph::{EdgeKind, GraphEdge, PictureGraph};

/// `graph` as the text of a Mermaid flowchart.
#[must_use]
pub fn write_mermaid(graph: &PictureGraph) -> String {
    let mut out = format!("---\ntitle: \"{}\"\n---\nflowchart TB\n", escape_yaml(graph.title()));
    for (id, node) in graph.nodes().iter_enumerated() {
        let n = id.index();
        let _ = writeln!(out, "  n{n}([\"{}\"])", escape(&node.name));
        if node.initial {
            let _ = writeln!(out, "  start{n}(( )) --> n{n}");
        }
    }
    // Links are numbered in order of appearance, the arrows to initial nodes first.
    let n_starts = graph.nodes().iter().filter(|node| node.initial).count();
    for edge in graph.edges() {
        write_edge(&mut out, edge);
    }
    for kind in EdgeKind::ALL {
        write_style(&mut out, graph, kind, n_starts);
    }
    out
}

fn write_edge(out: &mut String, edge: &GraphEdge) {
    let arrow = match edge.kind {
        EdgeKind::Input | EdgeKind::Plain => "-->",
        EdgeKind::Observed => "--o",
        EdgeKind::Output => "==>",
        EdgeKind::Internal => "-.->",
    };
    let lines: Vec<String> = edge.lines.iter().map(|line| escape(&line.text)).collect();
    let label = if lines.is_empty() { String::new() } else { format!("|\"{}\"|", lines.join("<br/>")) };
    let _ = writeln!(out, "  n{} {arrow}{label} n{}", edge.from.index(), edge.to.index());
}

/// One `linkStyle` line for all edges of `kind`, if there are any.
fn write_style(out: &mut String, graph: &PictureGraph, kind: EdgeKind, n_starts: usize) {
    let style = match kind {
        EdgeKind::Input | EdgeKind::Observed => "stroke:#1f5fbf",
        EdgeKind::Output => "stroke:#b34700",
        EdgeKind::Internal => "stroke:#6b6b6b",
        EdgeKind::Plain => return,
    };
    let edges = graph.edges().iter_enumerated().filter(|(_, edge)| edge.kind == kind);
    let links: Vec<String> = edges.map(|(id, _)| (id.index() + n_starts).to_string()).collect();
    if !links.is_empty() {
        let _ = writeln!(out, "  linkStyle {} {style}", links.join(","));
    }
}

/// `text` for the inside of a quoted label.
fn escape(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    for (at, &c) in chars.iter().enumerate() {
        if is_harmless(&chars[..at], c, &chars[at + 1..]) {
            out.push(c);
        } else {
            out.push_str(&format!("#{};", c as u32));
        }
    }
    out
}

/// Returns whether `c` between these characters is neither Mermaid syntax nor Markdown, which newer versions read in
/// labels.
fn is_harmless(before: &[char], c: char, after: &[char]) -> bool {
    let in_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric());
    match c {
        ' ' | ',' | ':' | '=' | '/' | '(' | ')' | '[' | ']' | '!' | '?' => true,
        '_' => in_word(before.last()) && in_word(after.first()),
        '-' | '+' => !before.is_empty(),
        '.' => !before.iter().all(char::is_ascii_digit),
        c => c.is_alphanumeric(),
    }
}

/// `text` for the inside of a double-quoted YAML string.
fn escape_yaml(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '"' | '\\' => format!("\\{c}"),
            c if c.is_control() => " ".to_owned(),
            c => c.to_string(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn labels_cannot_break_out() {
        check("x := x + 1", "x := x + 1");
        check("a < b && c", "a #60; b #38;#38; c");
        check("\"]) --> evil", "#34;]) --#62; evil");
        check("#35; `md` |", "#35;35#59; #96;md#96; #124;");
        check("τ", "τ");
    }

    #[test]
    fn labels_are_not_read_as_markdown() {
        check("NOK_WA", "NOK_WA");
        check("_x_ * y", "#95;x#95; #42; y");
        check("1. first", "1#46; first");
        check("- x", "#45; x");
        check("w <= 5.0 - x", "w #60;= 5.0 - x");
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(escape(text), expected);
    }

    #[test]
    fn the_adder_in_mermaid() {
        insta::assert_snapshot!(write_mermaid(&PictureGraph::from_model(&samples::adder())), @r#"
        ---
        title: "Adder"
        ---
        flowchart TB
          n0(["idle"])
          start0(( )) --> n0
          n1(["busy"])
          n2(["finished"])
          n0 -->|"r0: ?inX(p)<br/>[p #62;= 1 #38;#38; p #60;= 10]<br/>x := x + p"| n1
          n0 ==>|"r2: !done<br/>[x #62; 15]"| n2
          n1 ==>|"r1: !outX(p: x)"| n0
          linkStyle 1 stroke:#1f5fbf
          linkStyle 2,3 stroke:#b34700
        "#);
    }

    #[test]
    fn the_door_in_mermaid() {
        insta::assert_snapshot!(write_mermaid(&PictureGraph::from_model(&samples::door())), @r#"
        ---
        title: "Door"
        ---
        flowchart TB
          n0(["closed"])
          start0(( )) --> n0
          n1(["opened"])
          n2(["closing"])
          n3(["broken"])
          n0 -->|"d1: ?open(code: secret)<br/>reset w"| n1
          n0 -->|"d2: ?open(code)<br/>[secret != code]"| n0
          n1 ==>|"d3: !lamp(colour: Green, on: true)<br/>[w #60;= 5.0]"| n1
          n1 --o|"d4: ?wind"| n2
          n1 -.->|"d5: τ<br/>[w #62;= 5.0]<br/>reset w"| n2
          n2 ==>|"d6: !lamp(colour: Red, on: false)"| n0
          linkStyle 1,2 stroke:#1f5fbf
          linkStyle 4 stroke:#1f5fbf
          linkStyle 3,6 stroke:#b34700
          linkStyle 5 stroke:#6b6b6b
        "#);
    }

    #[test]
    fn a_title_cannot_end_the_front_matter() {
        let graph = PictureGraph::new("a\"\n---\nb\\", [], []).unwrap();
        assert_eq!(write_mermaid(&graph), "---\ntitle: \"a\\\" --- b\\\\\"\n---\nflowchart TB\n");
    }
}
