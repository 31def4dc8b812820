//! Self loops: petals beside a node, each with its label at the tip.
//!
//! In a drawing that runs down, labels are stacked to the right of the node and each loop
//! reaches out to its label and back. In one that runs to the right they are stacked below
//! the node, and the loops hang down along the left edge of the stack.

use super::part::Body;
use super::{Direction, Point, Rect, Route, Size, Step};

/// From a node to the labels of its loops.
const REACH: f64 = 26.0;
/// From a node to the labels beside it, where several loops share its side.
const REACH_OF_MANY: f64 = 38.0;
/// Of the side of a node, for one of several loops: arrow heads must not touch.
const LANE: f64 = 22.0;
/// Between the two ends of one of several loops.
const ENDS: f64 = 9.0;
/// Between two labels of a stack.
const GAP: f64 = 8.0;
/// Between two loops that hang side by side.
const PITCH: f64 = 9.0;
/// The height that a loop without label takes.
const BARE: f64 = 14.0;

/// Makes room in `body` for loops with these labels, and makes the node long enough for their ends.
pub fn make_room(body: &mut Body, labels: &[Option<Size>], direction: Direction) {
    if labels.is_empty() {
        return;
    }
    let stack = stack(labels);
    let n_loops = labels.len() as f64;
    match direction {
        Direction::Down => {
            let lane = if labels.len() == 1 { PITCH } else { LANE };
            body.half.along = body.half.along.max(lane * n_loops / 2.0 + 4.0);
            body.margin_after.across = reach(labels) + stack.width;
            let beyond = (stack.height / 2.0 - body.half.along).max(0.0);
            body.margin_after.along = beyond;
            body.margin_before.along = beyond;
        }
        Direction::Right => {
            body.half.along = body.half.along.max(PITCH * (n_loops + 0.5));
            body.margin_after.across = REACH + stack.height;
            let right = stack_left(Rect::default(), labels.len()) + stack.width;
            body.margin_after.along = (right - 2.0 * body.half.along).max(0.0);
        }
    }
}

/// Label boxes and lines of the loops of a node drawn at `node`.
pub fn draw(node: Rect, labels: &[Option<Size>], direction: Direction) -> Vec<(Option<Rect>, Route)> {
    let stack = stack(labels);
    let corner = match direction {
        Direction::Down => Point { x: node.right() + reach(labels), y: node.centre().y - stack.height / 2.0 },
        Direction::Right => Point { x: stack_left(node, labels.len()), y: node.bottom() + REACH },
    };
    let mut y = corner.y;
    let mut loops = Vec::new();
    for (n, label) in labels.iter().enumerate() {
        let size = shown(*label);
        let rect = Rect { x: corner.x, y, width: size.width, height: size.height };
        let route = match direction {
            Direction::Down if labels.len() == 1 => petal(node, rect),
            Direction::Down => ribbon(node, rect, n, labels.len()),
            Direction::Right => hanging(node, rect, n, labels.len()),
        };
        loops.push((label.map(|_| rect), route));
        y += size.height + GAP;
    }
    loops
}

fn shown(label: Option<Size>) -> Size {
    label.unwrap_or(Size { width: 0.0, height: BARE })
}

/// The size of all labels, one below the other.
fn stack(labels: &[Option<Size>]) -> Size {
    let sizes = || labels.iter().map(|&label| shown(label));
    Size {
        width: sizes().map(|size| size.width).fold(0.0, f64::max),
        height: sizes().map(|size| size.height + GAP).sum::<f64>() - GAP,
    }
}

/// The left edge of the stack below a node: right of the loops that hang there.
fn stack_left(node: Rect, n_loops: usize) -> f64 {
    node.x + 2.0 * PITCH * n_loops as f64 + PITCH
}

/// How far the labels beside a node are.
fn reach(labels: &[Option<Size>]) -> f64 {
    if labels.len() == 1 { REACH } else { REACH_OF_MANY }
}

/// From the right side of `node` to the left edge of `label` and back: the only loop.
fn petal(node: Rect, label: Rect) -> Route {
    let middle = node.centre().y;
    let spread = ((node.height - 8.0) / 2.0 - 1.0).clamp(1.0, 8.0);
    let tip = Point { x: label.x, y: label.centre().y };
    let (start, end) =
        (Point { x: node.right(), y: middle - spread }, Point { x: node.right(), y: middle + spread });
    let pull = (tip.x - node.right()) * 0.55;
    let opening = 9.0_f64.min(label.height / 2.0);
    Route {
        start,
        steps: vec![
            Step::Curve(
                Point { x: start.x + pull, y: start.y - 2.0 },
                Point { x: tip.x, y: tip.y - opening },
                tip,
            ),
            Step::Curve(
                Point { x: tip.x, y: tip.y + opening },
                Point { x: end.x + pull, y: end.y + 2.0 },
                end,
            ),
        ],
    }
}

/// From the right side of `node` to the left edge of `label` and back, beside other loops: there and back in
/// the same bow, so that neighbours neither touch nor cross. It arrives straight, behind its arrow head.
fn ribbon(node: Rect, label: Rect, n: usize, n_loops: usize) -> Route {
    let lane = (node.height - 8.0).max(0.0) / n_loops as f64;
    let middle = node.y + 4.0 + lane * (n as f64 + 0.5);
    let half = (ENDS / 2.0).min(lane / 2.0).min(label.height / 2.0);
    let at = |x: f64, y: f64| Point { x, y };
    let (left, right) = (node.right(), label.x);
    let straight = (right - left) * 0.3;
    let bend = (left + straight + right) / 2.0;
    let tip = label.centre().y;
    Route {
        start: at(left, middle - half),
        steps: vec![
            Step::Line(at(left + straight, middle - half)),
            Step::Curve(at(bend, middle - half), at(bend, tip - half), at(right, tip - half)),
            Step::Line(at(right, tip + half)),
            Step::Curve(at(bend, tip + half), at(bend, middle + half), at(left + straight, middle + half)),
            Step::Line(at(left, middle + half)),
        ],
    }
}

/// From the bottom of `node` down to the left edge of `label` and back; later loops hang outside.
fn hanging(node: Rect, label: Rect, n: usize, n_loops: usize) -> Route {
    let outer = node.x + PITCH * (2 * (n_loops - 1 - n)) as f64 + PITCH;
    let (start, end) = (Point { x: outer, y: node.bottom() }, Point { x: outer + PITCH, y: node.bottom() });
    let tip = Point { x: label.x, y: label.centre().y };
    let half = 4.0_f64.min(label.height / 2.0);
    Route {
        start,
        steps: vec![
            Step::Line(Point { x: start.x, y: tip.y - half - 4.0 }),
            Step::Curve(
                Point { x: start.x, y: tip.y + half },
                Point { x: start.x + PITCH / 2.0, y: tip.y + half },
                Point { x: tip.x, y: tip.y + half },
            ),
            Step::Line(Point { x: tip.x, y: tip.y - half }),
            Step::Curve(
                Point { x: end.x + PITCH / 2.0, y: tip.y - half },
                Point { x: end.x, y: tip.y - half },
                Point { x: end.x, y: tip.y - 2.0 * half - 6.0 },
            ),
            Step::Line(end),
        ],
    }
}
