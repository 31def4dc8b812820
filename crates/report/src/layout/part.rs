//! The input of the layout method: one connected part, in the axes of the method.
//!
//! *Across* runs along a layer, *along* from layer to layer, so that the phases need not
//! know whether the drawing runs down or to the right.

use ioxide_model::index::IndexVec;

ioxide_model::index! { /// A node, label or bend of a [`ConnectedPart`]; nodes come first.
pub struct ItemId; }
ioxide_model::index! { /// An edge of a [`ConnectedPart`] between two different nodes.
pub struct LinkId; }

/// A connected graph without self loops.
#[derive(Debug, Default)]
pub struct ConnectedPart {
    /// Nodes with the room they need.
    pub nodes: IndexVec<ItemId, ItemBody>,
    /// Edges with the room their labels need.
    pub links: IndexVec<LinkId, LayoutLink>,
    /// The nodes the drawing should begin with; may be empty.
    pub roots: Vec<ItemId>,
}

/// An edge between two different nodes.
#[derive(Clone, Copy, Debug)]
pub struct LayoutLink {
    /// The source node.
    pub from: ItemId,
    /// The target node.
    pub to: ItemId,
    /// The room its label needs; `None` without a label.
    pub label: Option<ItemBody>,
}

/// The room an item needs: a core around its anchor, and margins for its self loops.
#[derive(Clone, Copy, Debug, Default)]
// The core is kept apart from the margins because links end at the core, and the anchor is its middle: self loops
// on one side must not push the node off the line.
pub struct ItemBody {
    /// Half the size of the core.
    pub half: Axes,
    /// Room beyond the core towards the end of each axis.
    pub margin_after: Axes,
    /// Room beyond the core towards the start of each axis.
    pub margin_before: Axes,
}

/// A length for each axis of the method.
#[derive(Clone, Copy, Debug, Default)]
pub struct Axes {
    /// The length along a layer.
    pub across: f64,
    /// The length from layer to layer.
    pub along: f64,
}

impl ItemBody {
    /// Returns the extent from the anchor towards the start and the end of the layer.
    pub fn extent_across(&self) -> (f64, f64) {
        (self.half.across + self.margin_before.across, self.half.across + self.margin_after.across)
    }

    /// Returns the extent from the anchor towards the layer before and the layer after.
    pub fn extent_along(&self) -> (f64, f64) {
        (self.half.along + self.margin_before.along, self.half.along + self.margin_after.along)
    }
}
