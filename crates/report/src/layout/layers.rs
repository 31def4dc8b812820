//! Proper layers: every link becomes a chain of items, one per layer.
//!
//! Labels are items of their own \[Gansner93, sec. 5.2]: if any link has a label, ranks are
//! doubled and the label stands on an odd layer between the ends of its link. Where a link
//! is long the emptiest such layer is taken, the one nearest to the middle among equals.
//!
//! *Promises* at most [`MAX_ITEMS`] bends: beyond that the longest links run free, with no
//! room reserved for them behind their label.

use ioxide_model::index::IndexVec;

use super::part::{ConnectedPart, ItemBody, ItemId, LinkId};
use super::rank::Ranking;

/// The number of bends of all links together; it bounds memory and time of the later phases. Chosen by feel.
const MAX_ITEMS: usize = 300_000;
/// The room for one end of a link at the side of a node, in pixels, for the first ends and for further ones. Chosen by
/// eye, as are the other lengths.
const PORT: (f64, f64) = (12.0, 8.0);
/// The number of ends that get the room of the first. Chosen by eye.
const FIRST_PORTS: usize = 7;
/// Half the room a line needs where it passes through a layer. In pixels, chosen by eye.
const HALF_LINE: f64 = 3.0;

/// The kind of an item on a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerItemKind {
    /// A node of the part.
    Node,
    /// The label of a link.
    Label,
    /// A point where a link passes through a layer.
    Bend,
}

/// Items on layers.
#[derive(Debug)]
pub struct LayeredGraph {
    /// The kind of each item.
    pub kind: IndexVec<ItemId, LayerItemKind>,
    /// The room each item needs.
    pub body: IndexVec<ItemId, ItemBody>,
    /// The layer of each item.
    pub layer: IndexVec<ItemId, usize>,
    /// The neighbours of each item on the layer before, one per chain.
    pub before: IndexVec<ItemId, Vec<ItemId>>,
    /// The neighbours of each item on the layer after, one per chain.
    pub after: IndexVec<ItemId, Vec<ItemId>>,
    /// The items of each layer, in order.
    pub layers: Vec<Vec<ItemId>>,
    /// The chain of items of each link.
    pub chains: IndexVec<LinkId, LinkChain>,
}

/// The items of a link, from the smaller layer to the greater one.
#[derive(Debug)]
pub struct LinkChain {
    /// Both nodes and the items between them; the chain of a free link has no bends.
    pub items: Vec<ItemId>,
    /// The label among the items.
    pub label: Option<ItemId>,
    /// True if the link leads from the last item to the first.
    pub reversed: bool,
}

/// The items and layers of `part` under `ranking`.
pub fn build_layers(part: &ConnectedPart, ranking: &Ranking) -> LayeredGraph {
    // Doubled ranks leave an odd layer between any two nodes, where a label fits whatever the length of its link.
    let step = if part.links.iter().any(|link| link.label.is_some()) { 2 } else { 1 };
    let mut layered = layers_of_nodes(part, ranking, step);
    let longest = max_bent_length(&layered, part);
    let mut fill = vec![0.0; layered.layers.len()];
    for link in part.links.ids() {
        layered.add_chain(part, ranking, link, longest, &mut fill);
    }
    // A side must be long enough for the ends of all links at it, or arrow heads would lie on top of each other.
    for node in part.nodes.ids() {
        let n_ends = layered.before[node].len().max(layered.after[node].len());
        let half = &mut layered.body[node].half.across;
        *half = half.max(side_length(n_ends) / 2.0);
    }
    layered
}

/// Returns the length of the side of a node that `n_ends` links touch.
fn side_length(n_ends: usize) -> f64 {
    let n_first = n_ends.min(FIRST_PORTS);
    (n_first + 1) as f64 * PORT.0 + (n_ends - n_first) as f64 * PORT.1
}

fn layers_of_nodes(part: &ConnectedPart, ranking: &Ranking, step: usize) -> LayeredGraph {
    let n_nodes = part.nodes.len();
    let layer: IndexVec<ItemId, usize> = ranking.rank.iter().map(|rank| rank * step).collect();
    let n_layers = layer.iter().max().map_or(0, |&last| last + 1);
    let mut layers = vec![Vec::new(); n_layers];
    for (node, &at) in layer.iter_enumerated() {
        layers[at].push(node);
    }
    LayeredGraph {
        kind: IndexVec::from_elem(LayerItemKind::Node, n_nodes),
        body: part.nodes.iter().copied().collect(),
        layer,
        before: IndexVec::from_elem(Vec::new(), n_nodes),
        after: IndexVec::from_elem(Vec::new(), n_nodes),
        layers,
        chains: IndexVec::new(),
    }
}

/// Returns the greatest length of a link that still gets bends.
fn max_bent_length(layered: &LayeredGraph, part: &ConnectedPart) -> usize {
    let length = |from: ItemId, to: ItemId| layered.layer[from].abs_diff(layered.layer[to]);
    let mut lengths: Vec<usize> = part.links.iter().map(|link| length(link.from, link.to)).collect();
    // Shortest first: they are the ones whose bends the drawing needs most, and a long one costs as much as many of
    // them.
    lengths.sort_unstable();
    let mut total = 0;
    let mut longest = 0;
    for length in lengths {
        total += length;
        if total > MAX_ITEMS {
            break;
        }
        longest = length;
    }
    longest
}

impl LayeredGraph {
    fn add_chain(
        &mut self,
        part: &ConnectedPart,
        ranking: &Ranking,
        id: LinkId,
        longest: usize,
        fill: &mut [f64],
    ) {
        let link = &part.links[id];
        let reversed = ranking.reversed[id];
        let (first, last) = if reversed { (link.to, link.from) } else { (link.from, link.to) };
        let (top, bottom) = (self.layer[first], self.layer[last]);
        let is_free = bottom - top > longest;
        let label_layer = link.label.map(|body| label_layer(top, bottom, is_free, &body, fill));
        let mut chain = LinkChain { items: vec![first], label: None, reversed };
        let mut previous = first;
        for layer in top + 1..bottom {
            let is_label = label_layer == Some(layer);
            if is_free && !is_label {
                continue;
            }
            let item = match link.label.filter(|_| is_label) {
                Some(body) => self.add_item(LayerItemKind::Label, body, layer),
                None => self.add_item(LayerItemKind::Bend, bend_body(), layer),
            };
            chain.label = if is_label { Some(item) } else { chain.label };
            self.join_items(previous, item);
            chain.items.push(item);
            previous = item;
        }
        // A free link is joined only where its items are on neighbouring layers: the later phases rely on that.
        if !is_free || bottom == top + 1 {
            self.join_items(previous, last);
        }
        chain.items.push(last);
        self.chains.push(chain);
    }

    fn add_item(&mut self, kind: LayerItemKind, body: ItemBody, layer: usize) -> ItemId {
        self.kind.push(kind);
        self.body.push(body);
        self.before.push(Vec::new());
        self.after.push(Vec::new());
        let item = self.layer.push(layer);
        debug_assert_eq!(self.kind.len(), self.layer.len(), "one entry per item in every table");
        self.layers[layer].push(item);
        item
    }

    fn join_items(&mut self, above: ItemId, below: ItemId) {
        self.after[above].push(below);
        self.before[below].push(above);
    }
}

fn bend_body() -> ItemBody {
    let mut body = ItemBody::default();
    body.half.across = HALF_LINE;
    body
}

/// Returns the layer for a label, and adds the room it needs to the fill of that layer.
fn label_layer(top: usize, bottom: usize, is_free: bool, body: &ItemBody, fill: &mut [f64]) -> usize {
    let last = if is_free { top + 1 } else { bottom - 1 };
    let candidates = (top + 1..=last).step_by(2);
    let middle = (top + bottom) as f64 / 2.0;
    // The emptiest layer keeps the drawing narrow; the middle keeps the label near the eye that follows the line.
    let key = |layer: usize| (fill[layer], (layer as f64 - middle).abs());
    let best = candidates.min_by(|&a, &b| key(a).partial_cmp(&key(b)).unwrap_or(std::cmp::Ordering::Equal));
    let layer = best.unwrap_or(top + 1);
    fill[layer] += 2.0 * body.half.across;
    layer
}
