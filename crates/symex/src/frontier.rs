//! The states a search has yet to look into, and which of them is next.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ioxide_model::index::Idx;

use crate::explore::ExploreOrder;
use crate::graph::ExploredId;

/// States to look into.
pub(crate) struct Frontier {
    order: ExploreOrder,
    /// In the order they were found.
    found: VecDeque<ExploredId>,
    /// By how often the switch that led to them was taken before; used where the search is restless.
    rare: BinaryHeap<Reverse<(usize, ExploredId)>>,
    /// States that were given out already, though one of the orders still has them.
    gone: Vec<bool>,
    /// States given out since a new switch was taken.
    since: usize,
    /// Whether patience was lost once.
    is_restless: bool,
}

impl Frontier {
    pub(crate) fn new(order: ExploreOrder, root: ExploredId) -> Self {
        let mut frontier = Self {
            order,
            found: VecDeque::new(),
            rare: BinaryHeap::new(),
            gone: Vec::new(),
            since: 0,
            is_restless: false,
        };
        frontier.push(root, 0);
        frontier
    }

    /// Adds `node`, reached by a switch that was taken so many times.
    pub(crate) fn push(&mut self, node: ExploredId, taken: usize) {
        self.found.push_back(node);
        if let ExploreOrder::Restless { .. } = self.order {
            self.rare.push(Reverse((taken, node)));
            self.gone.resize(self.gone.len().max(node.index() + 1), false);
        }
    }

    /// A new switch was taken.
    pub(crate) fn is_fruitful(&mut self) {
        self.since = 0;
    }

    /// The next state.
    pub(crate) fn next(&mut self) -> Option<ExploredId> {
        match self.order {
            ExploreOrder::BreadthFirst => self.found.pop_front(),
            ExploreOrder::DepthFirst => self.found.pop_back(),
            ExploreOrder::Restless { patience } => self.restless(patience),
        }
    }

    fn restless(&mut self, patience: usize) -> Option<ExploredId> {
        self.since += 1;
        self.is_restless |= self.since > patience;
        let turn = if self.is_restless { self.since % 3 } else { 0 };
        let node = loop {
            let node = match turn {
                1 => self.found.pop_back()?,
                2 => self.rare.pop()?.0.1,
                _ => self.found.pop_front()?,
            };
            if !self.gone[node.index()] {
                break node;
            }
        };
        self.gone[node.index()] = true;
        Some(node)
    }
}
