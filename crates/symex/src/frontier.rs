//! The frontier of a search: the states yet to be expanded, and their order.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ioxide_model::index::Idx;

use crate::explore::ExploreOrder;
use crate::graph::ExploredId;

/// The states yet to be expanded.
pub(crate) struct Frontier {
    order: ExploreOrder,
    /// The states in the order they were found.
    found: VecDeque<ExploredId>,
    /// The states by how often the switch that led to them had been taken; used in a restless search.
    rare: BinaryHeap<Reverse<(usize, ExploredId)>>,
    /// True for states already returned that one of the two orders still contains.
    gone: Vec<bool>,
    /// The number of states returned since a new switch was taken.
    since: usize,
    /// True once the patience of a restless search was exceeded.
    is_restless: bool,
}

impl Frontier {
    /// Makes a frontier that holds only `root`.
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

    /// Adds `node`, reached by a switch that was taken `taken` times.
    pub(crate) fn push(&mut self, node: ExploredId, taken: usize) {
        self.found.push_back(node);
        if let ExploreOrder::Restless { .. } = self.order {
            self.rare.push(Reverse((taken, node)));
            self.gone.resize(self.gone.len().max(node.index() + 1), false);
        }
    }

    /// Records that a new switch was taken.
    pub(crate) fn is_fruitful(&mut self) {
        self.since = 0;
    }

    /// Removes and returns the next state to expand, by the order of the exploration; `None` if none is left.
    pub(crate) fn next(&mut self) -> Option<ExploredId> {
        match self.order {
            ExploreOrder::BreadthFirst => self.found.pop_front(),
            ExploreOrder::DepthFirst => self.found.pop_back(),
            ExploreOrder::Restless { patience } => self.next_restless(patience),
        }
    }

    fn next_restless(&mut self, patience: usize) -> Option<ExploredId> {
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
