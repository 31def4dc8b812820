//! Lines: coordinates from layer to layer, the ends of links at the sides of nodes, curves.
//!
//! A link runs straight through every layer at the place of its item, and bends only in the
//! gap between two layers, by a cubic that starts and ends at right angles to them. So a
//! line never touches a box it does not belong to, and never has a corner. Gaps grow with
//! the farthest sideways move they have to hold.

use ioxide_model::index::IndexVec;

use super::layers::{LayeredGraph, LinkChain};
use super::part::{ItemId, LinkId};

/// The least gap between two layers, in pixels as all lengths here; arrow heads need it. The numbers of this file were
/// chosen by eye.
const MIN_LAYER_GAP: f64 = 24.0;
/// A gap grows with the square root of the farthest sideways move, up to a limit. In pixels, chosen by eye.
const GAP_GROWTH: (f64, f64) = (2.2, 80.0);
/// The least distance of a link's end from the corner of a node. In pixels, chosen by eye.
const MIN_CORNER_DISTANCE: f64 = 9.0;

/// The greatest distance between two ends at the side of a node; wider sides keep them together in the middle. In
/// pixels, chosen by eye.
const MAX_PORT_STEP: f64 = 18.0;

/// The length below which a straight piece is left out. In pixels: less than anyone sees.
const MIN_STRAIGHT: f64 = 0.05;

/// A point in the axes of the method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AxisPoint {
    /// The coordinate along the layer.
    pub across: f64,
    /// The coordinate from layer to layer.
    pub along: f64,
}

/// A piece of a line that begins where the one before ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RouteStroke {
    /// A straight line.
    Line(AxisPoint),
    /// A cubic with two control points.
    Curve(AxisPoint, AxisPoint, AxisPoint),
}

/// A line from the source of a link to its target.
#[derive(Clone, Debug)]
pub struct RoutedLine {
    /// The point at the source.
    pub start: AxisPoint,
    /// The pieces of the line, in order.
    pub strokes: Vec<RouteStroke>,
}

/// The coordinates of all items and lines of a part.
#[derive(Debug)]
pub struct Routed {
    /// The anchor of each item.
    pub anchor: IndexVec<ItemId, AxisPoint>,
    /// The line of each link.
    pub lines: IndexVec<LinkId, RoutedLine>,
    /// The whole length from the first layer to the last.
    pub length: f64,
}

/// Returns lines for all links, given the coordinates of the items across.
pub fn route_links(layered: &LayeredGraph, across: &IndexVec<ItemId, f64>) -> Routed {
    let ports = assign_ports(layered, across);
    let bands = layer_bands(layered, across, &ports);
    let anchor: IndexVec<ItemId, AxisPoint> = across
        .iter_enumerated()
        .map(|(item, &across)| AxisPoint { across, along: bands[layered.layer[item]].anchor })
        .collect();
    let chains = layered.chains.iter_enumerated();
    let lines =
        chains.map(|(link, chain)| chain_line(layered, &anchor, &bands, chain, ports[link])).collect();
    Routed { anchor, lines, length: bands.last().map_or(0.0, |band| band.end) }
}

/// The part of the along axis that a layer fills.
#[derive(Clone, Copy, Debug, Default)]
struct LayerBand {
    start: f64,
    anchor: f64,
    end: f64,
}

/// The coordinates across of the points where a link touches its first and its last node.
#[derive(Clone, Copy, Debug, Default)]
struct Ports {
    first: f64,
    last: f64,
}

/// The end of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainEnd {
    First,
    Last,
}

fn assign_ports(layered: &LayeredGraph, across: &IndexVec<ItemId, f64>) -> IndexVec<LinkId, Ports> {
    let mut ports = IndexVec::from_elem(Ports::default(), layered.chains.len());
    let mut ends: IndexVec<ItemId, [Vec<(f64, LinkId)>; 2]> =
        across.iter().map(|_| [Vec::new(), Vec::new()]).collect();
    for (link, chain) in layered.chains.iter_enumerated() {
        let [first, second, ..] = chain.items[..] else { continue };
        let [.., last_but_one, last] = chain.items[..] else { continue };
        ends[first][0].push((across[second], link));
        ends[last][1].push((across[last_but_one], link));
    }
    for (node, sides) in ends.iter_enumerated() {
        for (side, end) in sides.iter().zip([ChainEnd::First, ChainEnd::Last]) {
            for (port, link) in spread_ends(side, across[node], layered.body[node].half.across) {
                match end {
                    ChainEnd::First => ports[link].first = port,
                    ChainEnd::Last => ports[link].last = port,
                }
            }
        }
    }
    ports
}

/// Returns the ends in the order of the items they lead to, each as straight as the others allow.
fn spread_ends(ends: &[(f64, LinkId)], centre: f64, half: f64) -> Vec<(f64, LinkId)> {
    let mut ends = ends.to_vec();
    // In the order of what they lead to, so that no two of them cross right at the node.
    ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (low, high) =
        (centre - (half - MIN_CORNER_DISTANCE).max(0.0), centre + (half - MIN_CORNER_DISTANCE).max(0.0));
    let n = ends.len();
    let step = if n > 1 { ((high - low) / (n - 1) as f64).min(MAX_PORT_STEP) } else { 0.0 };
    let mut floor = low;
    for (place, end) in ends.iter_mut().enumerate() {
        // Room is left for those that come after.
        let ceiling = high - step * (n - 1 - place) as f64;
        end.0 = end.0.min(ceiling).max(floor);
        floor = end.0 + step;
    }
    debug_assert!(ends.is_sorted_by(|a, b| a.0 <= b.0), "ends keep the order of what they lead to");
    ends
}

/// The bands of all layers, with gaps that hold the curves between them.
fn layer_bands(
    layered: &LayeredGraph,
    across: &IndexVec<ItemId, f64>,
    ports: &IndexVec<LinkId, Ports>,
) -> Vec<LayerBand> {
    let moves = farthest_moves(layered, across, ports);
    let mut bands: Vec<LayerBand> = Vec::with_capacity(layered.layers.len());
    let mut start = 0.0;
    for (layer, items) in layered.layers.iter().enumerate() {
        let reach = items.iter().map(|&item| layered.body[item].extent_along());
        let (before, after) = reach.fold((0.0, 0.0), |a: (f64, f64), b| (a.0.max(b.0), a.1.max(b.1)));
        bands.push(LayerBand { start, anchor: start + before, end: start + before + after });
        // A wide move in a narrow gap would be nearly parallel to the layer; the root keeps very wide ones from tearing
        // the drawing apart.
        let growth = (moves[layer].sqrt() * GAP_GROWTH.0).min(GAP_GROWTH.1);
        start += before + after + MIN_LAYER_GAP + growth;
    }
    bands
}

/// Returns, for each layer, the farthest sideways move of a link before the next layer.
fn farthest_moves(
    layered: &LayeredGraph,
    across: &IndexVec<ItemId, f64>,
    ports: &IndexVec<LinkId, Ports>,
) -> Vec<f64> {
    let mut moves = vec![0.0_f64; layered.layers.len()];
    for (link, chain) in layered.chains.iter_enumerated() {
        let places = chain_coordinates(across, chain, ports[link]);
        for (pair, items) in places.windows(2).zip(chain.items.windows(2)) {
            let layer = layered.layer[items[0]];
            moves[layer] = moves[layer].max((pair[1] - pair[0]).abs());
        }
    }
    moves
}

/// Returns the coordinates across at which a chain passes its items, with the ports at its ends.
fn chain_coordinates(across: &IndexVec<ItemId, f64>, chain: &LinkChain, ports: Ports) -> Vec<f64> {
    let last = chain.items.len() - 1;
    let place = |(n, &item): (usize, &ItemId)| match n {
        0 => ports.first,
        n if n == last => ports.last,
        _ => across[item],
    };
    chain.items.iter().enumerate().map(place).collect()
}

fn chain_line(
    layered: &LayeredGraph,
    anchor: &IndexVec<ItemId, AxisPoint>,
    bands: &[LayerBand],
    chain: &LinkChain,
    ports: Ports,
) -> RoutedLine {
    let last = chain.items.len() - 1;
    let passes = chain.items.iter().enumerate().map(|(n, &item)| {
        let band = bands[layered.layer[item]];
        let half = layered.body[item].half.along;
        match n {
            0 => (ports.first, band.anchor + half, band.end),
            n if n == last => (ports.last, band.start, band.anchor - half),
            _ => (anchor[item].across, band.start, band.end),
        }
    });
    let line = line_through(passes);
    if chain.reversed { reverse_line(line) } else { line }
}

/// A line that runs straight from `start` to `end` at each place, and bends in between.
fn line_through(passes: impl Iterator<Item = (f64, f64, f64)>) -> RoutedLine {
    let mut line = RoutedLine { start: AxisPoint { across: 0.0, along: 0.0 }, strokes: Vec::new() };
    let mut here: Option<AxisPoint> = None;
    for (across, start, end) in passes {
        let (start, end) = (AxisPoint { across, along: start }, AxisPoint { across, along: end });
        let is_long = end.along - start.along > MIN_STRAIGHT;
        match here {
            None => line.start = start,
            // Where the pass is too short to be drawn the curve ends at its far side, so that no gap is left.
            Some(from) => line.strokes.push(bend_between(from, if is_long { start } else { end })),
        }
        if is_long {
            line.strokes.push(RouteStroke::Line(end));
        }
        here = Some(end);
    }
    line
}

/// Returns a stroke from `from` to `to` that leaves and arrives along the axis.
fn bend_between(from: AxisPoint, to: AxisPoint) -> RouteStroke {
    if from.across == to.across {
        return RouteStroke::Line(to);
    }
    // Both control points lie in the middle of the gap, so the curve has its steepest part there and is upright at
    // both ends.
    let middle = (from.along + to.along) / 2.0;
    RouteStroke::Curve(
        AxisPoint { across: from.across, along: middle },
        AxisPoint { across: to.across, along: middle },
        to,
    )
}

/// The same line from its end to its start.
fn reverse_line(line: RoutedLine) -> RoutedLine {
    let ends = line.strokes.iter().map(|stroke| match *stroke {
        RouteStroke::Line(to) | RouteStroke::Curve(_, _, to) => to,
    });
    let mut places: Vec<AxisPoint> = std::iter::once(line.start).chain(ends).collect();
    let start = places.pop().unwrap_or(line.start);
    let strokes = line.strokes.iter().rev().zip(places.into_iter().rev()).map(|(stroke, to)| match *stroke {
        RouteStroke::Line(_) => RouteStroke::Line(to),
        RouteStroke::Curve(first, second, _) => RouteStroke::Curve(second, first, to),
    });
    RoutedLine { start, strokes: strokes.collect() }
}
