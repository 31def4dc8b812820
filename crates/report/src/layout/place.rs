//! Coordinates across the layers: long links straight, nodes between their neighbours.
//!
//! Four times, for either direction of the layers and of the order within them, items are
//! aligned with the median of their neighbours and the resulting blocks are pushed together;
//! the result is the mean of the two middle ones of the four \[BrandesKoepf01].
//!
//! *Promises* that items of a layer keep their order and their distance.
//! *Differs* from the paper in how blocks are pushed together: by longest paths in the graph
//! of blocks, which avoids the errors found in the original compaction \[BrandesWalterZink20],
//! and in that an item's room may be uneven on its two sides.

use std::collections::BTreeSet;

use ioxide_model::index::IndexVec;

use super::layers::{LayerItemKind, LayeredGraph};
use super::part::ItemId;

/// The least room between two items of a layer, in pixels; chosen by eye.
fn item_gap(a: LayerItemKind, b: LayerItemKind) -> f64 {
    match (a, b) {
        (LayerItemKind::Node, LayerItemKind::Node) => 28.0,
        (LayerItemKind::Bend, LayerItemKind::Bend) => 8.0,
        (LayerItemKind::Label, LayerItemKind::Label) => 12.0,
        _ => 14.0,
    }
}

/// The coordinate of each item's anchor along its layer.
pub fn place_items(layered: &LayeredGraph) -> IndexVec<ItemId, f64> {
    let conflicts = find_conflicts(layered);
    // Each corner leans to its own side; the mean of the middle two of the four leans to none.
    let layouts: Vec<IndexVec<ItemId, f64>> = [(false, false), (false, true), (true, false), (true, true)]
        .into_iter()
        .map(|(from_end, mirrored)| CornerView::new(layered, &conflicts, from_end, mirrored).coordinates())
        .collect();
    separate_items(layered, balance_layouts(layered, layouts))
}

/// Moves all items so that the first body begins at 0, and returns the whole width.
pub fn move_to_origin(layered: &LayeredGraph, across: &mut IndexVec<ItemId, f64>) -> f64 {
    let (low, high) = extent(layered, across);
    across.iter_mut().for_each(|across| *across -= low);
    high - low
}

/// Links between neighbouring layers that no block may follow, as pairs of items.
type Conflicts = BTreeSet<(ItemId, ItemId)>;

/// The links that cross an inner segment, one between a bend or label and another.
///
/// Where two cross, the inner segment has the right to be straight (\[BrandesKoepf01], type 1).
fn find_conflicts(layered: &LayeredGraph) -> Conflicts {
    let at = positions(layered);
    let is_inner_end = |item: ItemId| layered.kind[item] != LayerItemKind::Node;
    let mut found = BTreeSet::new();
    for pair in layered.layers.windows(2) {
        let (upper, lower) = (&pair[0], &pair[1]);
        let mut left = 0;
        let mut next = 0;
        for (place, &item) in lower.iter().enumerate() {
            let inner = layered.before[item].iter().find(|&&above| is_inner_end(item) && is_inner_end(above));
            if inner.is_none() && place + 1 != lower.len() {
                continue;
            }
            // Algorithm 1 of the paper: inner segments do not cross each other, so between two of them the links of the
            // lower items may only lead to upper items between their ends, `left` and `right`.
            let right = inner.map_or(upper.len(), |&above| at[above]);
            for &other in &lower[next..=place] {
                for &above in &layered.before[other] {
                    let crosses = at[above] < left || at[above] > right;
                    if crosses && !(is_inner_end(other) && is_inner_end(above)) {
                        found.insert((above, other));
                    }
                }
            }
            next = place + 1;
            left = right;
        }
    }
    found
}

/// Returns the position of each item in its layer.
fn positions(layered: &LayeredGraph) -> IndexVec<ItemId, usize> {
    let mut at = IndexVec::from_elem(0, layered.layer.len());
    for layer in &layered.layers {
        for (place, &item) in layer.iter().enumerate() {
            at[item] = place;
        }
    }
    at
}

/// The layers seen from one of four corners.
struct CornerView<'l> {
    layered: &'l LayeredGraph,
    conflicts: &'l Conflicts,
    from_end: bool,
    mirrored: bool,
    layers: Vec<Vec<ItemId>>,
    at: IndexVec<ItemId, usize>,
}

impl<'l> CornerView<'l> {
    /// Makes the view from one corner: `from_end` reverses the layers, `mirrored` the order within each.
    fn new(layered: &'l LayeredGraph, conflicts: &'l Conflicts, from_end: bool, mirrored: bool) -> Self {
        let mut layers = layered.layers.clone();
        if from_end {
            layers.reverse();
        }
        if mirrored {
            layers.iter_mut().for_each(|layer| layer.reverse());
        }
        let mut at = IndexVec::from_elem(0, layered.layer.len());
        for layer in &layers {
            for (place, &item) in layer.iter().enumerate() {
                at[item] = place;
            }
        }
        Self { layered, conflicts, from_end, mirrored, layers, at }
    }

    /// Returns the coordinates of one of the four alignments (Brandes and Köpf).
    fn coordinates(&self) -> IndexVec<ItemId, f64> {
        let root = self.align_blocks();
        let across = self.compact_blocks(&root);
        let sign = if self.mirrored { -1.0 } else { 1.0 };
        root.iter().map(|&root| sign * across[root]).collect()
    }

    /// Aligns items with the medians of their neighbours; gives each item the first of its block.
    fn align_blocks(&self) -> IndexVec<ItemId, ItemId> {
        let mut root: IndexVec<ItemId, ItemId> = self.layered.layer.ids().collect();
        let mut is_taken: IndexVec<ItemId, bool> = IndexVec::from_elem(false, root.len());
        for layer in &self.layers {
            let mut free_from = 0;
            for &item in layer {
                for above in self.median_neighbours(item) {
                    let place = self.at[above];
                    // `free_from` keeps blocks from crossing: neighbours already aligned lie to the left of it.
                    if place < free_from || is_taken[above] || self.is_in_conflict(item, above) {
                        continue;
                    }
                    root[item] = root[above];
                    is_taken[above] = true;
                    free_from = place + 1;
                    break;
                }
            }
        }
        root
    }

    /// The one or two middle neighbours on the layer seen before.
    fn median_neighbours(&self, item: ItemId) -> Vec<ItemId> {
        let neighbours = if self.from_end { &self.layered.after[item] } else { &self.layered.before[item] };
        if neighbours.is_empty() {
            return Vec::new();
        }
        let mut sorted = neighbours.clone();
        sorted.sort_by_key(|&other| self.at[other]);
        let (low, high) = ((sorted.len() - 1) / 2, sorted.len() / 2);
        sorted[low..=high].to_vec()
    }

    fn is_in_conflict(&self, item: ItemId, above: ItemId) -> bool {
        let pair = if self.from_end { (item, above) } else { (above, item) };
        self.conflicts.contains(&pair)
    }

    /// Pushes blocks together: to the left as far as they go, then back towards their right neighbours.
    fn compact_blocks(&self, root: &IndexVec<ItemId, ItemId>) -> IndexVec<ItemId, f64> {
        let neighbours = self.block_graph(root);
        let order = topological_order(&neighbours);
        let mut across: IndexVec<ItemId, f64> = IndexVec::from_elem(0.0, root.len());
        // Longest paths from the left give every block its leftmost place; the second pass moves blocks that have room
        // back to the right, so that they do not stick to the left border.
        debug_assert_eq!(
            order.len(),
            root.len(),
            "the graph of blocks has no cycle, since blocks do not cross"
        );
        for &block in &order {
            for &(right, distance) in &neighbours[block] {
                across[right] = across[right].max(across[block] + distance);
            }
        }
        for &block in order.iter().rev() {
            let room = neighbours[block].iter().map(|&(right, distance)| across[right] - distance);
            if let Some(limit) = room.min_by(f64::total_cmp) {
                across[block] = across[block].max(limit);
            }
        }
        across
    }

    /// For each block the blocks right of it with the least distance.
    fn block_graph(&self, root: &IndexVec<ItemId, ItemId>) -> IndexVec<ItemId, Vec<(ItemId, f64)>> {
        let mut graph: IndexVec<ItemId, Vec<(ItemId, f64)>> = IndexVec::from_elem(Vec::new(), root.len());
        for layer in &self.layers {
            for pair in layer.windows(2) {
                graph[root[pair[0]]].push((root[pair[1]], self.least_distance(pair[0], pair[1])));
            }
        }
        graph
    }

    fn least_distance(&self, left: ItemId, right: ItemId) -> f64 {
        if self.mirrored { distance(self.layered, right, left) } else { distance(self.layered, left, right) }
    }
}

/// The least distance of the anchors of neighbours in a layer.
fn distance(layered: &LayeredGraph, left: ItemId, right: ItemId) -> f64 {
    let gap = item_gap(layered.kind[left], layered.kind[right]);
    layered.body[left].extent_across().1 + gap + layered.body[right].extent_across().0
}

/// Blocks with left ones before right ones.
fn topological_order(graph: &IndexVec<ItemId, Vec<(ItemId, f64)>>) -> Vec<ItemId> {
    let mut waiting: IndexVec<ItemId, usize> = IndexVec::from_elem(0, graph.len());
    for (right, _) in graph.iter().flatten() {
        waiting[*right] += 1;
    }
    let mut order: Vec<ItemId> = graph.ids().filter(|&block| waiting[block] == 0).collect();
    let mut next = 0;
    while let Some(&block) = order.get(next) {
        next += 1;
        for &(right, _) in &graph[block] {
            waiting[right] -= 1;
            if waiting[right] == 0 {
                order.push(right);
            }
        }
    }
    order
}

/// The mean of the two middle layouts, once all four are aligned with the narrowest.
fn balance_layouts(layered: &LayeredGraph, mut layouts: Vec<IndexVec<ItemId, f64>>) -> IndexVec<ItemId, f64> {
    let extents: Vec<(f64, f64)> = layouts.iter().map(|layout| extent(layered, layout)).collect();
    let width = |&(low, high): &(f64, f64)| high - low;
    let narrowest =
        extents.iter().min_by(|a, b| width(a).total_cmp(&width(b))).copied().unwrap_or((0.0, 0.0));
    for (n, (layout, extent)) in layouts.iter_mut().zip(&extents).enumerate() {
        // Layouts that lean to the left are aligned at their left edges, the mirrored ones at their right edges.
        let is_mirrored = n % 2 == 1;
        let shift = if is_mirrored { narrowest.1 - extent.1 } else { narrowest.0 - extent.0 };
        layout.iter_mut().for_each(|across| *across += shift);
    }
    let middle = |item: ItemId| {
        let mut all: Vec<f64> = layouts.iter().map(|layout| layout[item]).collect();
        all.sort_by(f64::total_cmp);
        (all[1] + all[2]) / 2.0
    };
    layered.layer.ids().map(middle).collect()
}

/// The least and greatest coordinate that any body touches.
fn extent(layered: &LayeredGraph, across: &IndexVec<ItemId, f64>) -> (f64, f64) {
    let edges = across.iter_enumerated().map(|(item, &at)| {
        let (before, after) = layered.body[item].extent_across();
        (at - before, at + after)
    });
    edges.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((0.0, 0.0))
}

/// The same coordinates with distances kept to the last digit, so that rounding cannot make boxes touch.
fn separate_items(layered: &LayeredGraph, mut across: IndexVec<ItemId, f64>) -> IndexVec<ItemId, f64> {
    for layer in &layered.layers {
        for pair in layer.windows(2) {
            let least = across[pair[0]] + distance(layered, pair[0], pair[1]);
            across[pair[1]] = across[pair[1]].max(least);
        }
    }
    across
}
