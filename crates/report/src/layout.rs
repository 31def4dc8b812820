//! A layered drawing of boxes and lines: the position of each box, and the course of each line.
//!
//! The method of Sugiyama, Tagawa and Toda in the phases of Gansner et al.
//! \[Sugiyama81, Gansner93]: break cycles and choose layers (`rank`), make every link a chain of items
//! with its label as one of them (`layers`), order the items within layers (`order`),
//! give them coordinates (`place`), draw the lines (`route`). Self loops hang beside
//! their node (`loops`). Connected parts are drawn apart and then packed into rows.
//!
//! *Promises*, for any input: no two nodes overlap, no label overlaps a node or another
//! label, every edge has a line that starts and ends at its nodes, nothing lies outside the
//! drawing, the same input gives the same drawing, and no recursion follows the input.

mod geometry;
mod layers;
mod loops;
mod order;
mod part;
mod place;
mod rank;
mod route;
mod simplex;

#[cfg(test)]
mod tests;

use ioxide_model::index::{Idx, IndexVec};

pub use self::geometry::{BoxSize, EdgeRoute, LayerDirection, Point, Rect, RouteStep};

use self::layers::{LayeredGraph, build_layers};
use self::part::{Axes, ConnectedPart, ItemBody, ItemId, LayoutLink, LinkId};
use self::route::{AxisPoint, RouteStroke, Routed};
use crate::graph::{EdgeId, GraphNodeId};

/// The gap between connected parts of the graph, in pixels; chosen by eye.
const PART_GAP: f64 = 36.0;
/// The greatest side of a box, in pixels; larger ones are cut to it, so that sums of coordinates stay exact enough.
const MAX_SIDE: f64 = 100_000.0;

/// A graph to lay out, with the sizes of its boxes.
#[derive(Clone, Debug, Default)]
pub struct Boxes {
    /// The size each node needs; it may get more, for the ends of its edges.
    pub nodes: IndexVec<GraphNodeId, BoxSize>,
    /// The edges; one whose source or target does not exist gets an empty line.
    pub edges: IndexVec<EdgeId, EdgeBox>,
    /// The nodes the drawing should begin with.
    pub roots: Vec<GraphNodeId>,
}

/// An edge to be laid out.
#[derive(Clone, Copy, Debug)]
pub struct EdgeBox {
    /// The source node.
    pub from: GraphNodeId,
    /// The target node.
    pub to: GraphNodeId,
    /// The size its label needs; `None` without a label.
    pub label: Option<BoxSize>,
}

/// A finished drawing; its left upper corner is at the origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphLayout {
    /// The size of the whole drawing.
    pub size: BoxSize,
    /// The box of each node.
    pub nodes: IndexVec<GraphNodeId, Rect>,
    /// The box of each label.
    pub labels: IndexVec<EdgeId, Option<Rect>>,
    /// The line of each edge.
    pub routes: IndexVec<EdgeId, EdgeRoute>,
}

/// Lays out `boxes` in `direction`.
#[must_use]
pub fn lay_out(boxes: &Boxes, direction: LayerDirection) -> GraphLayout {
    let mut drawing = GraphLayout {
        size: BoxSize::default(),
        nodes: IndexVec::from_elem(Rect::default(), boxes.nodes.len()),
        labels: IndexVec::from_elem(None, boxes.edges.len()),
        routes: IndexVec::from_elem(EdgeRoute::default(), boxes.edges.len()),
    };
    // Parts that are not connected are laid out on their own: in one drawing they would be woven into each other's
    // layers.
    let components = connected_components(boxes);
    let item_of = item_numbers(boxes, &components);
    let mut draw =
        |component| draw_part(LayoutTask::new(boxes, direction, component, &item_of), &mut drawing);
    let sizes: Vec<BoxSize> = components.iter().map(&mut draw).collect();
    let (corners, size) = pack_in_rows(&sizes);
    drawing.size = size;
    for (component, corner) in components.iter().zip(corners) {
        shift_component(&mut drawing, component, corner);
    }
    drawing
}

/// The nodes and edges of one connected part.
#[derive(Debug, Default)]
struct Component {
    nodes: Vec<GraphNodeId>,
    edges: Vec<EdgeId>,
}

/// The connected parts, those with roots first, then in the order of their first nodes.
fn connected_components(boxes: &Boxes) -> Vec<Component> {
    let part_of = component_numbers(boxes);
    let n_parts = part_of.iter().flatten().max().map_or(0, |&last| last + 1);
    let mut components: Vec<Component> = (0..n_parts).map(|_| Component::default()).collect();
    for (node, part) in part_of.iter_enumerated() {
        if let Some(component) = part.and_then(|part| components.get_mut(part)) {
            component.nodes.push(node);
        }
    }
    for (id, edge) in boxes.edges.iter_enumerated() {
        // An edge to a node that does not exist belongs to no part and keeps its empty line.
        let joins = part_of.get(edge.from).copied().flatten().filter(|_| part_of.get(edge.to).is_some());
        if let Some(component) = joins.and_then(|part| components.get_mut(part)) {
            component.edges.push(id);
        }
    }
    components
}

fn component_numbers(boxes: &Boxes) -> IndexVec<GraphNodeId, Option<usize>> {
    let n_nodes = boxes.nodes.len();
    let exists = |node: GraphNodeId| node.index() < n_nodes;
    let mut neighbours: IndexVec<GraphNodeId, Vec<GraphNodeId>> = IndexVec::from_elem(Vec::new(), n_nodes);
    for edge in boxes.edges.iter().filter(|edge| exists(edge.from) && exists(edge.to)) {
        neighbours[edge.from].push(edge.to);
        neighbours[edge.to].push(edge.from);
    }
    let mut part_of: IndexVec<GraphNodeId, Option<usize>> = IndexVec::from_elem(None, n_nodes);
    let mut n_parts = 0;
    let roots = boxes.roots.iter().copied().filter(|&root| exists(root));
    // Roots first, so that the part with the initial state gets the first place. A stack by hand: no recursion follows
    // the input.
    for start in roots.chain(boxes.nodes.ids()) {
        if part_of[start].is_some() {
            continue;
        }
        let mut stack = vec![start];
        while let Some(node) = stack.pop() {
            if part_of[node].is_none() {
                part_of[node] = Some(n_parts);
                stack.extend(&neighbours[node]);
            }
        }
        n_parts += 1;
    }
    part_of
}

/// The number each node has within its part.
fn item_numbers(boxes: &Boxes, components: &[Component]) -> IndexVec<GraphNodeId, ItemId> {
    // Numbers within a part: the phases index arrays of the part's own size.
    debug_assert_eq!(components.iter().map(|part| part.nodes.len()).sum::<usize>(), boxes.nodes.len());
    let mut item_of: IndexVec<GraphNodeId, ItemId> = IndexVec::from_elem(ItemId::new(0), boxes.nodes.len());
    for component in components {
        for (item, &node) in component.nodes.iter().enumerate() {
            item_of[node] = ItemId::new(item);
        }
    }
    item_of
}

/// One connected part in the axes of the method, and the nodes and edges behind its items and links.
struct LayoutTask<'b> {
    boxes: &'b Boxes,
    direction: LayerDirection,
    part: ConnectedPart,
    /// The node behind each item.
    nodes: Vec<GraphNodeId>,
    /// The edge behind each link.
    links: Vec<EdgeId>,
    /// The self loops of each node.
    loops: IndexVec<ItemId, Vec<EdgeId>>,
}

/// Draws one part with its corner at the origin, and returns its size.
fn draw_part(task: LayoutTask<'_>, drawing: &mut GraphLayout) -> BoxSize {
    // The phases in the order of the papers; each only reads what the ones before have fixed.
    let ranking = rank::rank_nodes(&task.part);
    let mut layered = build_layers(&task.part, &ranking);
    order::order_layers(&mut layered);
    let mut across = place::place_items(&layered);
    let width = place::move_to_origin(&layered, &mut across);
    let routed = route::route_links(&layered, &across);
    task.write_drawing(&layered, &routed, drawing);
    orient_size(task.direction, Axes { across: width, along: routed.length })
}

impl<'b> LayoutTask<'b> {
    /// Makes the task of one connected part of the graph.
    fn new(
        boxes: &'b Boxes,
        direction: LayerDirection,
        component: &Component,
        item_of: &IndexVec<GraphNodeId, ItemId>,
    ) -> Self {
        let mut task = LayoutTask {
            boxes,
            direction,
            part: ConnectedPart::default(),
            nodes: component.nodes.clone(),
            links: Vec::new(),
            loops: IndexVec::from_elem(Vec::new(), component.nodes.len()),
        };
        for &edge in &component.edges {
            task.add_edge(edge, item_of);
        }
        task.add_bodies();
        let roots = boxes.roots.iter().filter(|root| component.nodes.binary_search(root).is_ok());
        task.part.roots = roots.map(|&root| item_of[root]).collect();
        task
    }

    fn add_edge(&mut self, id: EdgeId, item_of: &IndexVec<GraphNodeId, ItemId>) {
        let edge = &self.boxes.edges[id];
        let (from, to) = (item_of[edge.from], item_of[edge.to]);
        // The layers know no loops; they are drawn beside their node, in room that its body reserves.
        if from == to {
            return self.loops[from].push(id);
        }
        let label = edge.label.map(|size| self.item_body(size));
        self.part.links.push(LayoutLink { from, to, label });
        self.links.push(id);
    }

    fn add_bodies(&mut self) {
        for (item, &node) in self.nodes.iter().enumerate() {
            let mut body = self.item_body(self.boxes.nodes[node]);
            loops::make_room(&mut body, &self.loop_labels(ItemId::new(item)), self.direction);
            self.part.nodes.push(body);
        }
    }

    fn loop_labels(&self, item: ItemId) -> Vec<Option<BoxSize>> {
        self.loops[item].iter().map(|&edge| self.boxes.edges[edge].label.map(bound_size)).collect()
    }

    fn item_body(&self, size: BoxSize) -> ItemBody {
        let BoxSize { width, height } = bound_size(size);
        let half = match self.direction {
            LayerDirection::Down => Axes { across: width / 2.0, along: height / 2.0 },
            LayerDirection::Right => Axes { across: height / 2.0, along: width / 2.0 },
        };
        ItemBody { half, ..ItemBody::default() }
    }

    /// Writes boxes and lines into the drawing.
    fn write_drawing(&self, layered: &LayeredGraph, routed: &Routed, drawing: &mut GraphLayout) {
        for (item, &node) in self.nodes.iter().enumerate() {
            let item = ItemId::new(item);
            let rect = self.item_rect(layered, routed, item);
            drawing.nodes[node] = rect;
            let loops = loops::draw_loops(rect, &self.loop_labels(item), self.direction);
            for (&edge, (label, route)) in self.loops[item].iter().zip(loops) {
                drawing.labels[edge] = label;
                drawing.routes[edge] = route;
            }
        }
        for (link, &edge) in self.links.iter().enumerate() {
            let link = LinkId::new(link);
            let label = layered.chains[link].label;
            drawing.labels[edge] = label.map(|item| self.item_rect(layered, routed, item));
            drawing.routes[edge] = self.edge_route(&routed.lines[link]);
        }
    }

    fn item_rect(&self, layered: &LayeredGraph, routed: &Routed, item: ItemId) -> Rect {
        let half = orient_size(self.direction, layered.body[item].half);
        Rect::centred_at(self.to_point(routed.anchor[item]), half)
    }

    fn edge_route(&self, line: &route::RoutedLine) -> EdgeRoute {
        let step = |stroke: &RouteStroke| match *stroke {
            RouteStroke::Line(to) => RouteStep::Line(self.to_point(to)),
            RouteStroke::Curve(a, b, to) => {
                RouteStep::Curve(self.to_point(a), self.to_point(b), self.to_point(to))
            }
        };
        EdgeRoute { start: self.to_point(line.start), steps: line.strokes.iter().map(step).collect() }
    }

    fn to_point(&self, place: AxisPoint) -> Point {
        let BoxSize { width, height } =
            orient_size(self.direction, Axes { across: place.across, along: place.along });
        Point { x: width, y: height }
    }
}

/// Lengths of the method's axes as width and height.
fn orient_size(direction: LayerDirection, axes: Axes) -> BoxSize {
    match direction {
        LayerDirection::Down => BoxSize { width: axes.across, height: axes.along },
        LayerDirection::Right => BoxSize { width: axes.along, height: axes.across },
    }
}

/// Returns the size with each side cut to between 0 and [`MAX_SIDE`]; a side that is not finite becomes 0.
fn bound_size(size: BoxSize) -> BoxSize {
    let side = |side: f64| if side.is_finite() { side.clamp(0.0, MAX_SIDE) } else { 0.0 };
    BoxSize { width: side(size.width), height: side(size.height) }
}

/// Corners of parts set side by side in rows, and the size of the whole.
///
/// A row is about as long as makes the whole half as wide again as it is high.
fn pack_in_rows(sizes: &[BoxSize]) -> (Vec<Point>, BoxSize) {
    let area: f64 = sizes.iter().map(|size| (size.width + PART_GAP) * (size.height + PART_GAP)).sum();
    let widest = sizes.iter().map(|size| size.width).fold(0.0, f64::max);
    // First fit in rows, in the order of the parts: the part with the initial state stays first.
    let row_width = widest.max((area * 1.5).sqrt());
    let mut corners = Vec::with_capacity(sizes.len());
    let mut whole = BoxSize::default();
    let mut at = Point::default();
    for size in sizes {
        if at.x > 0.0 && at.x + size.width > row_width {
            at = Point { x: 0.0, y: whole.height + PART_GAP };
        }
        corners.push(at);
        whole.width = whole.width.max(at.x + size.width);
        whole.height = whole.height.max(at.y + size.height);
        at.x += size.width + PART_GAP;
    }
    (corners, whole)
}

fn shift_component(drawing: &mut GraphLayout, component: &Component, by: Point) {
    let moved = |rect: Rect| Rect { x: rect.x + by.x, y: rect.y + by.y, ..rect };
    for &node in &component.nodes {
        drawing.nodes[node] = moved(drawing.nodes[node]);
    }
    for &edge in &component.edges {
        drawing.labels[edge] = drawing.labels[edge].map(moved);
        for point in drawing.routes[edge].points_mut() {
            *point = Point { x: point.x + by.x, y: point.y + by.y };
        }
    }
}
