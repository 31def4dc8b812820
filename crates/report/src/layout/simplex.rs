//! The network simplex method: the ranking of an acyclic graph with the least total length.
//!
//! A spanning tree of tight arcs is kept; while a tree arc has a negative cut value it is
//! replaced by the tightest arc that leads the other way across the cut \[Gansner93, sec. 2.3].
//!
//! *Assumes* a connected graph without cycles.
//! *Promises* that every arc leads to a greater rank after [`longest_paths`](Simplex::longest_paths),
//! and still does after each later step.
//! *Differs* from the paper in recomputing all cut values after a pivot: a cut value is a
//! sum of (out-degree minus in-degree) over a subtree, which is cheap. Large graphs stop at
//! a fixed amount of work with a ranking that is valid but perhaps not the shortest.

use std::collections::VecDeque;

/// Elementary steps the method may take, roughly; it bounds the time for large graphs. Chosen by feel.
const MAX_WORK: usize = 30_000_000;

/// A link in the direction of growing rank, by positions of nodes.
#[derive(Clone, Copy, Debug)]
pub struct RankArc {
    /// The position of the node with the smaller rank.
    pub tail: usize,
    /// The position of the node with the greater rank.
    pub head: usize,
}

/// The network simplex method; every arc has length at least one and weight one.
pub struct Simplex {
    arcs: Vec<RankArc>,
    /// The arcs at each node, in either direction.
    at: Vec<Vec<usize>>,
    rank: Vec<i64>,
}

/// A spanning tree of tight arcs, hung from node 0.
struct SpanningTree {
    /// The tree arcs at each node.
    at: Vec<Vec<usize>>,
    /// The arc to the parent; the root has none.
    up: Vec<Option<usize>>,
    /// Nodes with parents before children.
    order: Vec<usize>,
    /// Position in `order`, and one past the last position of the subtree.
    span: Vec<(usize, usize)>,
}

impl Simplex {
    /// The graph of `arcs`, all nodes at rank 0.
    pub fn new(n_nodes: usize, arcs: Vec<RankArc>) -> Self {
        let mut at = vec![Vec::new(); n_nodes];
        for (id, arc) in arcs.iter().enumerate() {
            at[arc.tail].push(id);
            at[arc.head].push(id);
        }
        Self { arcs, at, rank: vec![0; n_nodes] }
    }

    /// Returns by how much an arc is longer than it must be; 0 for a tight one.
    fn slack(&self, arc: usize) -> i64 {
        let RankArc { tail, head } = self.arcs[arc];
        self.rank[head] - self.rank[tail] - 1
    }

    /// Gives each node the length of the longest path to it.
    pub fn longest_paths(&mut self) {
        let mut waiting = vec![0_usize; self.rank.len()];
        for arc in &self.arcs {
            waiting[arc.head] += 1;
        }
        let mut ready: VecDeque<usize> = (0..self.rank.len()).filter(|&node| waiting[node] == 0).collect();
        while let Some(node) = ready.pop_front() {
            // A node is ready once all arcs into it were looked at, so its rank is final here.
            let arcs = self.at[node].iter().map(|&arc| self.arcs[arc]);
            for RankArc { head, .. } in arcs.filter(|arc| arc.tail == node) {
                self.rank[head] = self.rank[head].max(self.rank[node] + 1);
                waiting[head] -= 1;
                if waiting[head] == 0 {
                    ready.push_back(head);
                }
            }
        }
    }

    /// Pivots until no tree arc has a negative cut value, or the work is used up.
    pub fn shorten(&mut self) {
        let size = self.rank.len() + self.arcs.len() + 1;
        if self.rank.len().saturating_mul(self.arcs.len()) > MAX_WORK {
            return self.pull_single_nodes();
        }
        let Some(mut tree_arcs) = self.build_tight_tree() else { return };
        for _ in 0..MAX_WORK / (4 * size) {
            let tree = self.hang_tree(&tree_arcs);
            let Some(leave) = self.leaving_arc(&tree) else { return };
            let Some(enter) = self.pivot(&tree, leave) else { return };
            tree_arcs.retain(|&arc| arc != leave.arc);
            tree_arcs.push(enter);
        }
    }

    /// The cheap way for large graphs: moves single nodes towards the side with more arcs.
    fn pull_single_nodes(&mut self) {
        // A move never makes an arc point back, so the ranking stays valid whenever this stops. Eight rounds: by feel.
        for _ in 0..8 {
            let mut by_rank: Vec<usize> = (0..self.rank.len()).collect();
            by_rank.sort_by_key(|&node| std::cmp::Reverse(self.rank[node]));
            for node in by_rank {
                let (n_in, n_out) = self.degrees(node);
                let (low, high) = self.rank_range(node);
                if n_out > n_in {
                    self.rank[node] = high.unwrap_or(self.rank[node]);
                } else if n_in > n_out {
                    self.rank[node] = low.unwrap_or(self.rank[node]);
                }
            }
        }
    }

    /// A spanning tree of tight arcs, made by shifting the tree towards the nearest node outside.
    ///
    /// `None` if the graph is not connected, which the caller has excluded.
    fn build_tight_tree(&mut self) -> Option<Vec<usize>> {
        let n_nodes = self.rank.len();
        let mut inside = vec![false; n_nodes];
        let mut members = Vec::new();
        let mut tree_arcs = Vec::new();
        let mut stack = vec![0];
        *inside.first_mut()? = true;
        loop {
            while let Some(node) = stack.pop() {
                members.push(node);
                for &arc in &self.at[node] {
                    let other = self.other_end(arc, node);
                    if !inside[other] && self.slack(arc) == 0 {
                        inside[other] = true;
                        tree_arcs.push(arc);
                        stack.push(other);
                    }
                }
            }
            if members.len() == n_nodes {
                return Some(tree_arcs);
            }
            let leads_out = |&arc: &usize| inside[self.arcs[arc].tail] != inside[self.arcs[arc].head];
            let nearest = (0..self.arcs.len()).filter(leads_out).min_by_key(|&arc| self.slack(arc))?;
            let RankArc { tail, head } = self.arcs[nearest];
            // Moving the whole tree keeps its own arcs tight. By the least slack no arc that leaves it becomes too
            // short.
            let shift = if inside[tail] { self.slack(nearest) } else { -self.slack(nearest) };
            for &node in &members {
                self.rank[node] += shift;
            }
            let new = if inside[tail] { head } else { tail };
            inside[new] = true;
            tree_arcs.push(nearest);
            stack.push(new);
        }
    }

    /// The tree of `tree_arcs`, hung from node 0.
    fn hang_tree(&self, tree_arcs: &[usize]) -> SpanningTree {
        let n_nodes = self.rank.len();
        let mut at = vec![Vec::new(); n_nodes];
        for &arc in tree_arcs {
            at[self.arcs[arc].tail].push(arc);
            at[self.arcs[arc].head].push(arc);
        }
        let mut tree = SpanningTree {
            at,
            up: vec![None; n_nodes],
            order: Vec::with_capacity(n_nodes),
            span: vec![(0, 0); n_nodes],
        };
        // Preorder by hand, so that deep trees need no stack: a subtree is a range of `order`, and "is below" a
        // comparison.
        let mut stack = vec![0];
        while let Some(node) = stack.pop() {
            tree.span[node].0 = tree.order.len();
            tree.order.push(node);
            for &arc in &tree.at[node] {
                if tree.up[node] != Some(arc) {
                    let child = self.other_end(arc, node);
                    tree.up[child] = Some(arc);
                    stack.push(child);
                }
            }
        }
        for &node in tree.order.iter().rev() {
            let own = tree.span[node].0 + 1;
            tree.span[node].1 = tree.span[node].1.max(own);
            if let Some(arc) = tree.up[node] {
                let parent = self.other_end(arc, node);
                tree.span[parent].1 = tree.span[parent].1.max(tree.span[node].1);
            }
        }
        tree
    }

    /// The tree arc with the least cut value, if that is negative.
    fn leaving_arc(&self, tree: &SpanningTree) -> Option<LeavingArc> {
        let mut balance: Vec<i64> = (0..self.rank.len())
            .map(|node| {
                let (n_in, n_out) = self.degrees(node);
                n_out as i64 - n_in as i64
            })
            .collect();
        // The cut value of a tree arc is the number of arcs from its tail's side to its head's side less those that
        // lead back: that is the balance of the subtree, which is summed up from the leaves.
        let mut best: Option<(i64, LeavingArc)> = None;
        for &node in tree.order.iter().rev() {
            let Some(arc) = tree.up[node] else { continue };
            let is_tail = self.arcs[arc].tail == node;
            let cut = if is_tail { balance[node] } else { -balance[node] };
            if cut < best.as_ref().map_or(0, |(least, _)| *least) {
                best = Some((cut, LeavingArc { arc, below: node, below_is_tail: is_tail }));
            }
            balance[self.other_end(arc, node)] += balance[node];
        }
        best.map(|(_, leaving)| leaving)
    }

    /// Makes the arc that replaces `leave` tight, and returns it; `None` if no arc can replace it.
    fn pivot(&mut self, tree: &SpanningTree, leave: LeavingArc) -> Option<usize> {
        let (first, end) = tree.span[leave.below];
        let below = |node: usize| (first..end).contains(&tree.span[node].0);
        // The new arc leads from the head's side to the tail's side.
        let replaces = |arc: &RankArc| {
            if leave.below_is_tail {
                !below(arc.tail) && below(arc.head)
            } else {
                below(arc.tail) && !below(arc.head)
            }
        };
        let crossing = (0..self.arcs.len()).filter(|&arc| replaces(&self.arcs[arc]));
        let enter = crossing.min_by_key(|&arc| self.slack(arc))?;
        let shift = if leave.below_is_tail { -self.slack(enter) } else { self.slack(enter) };
        for &node in &tree.order[first..end] {
            self.rank[node] += shift;
        }
        debug_assert_eq!(self.slack(enter), 0, "the arc that enters the tree is tight");
        Some(enter)
    }

    /// Moves nodes with as many arcs in as out to the emptiest rank they can have.
    pub fn balance(&mut self) {
        self.rank = self.ranks_from_zero().into_iter().map(|rank| rank as i64).collect();
        let n_ranks = self.rank.iter().max().map_or(0, |&rank| rank as usize + 1);
        let mut n_nodes = vec![0_usize; n_ranks];
        for &rank in &self.rank {
            n_nodes[rank as usize] += 1;
        }
        for node in 0..self.rank.len() {
            let (n_in, n_out) = self.degrees(node);
            let (Some(low), Some(high)) = self.rank_range(node) else { continue };
            // With as many arcs in as out a move changes no total length, so it is free to even out the layers.
            if n_in != n_out || low == high {
                continue;
            }
            let old = self.rank[node];
            let emptiest = (low..=high).min_by_key(|&rank| (n_nodes[rank as usize], rank != old));
            let new = emptiest.unwrap_or(old);
            if n_nodes[new as usize] + 1 < n_nodes[old as usize] {
                n_nodes[old as usize] -= 1;
                n_nodes[new as usize] += 1;
                self.rank[node] = new;
            }
        }
    }

    /// Returns the least and the greatest rank that `node` can have while all others stay; `None` where no arc bounds
    /// it.
    fn rank_range(&self, node: usize) -> (Option<i64>, Option<i64>) {
        let arcs = || self.at[node].iter().map(|&arc| self.arcs[arc]);
        let low = arcs().filter(|arc| arc.head == node).map(|arc| self.rank[arc.tail] + 1).max();
        let high = arcs().filter(|arc| arc.tail == node).map(|arc| self.rank[arc.head] - 1).min();
        (low, high)
    }

    /// Returns the numbers of arcs that enter and leave a node.
    fn degrees(&self, node: usize) -> (usize, usize) {
        let n_out = self.at[node].iter().filter(|&&arc| self.arcs[arc].tail == node).count();
        (self.at[node].len() - n_out, n_out)
    }

    fn other_end(&self, arc: usize, node: usize) -> usize {
        let RankArc { tail, head } = self.arcs[arc];
        if tail == node { head } else { tail }
    }

    /// The ranks counted from 0.
    pub fn ranks_from_zero(&self) -> Vec<usize> {
        let least = self.rank.iter().copied().min().unwrap_or(0);
        self.rank.iter().map(|&rank| usize::try_from(rank - least).unwrap_or(0)).collect()
    }
}

/// A tree arc to be replaced.
#[derive(Clone, Copy, Debug)]
struct LeavingArc {
    arc: usize,
    /// The end farther from the root.
    below: usize,
    /// True if the arc starts at `below`.
    below_is_tail: bool,
}
