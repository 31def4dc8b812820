//! A graph as a picture: self-contained SVG that needs no other program, font or network.
//!
//! Every node is a `<g class="node …" data-location="…">` and every edge a
//! `<g class="edge KIND …" data-edge="…" data-switch="…">` (numbers of switches), each with the class given in the
//! graph and a tooltip, so that a page can colour and click them. Kinds of edges differ in
//! colour and also in dashes and arrow heads. All texts are escaped.

mod measure;

use std::fmt::Write as _;

use ioxide_model::index::{Idx, IndexVec};

use self::measure::{INDENT, LABEL_LINE, LABEL_PADDING, NODE_FONT, NODE_LINE, NODE_PADDING, TextRow};
use crate::control_characters::show_control_characters;
use crate::graph::{EdgeId, EdgeKind, GraphEdge, GraphNode, GraphNodeId, LinePart, PictureGraph};
use crate::layout::{
    BoxSize, Boxes, EdgeBox, EdgeRoute, GraphLayout, LayerDirection, Point, Rect, RouteStep, lay_out,
};

/// The style sheet of every picture; its rules are confined to `.ioxide-graph`.
pub const STYLE: &str = include_str!("assets/graph.css");

/// The room around the drawing. In pixels. All sizes of the picture were chosen by eye; nothing but the looks depends
/// on them.
const MARGIN: f64 = 20.0;
/// The room for the title. In pixels, chosen by eye.
const TITLE: f64 = 30.0;
/// The room for the legend. In pixels, chosen by eye.
const LEGEND: f64 = 34.0;
/// The size of the dot before an initial node. In pixels, chosen by eye.
const START_DOT_SIZE: f64 = 10.0;
/// The number of edges up to which both directions are tried. Chosen by feel: beyond it laying out twice takes longer
/// than a reader waits.
const MAX_TRIED: usize = 2_500;

/// The settings of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SvgConfig {
    /// The direction of the layers; `None` for the one that fits a screen better.
    pub direction: Option<LayerDirection>,
    /// The use of the picture.
    pub form: PictureUse,
}

/// The use of a picture: as a file or within a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PictureUse {
    /// As a file of its own, with its style sheet.
    #[default]
    File,
    /// Inside a page that has [`STYLE`] already.
    Inline,
}

/// `graph` as SVG.
#[must_use]
pub fn draw_svg(graph: &PictureGraph, config: SvgConfig) -> String {
    let texts = Texts::new(graph);
    let layout = texts.lay_out_graph(graph, config.direction);
    let kinds: Vec<EdgeKind> = EdgeKind::ALL
        .into_iter()
        .filter(|&kind| graph.edges().iter().any(|edge| edge.kind == kind))
        .collect();
    let with_legend = kinds.iter().any(|&kind| kind != EdgeKind::Plain);
    let title_width = measure::name_width(graph.title()) * 15.0 / NODE_FONT;
    let width = layout.size.width.max(title_width).max(if with_legend { legend_width(&kinds) } else { 0.0 });
    let height = TITLE + layout.size.height + if with_legend { LEGEND } else { 0.0 };
    let size = BoxSize { width: width + 2.0 * MARGIN, height: height + 2.0 * MARGIN };
    let mut out = String::new();
    open_svg(&mut out, graph, config.form, size);
    let left = MARGIN + (width - layout.size.width) / 2.0;
    let _ =
        writeln!(out, "<g transform=\"translate({} {})\">", number_text(left), number_text(MARGIN + TITLE));
    draw_edges(&mut out, graph, &texts, &layout);
    draw_nodes(&mut out, graph, &texts, &layout);
    out.push_str("</g>\n");
    if with_legend {
        draw_legend(&mut out, &kinds, Point { x: MARGIN, y: size.height - MARGIN - 6.0 });
    }
    out.push_str("</svg>\n");
    out
}

/// The texts of a graph, broken into rows.
struct Texts {
    nodes: IndexVec<GraphNodeId, Vec<TextRow>>,
    edges: IndexVec<EdgeId, Vec<(LinePart, TextRow)>>,
}

impl Texts {
    /// Breaks the names of nodes and the lines of edges into rows.
    fn new(graph: &PictureGraph) -> Self {
        let rows = |edge: &GraphEdge| {
            let lines = edge.lines.iter();
            lines
                .flat_map(|line| measure::label_rows(&line.text).into_iter().map(|row| (line.part, row)))
                .collect()
        };
        Self {
            nodes: graph.nodes().iter().map(|node| measure::node_rows(&node.name)).collect(),
            edges: graph.edges().iter().map(rows).collect(),
        }
    }

    /// Returns the graph laid out, with a small box before each initial node.
    fn lay_out_graph(&self, graph: &PictureGraph, direction: Option<LayerDirection>) -> GraphLayout {
        let boxes = self.measure_boxes(graph);
        match direction {
            Some(direction) => lay_out(&boxes, direction),
            None if graph.edges().len() > MAX_TRIED => lay_out(&boxes, LayerDirection::Right),
            None => {
                // Both are laid out and compared: the better direction depends on the lengths of the labels.
                let [down, right] =
                    [LayerDirection::Down, LayerDirection::Right].map(|it| lay_out(&boxes, it));
                if screen_height(down.size) <= screen_height(right.size) { down } else { right }
            }
        }
    }

    fn measure_boxes(&self, graph: &PictureGraph) -> Boxes {
        let edge = |(id, edge): (EdgeId, &GraphEdge)| {
            let rows = &self.edges[id];
            EdgeBox { from: edge.from, to: edge.to, label: (!rows.is_empty()).then(|| label_size(rows)) }
        };
        let mut boxes = Boxes {
            nodes: self.nodes.iter().map(|rows| node_size(rows)).collect(),
            edges: graph.edges().iter_enumerated().map(edge).collect(),
            roots: Vec::new(),
        };
        // The dots are nodes of the layout behind all nodes of the graph, and their edges behind all edges;
        // `draw_edges` finds them by that.
        for node in initial_nodes(graph) {
            let start = boxes.nodes.push(BoxSize { width: START_DOT_SIZE, height: START_DOT_SIZE });
            boxes.edges.push(EdgeBox { from: start, to: node, label: None });
            boxes.roots.push(start);
        }
        boxes
    }
}

fn initial_nodes(graph: &PictureGraph) -> impl Iterator<Item = GraphNodeId> {
    graph.nodes().iter_enumerated().filter(|(_, node)| node.initial).map(|(id, _)| id)
}

/// Returns the height of a screen, half as wide again as high, that shows a drawing whole.
fn screen_height(size: BoxSize) -> f64 {
    (size.width / 1.5).max(size.height)
}

fn node_size(rows: &[TextRow]) -> BoxSize {
    let width = rows.iter().map(|row| measure::name_width(&row.text)).fold(22.0, f64::max);
    let n_rows = rows.len().max(1) as f64;
    BoxSize {
        width: width + 2.0 * NODE_PADDING.width,
        height: n_rows * NODE_LINE + 2.0 * NODE_PADDING.height,
    }
}

fn label_size(rows: &[(LinePart, TextRow)]) -> BoxSize {
    let width = rows.iter().map(|(_, row)| indent(row) + measure::mono_width(&row.text)).fold(0.0, f64::max);
    BoxSize {
        width: width + 2.0 * LABEL_PADDING.width,
        height: rows.len() as f64 * LABEL_LINE + 2.0 * LABEL_PADDING.height,
    }
}

/// Returns the indentation of a row, not 0 only if it continues a broken line.
fn indent(row: &TextRow) -> f64 {
    if row.continues { measure::mono_width(&" ".repeat(INDENT)) } else { 0.0 }
}

fn open_svg(out: &mut String, graph: &PictureGraph, form: PictureUse, size: BoxSize) {
    let (width, height) = (number_text(size.width), number_text(size.height));
    let title = escape(graph.title());
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ioxide-graph\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\">"
    );
    if form == PictureUse::File {
        let _ = writeln!(out, "<style>\n{}</style>", escape(STYLE));
    }
    let _ = writeln!(out, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{MARGIN}\" y=\"{}\">{title}</text>",
        number_text(MARGIN + 12.0)
    );
}

fn draw_edges(out: &mut String, graph: &PictureGraph, texts: &Texts, layout: &GraphLayout) {
    for (id, edge) in graph.edges().iter_enumerated() {
        let class = escape(&format!("edge {} {}", edge.kind.class_name(), edge.class));
        let _ = write!(out, "<g class=\"{}\" data-edge=\"{}\"", class.trim_end(), id.index());
        if let Some(switch) = edge.switch {
            let all = [switch].into_iter().chain(edge.more.iter().copied());
            let all: Vec<String> = all.map(|switch| switch.index().to_string()).collect();
            let _ = write!(out, " data-switch=\"{}\"", all.join(" "));
        }
        let _ = writeln!(out, "><title>{}</title>", escape(&edge_tooltip(graph, edge)));
        draw_line(out, &layout.routes[id], edge.kind);
        if let Some(rect) = layout.labels[id] {
            draw_label(out, rect, &texts.edges[id]);
        }
        out.push_str("</g>\n");
    }
    let n_edges = graph.edges().len();
    for (start, _) in initial_nodes(graph).enumerate() {
        let (node, edge) = (GraphNodeId::new(graph.nodes().len() + start), EdgeId::new(n_edges + start));
        let centre = layout.nodes[node].centre();
        out.push_str("<g class=\"start\">");
        let _ = write!(
            out,
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>",
            number_text(centre.x),
            number_text(centre.y),
            number_text(START_DOT_SIZE / 2.0)
        );
        draw_line(out, &layout.routes[edge], EdgeKind::Plain);
        out.push_str("</g>\n");
    }
}

/// Draws the line with its arrow head, and a wide invisible one as a target for the pointer.
fn draw_line(out: &mut String, route: &EdgeRoute, kind: EdgeKind) {
    if route.steps.is_empty() {
        return;
    }
    let tip = ArrowHead::at_end_of(route);
    // The line ends before the tip, or its blunt end would show through the arrow head.
    let line = path_data(&shorten_route(route, tip, arrow_length(kind)));
    let _ = write!(out, "<path class=\"hit\" d=\"{line}\"/><path class=\"line\" d=\"{line}\"/>");
    let _ = writeln!(out, "<path class=\"head\" d=\"{}\"/>", tip.head(kind));
}

/// Returns the distance between the end of the line and the tip of its arrow.
fn arrow_length(kind: EdgeKind) -> f64 {
    match kind {
        EdgeKind::Output => 2.0,
        EdgeKind::Input | EdgeKind::Observed | EdgeKind::Internal | EdgeKind::Plain => 7.0,
    }
}

/// The tip of an arrow, and the direction in which it arrives, as a unit vector.
#[derive(Clone, Copy)]
struct ArrowHead {
    tip: Point,
    towards: Point,
}

impl ArrowHead {
    fn at_end_of(route: &EdgeRoute) -> Self {
        let tip = route.end_point();
        // The last point of the line that is not the tip itself says where it comes from.
        let points = route.steps.iter().rev().flat_map(|step| match *step {
            RouteStep::Line(to) => vec![to],
            RouteStep::Curve(first, second, to) => vec![to, second, first],
        });
        let mut before = points.chain([route.start]);
        // Points closer than half a pixel give no direction: a division by nearly nothing.
        let away = |point: &Point| (tip.x - point.x).hypot(tip.y - point.y) > 0.5;
        let from = before.find(away).unwrap_or(Point { x: tip.x, y: tip.y - 1.0 });
        let (dx, dy) = (tip.x - from.x, tip.y - from.y);
        let length = dx.hypot(dy);
        Self { tip, towards: Point { x: dx / length, y: dy / length } }
    }

    /// Returns the point `back` behind the tip and `aside` to the side.
    fn point(self, back: f64, aside: f64) -> Point {
        Point {
            x: self.tip.x - self.towards.x * back - self.towards.y * aside,
            y: self.tip.y - self.towards.y * back + self.towards.x * aside,
        }
    }

    /// Returns the path of an arrow head; that of an output is open.
    fn head(self, kind: EdgeKind) -> String {
        let at = |back, aside| coordinates(self.point(back, aside));
        match kind {
            EdgeKind::Output => format!("M{} L{} L{}", at(8.5, 5.0), at(1.0, 0.0), at(8.5, -5.0)),
            EdgeKind::Input | EdgeKind::Observed | EdgeKind::Internal | EdgeKind::Plain => {
                format!("M{} L{} L{} Z", at(9.0, 3.8), at(0.6, 0.0), at(9.0, -3.8))
            }
        }
    }
}

/// Returns the same line, ending `by` before its tip.
fn shorten_route(route: &EdgeRoute, arrow: ArrowHead, by: f64) -> EdgeRoute {
    let mut route = route.clone();
    let end = arrow.point(by, 0.0);
    match route.steps.last_mut() {
        Some(RouteStep::Line(to)) => *to = end,
        Some(RouteStep::Curve(_, _, to)) => *to = end,
        None => (),
    }
    route
}

fn path_data(route: &EdgeRoute) -> String {
    let mut out = format!("M{}", coordinates(route.start));
    for step in &route.steps {
        let _ = match *step {
            RouteStep::Line(to) => write!(out, " L{}", coordinates(to)),
            RouteStep::Curve(a, b, to) => {
                write!(out, " C{} {} {}", coordinates(a), coordinates(b), coordinates(to))
            }
        };
    }
    out
}

fn draw_label(out: &mut String, rect: Rect, rows: &[(LinePart, TextRow)]) {
    out.push_str("<g class=\"label\">");
    draw_rect(out, rect, 4.0);
    for (n, (part, row)) in rows.iter().enumerate() {
        let class = match part {
            LinePart::Message => "message",
            LinePart::Guard => "guard",
            LinePart::Update => "update",
            LinePart::Reset => "reset",
        };
        let x = rect.x + LABEL_PADDING.width + indent(row);
        let y = rect.y + LABEL_PADDING.height + LABEL_LINE * (n as f64 + 0.75);
        let text = escape(&row.text);
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"{}\" y=\"{}\">{text}</text>",
            number_text(x),
            number_text(y)
        );
    }
    out.push_str("</g>\n");
}

fn draw_nodes(out: &mut String, graph: &PictureGraph, texts: &Texts, layout: &GraphLayout) {
    for (id, node) in graph.nodes().iter_enumerated() {
        let initial = if node.initial { " initial" } else { "" };
        let class = escape(&format!("node{initial} {}", node.class));
        let _ = write!(out, "<g class=\"{}\" data-location=\"{}\">", class.trim_end(), escape(&node.id));
        let _ = writeln!(out, "<title>{}</title>", escape(&node_tooltip(node)));
        let rect = layout.nodes[id];
        draw_rect(out, rect, 9.0);
        let rows = &texts.nodes[id];
        let top = rect.centre().y - NODE_LINE * rows.len() as f64 / 2.0;
        for (n, row) in rows.iter().enumerate() {
            let y = top + NODE_LINE * (n as f64 + 0.76);
            let text = escape(&row.text);
            let _ = write!(
                out,
                "<text x=\"{}\" y=\"{}\">{text}</text>",
                number_text(rect.centre().x),
                number_text(y)
            );
        }
        out.push_str("</g>\n");
    }
}

fn draw_rect(out: &mut String, rect: Rect, radius: f64) {
    let [x, y, width, height] = [rect.x, rect.y, rect.width, rect.height].map(number_text);
    let _ = write!(out, "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"{radius}\"/>");
}

fn node_tooltip(node: &GraphNode) -> String {
    let initial = if node.initial { " (initial)" } else { "" };
    with_doc(format!("{}{initial}", node.name), &node.doc)
}

fn edge_tooltip(graph: &PictureGraph, edge: &GraphEdge) -> String {
    let mut lines: Vec<&str> = edge.lines.iter().map(|line| line.text.as_str()).collect();
    let ends = format!("{} → {}", graph.nodes()[edge.from].name, graph.nodes()[edge.to].name);
    lines.push(&ends);
    with_doc(lines.join("\n"), &edge.doc)
}

fn with_doc(text: String, doc: &str) -> String {
    let doc: Vec<String> = doc.lines().map(show_control_characters).collect();
    if doc.is_empty() { text } else { format!("{text}\n\n{}", doc.join("\n")) }
}

/// Draws a sample of each kind of edge, with its name.
fn draw_legend(out: &mut String, kinds: &[EdgeKind], corner: Point) {
    out.push_str("<g class=\"legend\">\n");
    let mut x = corner.x;
    for &kind in kinds {
        let _ = write!(out, "<g class=\"edge {}\">", kind.class_name());
        let end = Point { x: x + 34.0, y: corner.y };
        draw_line(
            out,
            &EdgeRoute { start: Point { x, y: corner.y }, steps: vec![RouteStep::Line(end)] },
            kind,
        );
        let (text_x, text_y) = (number_text(x + 41.0), number_text(corner.y + 4.0));
        let _ = writeln!(out, "<text x=\"{text_x}\" y=\"{text_y}\">{}</text></g>", legend_word(kind));
        x += legend_entry(kind);
    }
    out.push_str("</g>\n");
}

fn legend_word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Input => "?input",
        EdgeKind::Observed => "?observed input",
        EdgeKind::Output => "!output",
        EdgeKind::Internal => "τ internal",
        EdgeKind::Plain => "other",
    }
}

fn legend_entry(kind: EdgeKind) -> f64 {
    41.0 + measure::mono_width(legend_word(kind)) + 22.0
}

fn legend_width(kinds: &[EdgeKind]) -> f64 {
    kinds.iter().map(|&kind| legend_entry(kind)).sum()
}

/// Returns a point as two numbers.
fn coordinates(point: Point) -> String {
    format!("{} {}", number_text(point.x), number_text(point.y))
}

/// Returns a number with at most one digit after the point.
fn number_text(n: f64) -> String {
    // One digit after the point is finer than a screen; it keeps files small and equal on all machines.
    let text = format!("{n:.1}");
    let short = text.strip_suffix(".0").unwrap_or(&text);
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Returns `text` for the inside of an element or a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' => out.push('\n'),
            // XML has no way to write these characters, not even escaped.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests;
