//! Self loops: petals beside a node, each with its label at the tip.
//!
//! In a drawing that runs down, labels are stacked to the right of the node and each loop reaches out to its label and
//! back, several of them in lanes that do not cross. In one that runs to the right they are stacked below the node, and
//! the loops hang down along the left edge of the stack.

use super::part::ItemBody;
use super::{BoxSize, EdgeRoute, LayerDirection, Point, Rect, RouteStep};

/// The distance from a node to the label of its only loop, or to the stack of labels below it. All lengths are in
/// pixels and were chosen by eye; nothing but the looks depends on them.
const LABEL_DISTANCE: f64 = 26.0;
/// The room beside a node where several loops share its side: for arrow heads, and again before the labels.
const HEAD_ROOM: f64 = 16.0;
/// The radius of the corners of such loops. In pixels, chosen by eye.
const RADIUS: f64 = 6.0;
/// The length of a node's side for each of several loops, so that arrow heads do not touch.
const LANE_HEIGHT: f64 = 22.0;
/// The distance between the two ends of one of several loops. In pixels, chosen by eye.
const END_DISTANCE: f64 = 9.0;
/// The gap between two labels of a stack. In pixels, chosen by eye.
const LABEL_GAP: f64 = 8.0;
/// The distance between two loops that hang side by side. In pixels, chosen by eye.
const PITCH: f64 = 9.0;
/// The height that a loop without label takes. In pixels, chosen by eye.
const UNLABELLED_HEIGHT: f64 = 14.0;

/// Makes room in `body` for loops with these labels, and makes the node long enough for their ends.
pub fn make_room(body: &mut ItemBody, labels: &[Option<BoxSize>], direction: LayerDirection) {
    if labels.is_empty() {
        return;
    }
    let stack = stack_size(labels);
    let n_loops = labels.len() as f64;
    match direction {
        LayerDirection::Down => {
            // The node grows along the layers until all ends fit on its side; the layers then make room for it by
            // themselves.
            let lane = if labels.len() == 1 { PITCH } else { LANE_HEIGHT };
            body.half.along = body.half.along.max(lane * n_loops / 2.0 + 4.0);
            body.margin_after.across = label_distance(labels) + stack.width;
            // A stack of labels higher than the node reaches over both its ends, so room is reserved there as well.
            let beyond = (stack.height / 2.0 - body.half.along).max(0.0);
            body.margin_after.along = beyond;
            body.margin_before.along = beyond;
        }
        LayerDirection::Right => {
            body.half.along = body.half.along.max(PITCH * (n_loops + 0.5));
            body.margin_after.across = LABEL_DISTANCE + stack.height;
            let right = stack_left(Rect::default(), labels.len()) + stack.width;
            body.margin_after.along = (right - 2.0 * body.half.along).max(0.0);
        }
    }
}

/// Label boxes and lines of the loops of a node drawn at `node`.
pub fn draw_loops(
    node: Rect,
    labels: &[Option<BoxSize>],
    direction: LayerDirection,
) -> Vec<(Option<Rect>, EdgeRoute)> {
    let stack = stack_size(labels);
    let corner = match direction {
        LayerDirection::Down => {
            Point { x: node.right() + label_distance(labels), y: node.centre().y - stack.height / 2.0 }
        }
        LayerDirection::Right => {
            Point { x: stack_left(node, labels.len()), y: node.bottom() + LABEL_DISTANCE }
        }
    };
    let mut y = corner.y;
    let mut rects = Vec::new();
    for label in labels {
        let size = label_size(*label);
        rects.push(Rect { x: corner.x, y, width: size.width, height: size.height });
        y += size.height + LABEL_GAP;
    }
    // One loop is a petal; several would cross each other as petals, so they run in lanes.
    let routes = match (direction, &rects[..]) {
        (LayerDirection::Down, [rect]) => vec![single_loop(node, *rect)],
        (LayerDirection::Down, _) => nested_loops(node, &rects),
        (LayerDirection::Right, _) => {
            (0..rects.len()).map(|n| hanging_loop(node, rects[n], n, rects.len())).collect()
        }
    };
    labels.iter().zip(rects).map(|(label, rect)| label.map(|_| rect)).zip(routes).collect()
}

fn label_size(label: Option<BoxSize>) -> BoxSize {
    label.unwrap_or(BoxSize { width: 0.0, height: UNLABELLED_HEIGHT })
}

/// The size of all labels, one below the other.
fn stack_size(labels: &[Option<BoxSize>]) -> BoxSize {
    let sizes = || labels.iter().map(|&label| label_size(label));
    BoxSize {
        width: sizes().map(|size| size.width).fold(0.0, f64::max),
        height: sizes().map(|size| size.height + LABEL_GAP).sum::<f64>() - LABEL_GAP,
    }
}

/// The left edge of the stack below a node: right of the loops that hang there.
fn stack_left(node: Rect, n_loops: usize) -> f64 {
    node.x + 2.0 * PITCH * n_loops as f64 + PITCH
}

/// Returns the distance between a node and the labels beside it.
fn label_distance(labels: &[Option<BoxSize>]) -> f64 {
    match labels.len() {
        1 => LABEL_DISTANCE,
        n_loops => 2.0 * HEAD_ROOM + 2.0 * PITCH * n_loops.div_ceil(2) as f64,
    }
}

/// Returns the line of the only loop: from the right side of `node` to the left edge of `label` and back.
fn single_loop(node: Rect, label: Rect) -> EdgeRoute {
    let middle = node.centre().y;
    // A margin of 4 at either end keeps the ends of the loop off the corners of the node.
    let spread = ((node.height - 8.0) / 2.0 - 1.0).clamp(1.0, 8.0);
    let tip = Point { x: label.x, y: label.centre().y };
    let (start, end) =
        (Point { x: node.right(), y: middle - spread }, Point { x: node.right(), y: middle + spread });
    let pull = (tip.x - node.right()) * 0.55;
    let opening = 9.0_f64.min(label.height / 2.0);
    EdgeRoute {
        start,
        steps: vec![
            RouteStep::Curve(
                Point { x: start.x + pull, y: start.y - 2.0 },
                Point { x: tip.x, y: tip.y - opening },
                tip,
            ),
            RouteStep::Curve(
                Point { x: tip.x, y: tip.y + opening },
                Point { x: end.x + pull, y: end.y + 2.0 },
                end,
            ),
        ],
    }
}

/// Returns the lines of several loops: from the right side of `node` to the left edges of `labels` and back, side by
/// side.
///
/// The labels are spread wider than the ends at the node, so lines run up or down on their way. Of those
/// that run up the first does so nearest to the node, of those that run down the last: none crosses another.
fn nested_loops(node: Rect, labels: &[Rect]) -> Vec<EdgeRoute> {
    let room = (node.height - 8.0).max(0.0) / labels.len() as f64;
    let heights: Vec<f64> = (0..labels.len()).map(|n| node.y + 4.0 + room * (n as f64 + 0.5)).collect();
    let goes_up: Vec<bool> = labels.iter().zip(&heights).map(|(it, here)| it.centre().y < *here).collect();
    // Up and down share the lanes: a loop that goes up and one that goes down never meet, as their labels do not.
    let n_up = goes_up.iter().filter(|up| **up).count();
    let n_down = labels.len() - n_up;
    let lanes_room = labels.first().map_or(0.0, |label| label.x - node.right() - 2.0 * HEAD_ROOM);
    let pitch = lanes_room.max(0.0) / n_up.max(n_down).max(1) as f64;
    let (mut up, mut down) = (0..n_up, (0..n_down).rev());
    let mut routes = Vec::new();
    for ((label, here), up_here) in labels.iter().zip(heights).zip(goes_up) {
        let place = if up_here { up.next() } else { down.next() };
        let near = node.right() + HEAD_ROOM + pitch * place.unwrap_or(0) as f64;
        let far = near + END_DISTANCE.min(pitch / 2.0);
        let (out, back) = if up_here { (near, far) } else { (far, near) };
        let half = (END_DISTANCE / 2.0).min(room / 2.0).min(label.height / 2.0);
        routes.push(nested_loop(node, *label, here, half, (out, back)));
    }
    routes
}

/// One of several loops: out at height `here`, up or down at the given places, into `label` and back.
fn nested_loop(node: Rect, label: Rect, here: f64, half: f64, (out, back): (f64, f64)) -> EdgeRoute {
    let there = label.centre().y;
    let at = |x: f64, y: f64| Point { x, y };
    let corners = [
        at(out, here - half),
        at(out, there - half),
        at(label.x, there - half),
        at(label.x, there + half),
        at(back, there + half),
        at(back, here + half),
        at(node.right(), here + half),
    ];
    round_corners(at(node.right(), here - half), &corners)
}

/// The line through `corners`, each but the last made round.
fn round_corners(start: Point, corners: &[Point]) -> EdgeRoute {
    let mut steps = Vec::new();
    let mut before = start;
    for pair in corners.windows(2) {
        let (corner, after) = (pair[0], pair[1]);
        // Never more than half of either leg, or two curves would overlap.
        let radius = RADIUS.min(distance(before, corner) / 2.0).min(distance(corner, after) / 2.0);
        let (from, to) = (point_towards(corner, before, radius), point_towards(corner, after, radius));
        steps.extend([RouteStep::Line(from), RouteStep::Curve(corner, corner, to)]);
        before = corner;
    }
    steps.extend(corners.last().map(|&end| RouteStep::Line(end)));
    EdgeRoute { start, steps }
}

/// Returns the distance of two points.
fn distance(a: Point, b: Point) -> f64 {
    (a.x - b.x).hypot(a.y - b.y)
}

/// The point `by` away from `from` on the way to `to`.
fn point_towards(from: Point, to: Point, by: f64) -> Point {
    let length = distance(from, to);
    if length <= by {
        return to;
    }
    let part = by / length;
    Point { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part }
}

/// Returns the line of a loop from the bottom of `node` down to the left edge of `label` and back; later loops hang
/// outside.
fn hanging_loop(node: Rect, label: Rect, n: usize, n_loops: usize) -> EdgeRoute {
    let outer = node.x + PITCH * (2 * (n_loops - 1 - n)) as f64 + PITCH;
    let (start, end) = (Point { x: outer, y: node.bottom() }, Point { x: outer + PITCH, y: node.bottom() });
    let tip = Point { x: label.x, y: label.centre().y };
    let half = 4.0_f64.min(label.height / 2.0);
    EdgeRoute {
        start,
        steps: vec![
            RouteStep::Line(Point { x: start.x, y: tip.y - half - 4.0 }),
            RouteStep::Curve(
                Point { x: start.x, y: tip.y + half },
                Point { x: start.x + PITCH / 2.0, y: tip.y + half },
                Point { x: tip.x, y: tip.y + half },
            ),
            RouteStep::Line(Point { x: tip.x, y: tip.y - half }),
            RouteStep::Curve(
                Point { x: end.x + PITCH / 2.0, y: tip.y - half },
                Point { x: end.x, y: tip.y - half },
                Point { x: end.x, y: tip.y - 2.0 * half - 6.0 },
            ),
            RouteStep::Line(end),
        ],
    }
}
