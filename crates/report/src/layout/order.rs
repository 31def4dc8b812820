//! The order of items within layers, so that few links cross.
//!
//! Layers are swept up and down; an item goes to the median, in every other sweep to the
//! barycentre, of its neighbours on the layer before; then neighbours change places while
//! that removes crossings \[Sugiyama81, Gansner93 sec. 3]. The best order met is kept.
//! Crossings are counted with a tree of partial sums \[Barth02].
//!
//! *Promises* the same order for the same layers; less effort is spent on larger ones.

use ioxide_model::index::IndexVec;

use super::layers::LayeredGraph;
use super::part::ItemId;

/// The number of items visited by all sweeps together, roughly. It bounds the time for large graphs; chosen by feel, as
/// are the next two.
const MAX_VISITS: usize = 6_000_000;
/// The number of sweeps for each start, at most and at least. At most 24 as in \[Gansner93].
const SWEEPS: (usize, usize) = (24, 4);
/// The number of sweeps without a better order before giving up. An order that has not improved for so long seldom
/// does.
const MAX_IDLE_SWEEPS: usize = 6;

/// Orders the items of every layer.
pub fn order_layers(layered: &mut LayeredGraph) {
    let n_items = layered.layer.len().max(1);
    let n_sweeps = (MAX_VISITS / (8 * n_items)).clamp(SWEEPS.1, SWEEPS.0);
    let mut best: Option<(usize, Vec<Vec<ItemId>>)> = None;
    // Two starts, because the heuristic depends on where it begins: from the first layer, and from the last.
    for side in [NeighbourSide::Before, NeighbourSide::After] {
        layered.layers = depth_first_order(layered, side);
        let mut work = LayerOrder::new(layered);
        work.sweep_until_settled(n_sweeps);
        if best.as_ref().is_none_or(|(n_crossings, _)| work.best.0 < *n_crossings) {
            best = Some(work.best);
        }
    }
    if let Some((_, layers)) = best {
        layered.layers = layers;
    }
}

/// Returns the number of pairs of links that cross between neighbouring layers.
#[cfg(test)]
pub fn count_crossings(layered: &LayeredGraph) -> usize {
    let at = positions(layered, &layered.layers);
    let pairs = layered.layers.windows(2);
    pairs.map(|pair| count_crossings_between(layered, &at, &pair[0], pair[1].len())).sum()
}

/// The side on which an item's neighbours are considered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NeighbourSide {
    Before,
    After,
}

impl NeighbourSide {
    /// Returns the neighbours of an item in the layer on this side.
    fn neighbours(self, layered: &LayeredGraph, item: ItemId) -> &[ItemId] {
        match self {
            Self::Before => &layered.before[item],
            Self::After => &layered.after[item],
        }
    }
}

/// The order in which a depth-first search meets the items, begun at the first or last layer.
///
/// A tree drawn in this order has no crossing.
fn depth_first_order(layered: &LayeredGraph, side: NeighbourSide) -> Vec<Vec<ItemId>> {
    let forward = if side == NeighbourSide::Before { NeighbourSide::After } else { NeighbourSide::Before };
    let mut met: IndexVec<ItemId, bool> = IndexVec::from_elem(false, layered.layer.len());
    let mut layers = vec![Vec::new(); layered.layers.len()];
    let mut starts: Vec<ItemId> = layered.layers.iter().flatten().copied().collect();
    if side == NeighbourSide::After {
        starts = layered.layers.iter().rev().flatten().copied().collect();
    }
    let mut stack = Vec::new();
    for start in starts {
        stack.push(start);
        while let Some(item) = stack.pop() {
            if met[item] {
                continue;
            }
            met[item] = true;
            layers[layered.layer[item]].push(item);
            stack.extend(forward.neighbours(layered, item).iter().rev().filter(|&&next| !met[next]));
        }
    }
    layers
}

/// An order being improved.
struct LayerOrder<'l> {
    layered: &'l LayeredGraph,
    layers: Vec<Vec<ItemId>>,
    /// The position of each item within its layer.
    at: IndexVec<ItemId, usize>,
    best: (usize, Vec<Vec<ItemId>>),
}

impl<'l> LayerOrder<'l> {
    /// Starts with the given order of the layers as the best one.
    fn new(layered: &'l LayeredGraph) -> Self {
        let layers = layered.layers.clone();
        let at = positions(layered, &layers);
        let best = (usize::MAX, layers.clone());
        let mut order = Self { layered, layers, at, best };
        order.keep_if_better();
        order
    }

    fn sweep_until_settled(&mut self, n_sweeps: usize) {
        let mut last_gain = 0;
        for sweep in 0..n_sweeps {
            if self.best.0 == 0 || sweep - last_gain > MAX_IDLE_SWEEPS {
                return;
            }
            // Sweeps alternate in direction, and every two of them between median and barycentre: each leaves orders
            // that the other one improves.
            let side = if sweep % 2 == 0 { NeighbourSide::Before } else { NeighbourSide::After };
            let target = if sweep / 2 % 2 == 0 { weighted_median } else { barycentre };
            self.sweep(side, target);
            self.transpose();
            if self.keep_if_better() {
                last_gain = sweep;
            }
        }
    }

    /// Sorts every layer by the targets its items have on `side`.
    fn sweep(&mut self, side: NeighbourSide, target: fn(&mut [usize]) -> Option<f64>) {
        let n_layers = self.layers.len();
        for step in 0..n_layers {
            let layer = if side == NeighbourSide::Before { step } else { n_layers - 1 - step };
            self.sort_layer(layer, side, target);
        }
    }

    /// Sorts one layer; items without neighbours on `side` keep their place.
    fn sort_layer(&mut self, layer: usize, side: NeighbourSide, target: fn(&mut [usize]) -> Option<f64>) {
        let mut moving = Vec::new();
        let mut staying = Vec::new();
        let mut scratch = Vec::new();
        for (place, &item) in self.layers[layer].iter().enumerate() {
            scratch.clear();
            scratch.extend(side.neighbours(self.layered, item).iter().map(|&other| self.at[other]));
            match target(&mut scratch) {
                Some(target) => moving.push((target, item)),
                None => staying.push((place, item)),
            }
        }
        // A stable sort: items with the same target keep their order, so that sweeps do not undo each other for ever.
        moving.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut sorted = Vec::with_capacity(self.layers[layer].len());
        let mut moving = moving.into_iter();
        for (place, item) in staying {
            sorted.extend(moving.by_ref().take(place - sorted.len()).map(|(_, item)| item));
            sorted.push(item);
        }
        sorted.extend(moving.map(|(_, item)| item));
        self.set_layer(layer, sorted);
    }

    fn set_layer(&mut self, layer: usize, items: Vec<ItemId>) {
        for (place, &item) in items.iter().enumerate() {
            self.at[item] = place;
        }
        debug_assert_eq!(items.len(), self.layers[layer].len(), "sorting loses no item");
        self.layers[layer] = items;
    }

    /// Swaps neighbours while that removes crossings, in at most four passes.
    fn transpose(&mut self) {
        for _ in 0..4 {
            let mut gained = false;
            for layer in 0..self.layers.len() {
                for place in 1..self.layers[layer].len() {
                    gained |= self.swap_if_better(layer, place);
                }
            }
            // Every swap removes a crossing, so passes come to an end by themselves; four take most of what there is.
            if !gained {
                return;
            }
        }
    }

    fn swap_if_better(&mut self, layer: usize, place: usize) -> bool {
        let (left, right) = (self.layers[layer][place - 1], self.layers[layer][place]);
        // Only links of these two items can change: count the crossings among them for both orders.
        let (mut now, mut swapped) = (0, 0);
        for side in [NeighbourSide::Before, NeighbourSide::After] {
            let places = |item| -> Vec<usize> {
                let mut places: Vec<usize> =
                    side.neighbours(self.layered, item).iter().map(|&other| self.at[other]).collect();
                places.sort_unstable();
                places
            };
            let (ours, theirs) = (places(left), places(right));
            now += count_inversions(&ours, &theirs);
            swapped += count_inversions(&theirs, &ours);
        }
        if swapped >= now {
            return false;
        }
        self.layers[layer].swap(place - 1, place);
        self.at[left] = place;
        self.at[right] = place - 1;
        true
    }

    /// Keeps the order if it has fewer crossings than the best so far, and returns whether it has.
    fn keep_if_better(&mut self) -> bool {
        let pairs = self.layers.windows(2);
        let n_crossings =
            pairs.map(|pair| count_crossings_between(self.layered, &self.at, &pair[0], pair[1].len())).sum();
        let better = n_crossings < self.best.0;
        if better {
            self.best = (n_crossings, self.layers.clone());
        }
        better
    }
}

/// Returns the number of pairs whose left place is greater than the right one; both lists are sorted.
fn count_inversions(left: &[usize], right: &[usize]) -> usize {
    let mut n_smaller = 0;
    let mut total = 0;
    for &place in left {
        while right.get(n_smaller).is_some_and(|&other| other < place) {
            n_smaller += 1;
        }
        total += n_smaller;
    }
    total
}

/// Returns the position of each item in its layer.
fn positions(layered: &LayeredGraph, layers: &[Vec<ItemId>]) -> IndexVec<ItemId, usize> {
    let mut at = IndexVec::from_elem(0, layered.layer.len());
    for layer in layers {
        for (place, &item) in layer.iter().enumerate() {
            at[item] = place;
        }
    }
    at
}

/// The weighted median of \[Gansner93]: between two middle places it leans to the denser side.
fn weighted_median(places: &mut [usize]) -> Option<f64> {
    places.sort_unstable();
    let n = places.len();
    let middle = n / 2;
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(places[middle] as f64),
        2 => Some((places[0] + places[1]) as f64 / 2.0),
        _ => {
            let left = (places[middle - 1] - places[0]) as f64;
            let right = (places[n - 1] - places[middle]) as f64;
            let (low, high) = (places[middle - 1] as f64, places[middle] as f64);
            let total = left + right;
            Some(if total == 0.0 { (low + high) / 2.0 } else { (low * right + high * left) / total })
        }
    }
}

/// Returns the mean of the places of the neighbours, `None` if there are none.
fn barycentre(places: &mut [usize]) -> Option<f64> {
    let n = places.len();
    (n > 0).then(|| places.iter().sum::<usize>() as f64 / n as f64)
}

/// Crossings of the links from `upper` to the next layer, which has `n_lower` items.
fn count_crossings_between(
    layered: &LayeredGraph,
    at: &IndexVec<ItemId, usize>,
    upper: &[ItemId],
    n_lower: usize,
) -> usize {
    // [Barth02]: go through the links by their upper ends; a link crosses those seen before it whose lower end lies
    // beyond its own. A Fenwick tree counts them in the logarithm of the layer instead of comparing all pairs.
    let mut sums = vec![0_usize; n_lower + 1];
    let (mut seen, mut crossings) = (0, 0);
    let mut places = Vec::new();
    for &item in upper {
        places.clear();
        places.extend(layered.after[item].iter().map(|&below| at[below]));
        places.sort_unstable();
        // Links that end at or before this place do not cross; the others do.
        crossings += places.iter().map(|&place| seen - prefix_sum(&sums, place + 1)).sum::<usize>();
        for &place in &places {
            increment_entry(&mut sums, place + 1);
            seen += 1;
        }
    }
    crossings
}

/// The sum of the first `n` entries of a tree of partial sums.
fn prefix_sum(sums: &[usize], n: usize) -> usize {
    let mut at = n;
    let mut total = 0;
    while at > 0 {
        total += sums[at];
        at &= at - 1;
    }
    total
}

/// Adds one to entry `n`, counted from 1.
fn increment_entry(sums: &mut [usize], n: usize) {
    let mut at = n;
    while at < sums.len() {
        sums[at] += 1;
        at += at & at.wrapping_neg();
    }
}
