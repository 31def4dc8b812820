//! Ranks: which node comes before which, so that edges are short and mostly point one way.
//!
//! Cycles are broken by reversing edges that lead back, in the order of a search from the
//! roots. Two searches are tried, depth first and breadth first: the one whose ranking has
//! the smaller total length of edges is kept, a reversed edge counting as one more. For an
//! acyclic orientation the ranking with the least total length is found by the network
//! simplex method, started from longest paths [Gansner93, sec. 2].
//!
//! *Promises* that every link, once its reversal is taken into account, leads to a greater
//! rank, and that the least rank is 0.
//! *Differs* from the paper in recomputing all cut values after a pivot: a cut value is a
//! sum of (out-degree minus in-degree) over a subtree, which is cheap. Large graphs stop at
//! a fixed amount of work with a ranking that is valid but perhaps not the shortest.
//!
//! [Gansner93]: E. Gansner, E. Koutsofios, S. North, K.-P. Vo, "A Technique for Drawing
//! Directed Graphs", IEEE Transactions on Software Engineering 19(3), 1993.

use std::collections::VecDeque;

use ioxide_model::index::{Idx, IndexVec};

use super::part::{ItemId, LinkId, Part};

/// Elementary steps the simplex method may take, roughly.
const WORK: usize = 30_000_000;

/// Ranks of nodes, and which links run against them.
#[derive(Debug)]
pub struct Ranking {
    /// The rank of each node.
    pub rank: IndexVec<ItemId, usize>,
    /// Whether a link leads to a smaller rank.
    pub reversed: IndexVec<LinkId, bool>,
}

/// A ranking of the nodes of `part`.
pub fn ranking(part: &Part) -> Ranking {
    let candidates = [depth_first(part), breadth_first(part)].map(|reversed| ranked(part, reversed));
    let [deep, broad] = candidates;
    if cost(part, &broad) < cost(part, &deep) { broad } else { deep }
}

/// The total length of links, reversed ones counted longer by one.
fn cost(part: &Part, ranking: &Ranking) -> usize {
    let length = |link: ItemId, other: ItemId| ranking.rank[link].abs_diff(ranking.rank[other]);
    let lengths = part.links.iter().map(|link| length(link.from, link.to));
    lengths.sum::<usize>() + ranking.reversed.iter().filter(|&&reversed| reversed).count()
}

/// The links that close a cycle in a depth-first search from the roots.
fn depth_first(part: &Part) -> IndexVec<LinkId, bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let out = outgoing(part);
    let mut mark: IndexVec<ItemId, Mark> = IndexVec::filled(Mark::New, part.nodes.len());
    let mut reversed = IndexVec::filled(false, part.links.len());
    for root in starts(part) {
        if mark[root] != Mark::New {
            continue;
        }
        mark[root] = Mark::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(&link) = out[node].get(next) else {
                mark[node] = Mark::Done;
                continue;
            };
            stack.push((node, next + 1));
            let target = part.links[link].to;
            match mark[target] {
                Mark::New => {
                    mark[target] = Mark::Open;
                    stack.push((target, 0));
                }
                Mark::Open => reversed[link] = true,
                Mark::Done => (),
            }
        }
    }
    reversed
}

/// The links that lead to a node met earlier in a breadth-first search from the roots.
fn breadth_first(part: &Part) -> IndexVec<LinkId, bool> {
    let out = outgoing(part);
    let mut met: IndexVec<ItemId, usize> = IndexVec::filled(usize::MAX, part.nodes.len());
    let mut n_met = 0;
    let mut queue = VecDeque::new();
    for root in starts(part) {
        queue.push_back(root);
        while let Some(node) = queue.pop_front() {
            if met[node] != usize::MAX {
                continue;
            }
            met[node] = n_met;
            n_met += 1;
            queue.extend(out[node].iter().map(|&link| part.links[link].to));
        }
    }
    part.links.iter().map(|link| met[link.to] < met[link.from]).collect()
}

/// The roots, then nodes nothing leads to, then all others.
fn starts(part: &Part) -> impl Iterator<Item = ItemId> {
    let mut has_incoming: IndexVec<ItemId, bool> = IndexVec::filled(false, part.nodes.len());
    for link in &part.links {
        has_incoming[link.to] = true;
    }
    let sources: Vec<ItemId> = part.nodes.ids().filter(|&node| !has_incoming[node]).collect();
    part.roots.iter().copied().chain(sources).chain(part.nodes.ids())
}

fn outgoing(part: &Part) -> IndexVec<ItemId, Vec<LinkId>> {
    let mut out: IndexVec<ItemId, Vec<LinkId>> = IndexVec::filled(Vec::new(), part.nodes.len());
    for (id, link) in part.links.iter_enumerated() {
        out[link.from].push(id);
    }
    out
}

/// The shortest ranking of the acyclic graph that `reversed` makes of `part`.
fn ranked(part: &Part, reversed: IndexVec<LinkId, bool>) -> Ranking {
    let ends = |(id, back): (LinkId, &bool)| {
        let (from, to) = (part.links[id].from.index(), part.links[id].to.index());
        if *back { Arc { tail: to, head: from } } else { Arc { tail: from, head: to } }
    };
    let arcs: Vec<Arc> = reversed.iter_enumerated().map(ends).collect();
    let mut simplex = Simplex::new(part.nodes.len(), arcs);
    simplex.longest_paths();
    simplex.shorten();
    simplex.balance();
    Ranking { rank: simplex.normal_ranks().into_iter().collect(), reversed }
}

/// A link in the direction of growing rank, by positions of nodes.
#[derive(Clone, Copy, Debug)]
struct Arc {
    tail: usize,
    head: usize,
}

/// The network simplex method; every arc has length at least one and weight one.
struct Simplex {
    arcs: Vec<Arc>,
    /// The arcs at each node, in either direction.
    at: Vec<Vec<usize>>,
    rank: Vec<i64>,
}

/// A spanning tree of tight arcs, hung from node 0.
struct Tree {
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
    fn new(n_nodes: usize, arcs: Vec<Arc>) -> Self {
        let mut at = vec![Vec::new(); n_nodes];
        for (id, arc) in arcs.iter().enumerate() {
            at[arc.tail].push(id);
            at[arc.head].push(id);
        }
        Self { arcs, at, rank: vec![0; n_nodes] }
    }

    fn slack(&self, arc: usize) -> i64 {
        let Arc { tail, head } = self.arcs[arc];
        self.rank[head] - self.rank[tail] - 1
    }

    /// Gives each node the length of the longest path to it.
    fn longest_paths(&mut self) {
        let mut waiting = vec![0_usize; self.rank.len()];
        for arc in &self.arcs {
            waiting[arc.head] += 1;
        }
        let mut ready: VecDeque<usize> = (0..self.rank.len()).filter(|&node| waiting[node] == 0).collect();
        while let Some(node) = ready.pop_front() {
            let arcs = self.at[node].iter().map(|&arc| self.arcs[arc]);
            for Arc { head, .. } in arcs.filter(|arc| arc.tail == node) {
                self.rank[head] = self.rank[head].max(self.rank[node] + 1);
                waiting[head] -= 1;
                if waiting[head] == 0 {
                    ready.push_back(head);
                }
            }
        }
    }

    /// Pivots until no tree arc has a negative cut value, or the work is used up.
    fn shorten(&mut self) {
        let size = self.rank.len() + self.arcs.len() + 1;
        if self.rank.len().saturating_mul(self.arcs.len()) > WORK {
            return self.pull();
        }
        let Some(mut tree_arcs) = self.tight_tree() else { return };
        for _ in 0..WORK / (4 * size) {
            let tree = self.hang(&tree_arcs);
            let Some(leave) = self.leaving(&tree) else { return };
            let Some(enter) = self.pivot(&tree, leave) else { return };
            tree_arcs.retain(|&arc| arc != leave.arc);
            tree_arcs.push(enter);
        }
    }

    /// The cheap way for large graphs: moves single nodes towards the side with more arcs.
    fn pull(&mut self) {
        for _ in 0..8 {
            let mut by_rank: Vec<usize> = (0..self.rank.len()).collect();
            by_rank.sort_by_key(|&node| std::cmp::Reverse(self.rank[node]));
            for node in by_rank {
                let (n_in, n_out) = self.degrees(node);
                let (low, high) = self.room(node);
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
    fn tight_tree(&mut self) -> Option<Vec<usize>> {
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
            let Arc { tail, head } = self.arcs[nearest];
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
    fn hang(&self, tree_arcs: &[usize]) -> Tree {
        let n_nodes = self.rank.len();
        let mut at = vec![Vec::new(); n_nodes];
        for &arc in tree_arcs {
            at[self.arcs[arc].tail].push(arc);
            at[self.arcs[arc].head].push(arc);
        }
        let mut tree = Tree {
            at,
            up: vec![None; n_nodes],
            order: Vec::with_capacity(n_nodes),
            span: vec![(0, 0); n_nodes],
        };
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
    fn leaving(&self, tree: &Tree) -> Option<Leaving> {
        let mut balance: Vec<i64> = (0..self.rank.len())
            .map(|node| {
                let (n_in, n_out) = self.degrees(node);
                n_out as i64 - n_in as i64
            })
            .collect();
        let mut best: Option<(i64, Leaving)> = None;
        for &node in tree.order.iter().rev() {
            let Some(arc) = tree.up[node] else { continue };
            let is_tail = self.arcs[arc].tail == node;
            let cut = if is_tail { balance[node] } else { -balance[node] };
            if cut < best.as_ref().map_or(0, |(least, _)| *least) {
                best = Some((cut, Leaving { arc, below: node, below_is_tail: is_tail }));
            }
            balance[self.other_end(arc, node)] += balance[node];
        }
        best.map(|(_, leaving)| leaving)
    }

    /// Makes the arc that replaces `leave` tight, and returns it.
    fn pivot(&mut self, tree: &Tree, leave: Leaving) -> Option<usize> {
        let (first, end) = tree.span[leave.below];
        let below = |node: usize| (first..end).contains(&tree.span[node].0);
        // The new arc leads from the head's side to the tail's side.
        let replaces = |arc: &Arc| match leave.below_is_tail {
            true => !below(arc.tail) && below(arc.head),
            false => below(arc.tail) && !below(arc.head),
        };
        let crossing = (0..self.arcs.len()).filter(|&arc| replaces(&self.arcs[arc]));
        let enter = crossing.min_by_key(|&arc| self.slack(arc))?;
        let shift = if leave.below_is_tail { -self.slack(enter) } else { self.slack(enter) };
        for &node in &tree.order[first..end] {
            self.rank[node] += shift;
        }
        Some(enter)
    }

    /// Moves nodes with as many arcs in as out to the emptiest rank they can have.
    fn balance(&mut self) {
        self.rank = self.normal_ranks().into_iter().map(|rank| rank as i64).collect();
        let n_ranks = self.rank.iter().max().map_or(0, |&rank| rank as usize + 1);
        let mut n_nodes = vec![0_usize; n_ranks];
        for &rank in &self.rank {
            n_nodes[rank as usize] += 1;
        }
        for node in 0..self.rank.len() {
            let (n_in, n_out) = self.degrees(node);
            let (Some(low), Some(high)) = self.room(node) else { continue };
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

    /// The ranks `node` can have while all others stay, where arcs bound them.
    fn room(&self, node: usize) -> (Option<i64>, Option<i64>) {
        let arcs = || self.at[node].iter().map(|&arc| self.arcs[arc]);
        let low = arcs().filter(|arc| arc.head == node).map(|arc| self.rank[arc.tail] + 1).max();
        let high = arcs().filter(|arc| arc.tail == node).map(|arc| self.rank[arc.head] - 1).min();
        (low, high)
    }

    fn degrees(&self, node: usize) -> (usize, usize) {
        let n_out = self.at[node].iter().filter(|&&arc| self.arcs[arc].tail == node).count();
        (self.at[node].len() - n_out, n_out)
    }

    fn other_end(&self, arc: usize, node: usize) -> usize {
        let Arc { tail, head } = self.arcs[arc];
        if tail == node { head } else { tail }
    }

    /// The ranks counted from 0.
    fn normal_ranks(&self) -> Vec<usize> {
        let least = self.rank.iter().copied().min().unwrap_or(0);
        self.rank.iter().map(|&rank| usize::try_from(rank - least).unwrap_or(0)).collect()
    }
}

/// A tree arc to be replaced.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    arc: usize,
    /// The end farther from the root.
    below: usize,
    /// Whether the arc starts there.
    below_is_tail: bool,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::layout::part::{Body, Link};

    fn part(n_nodes: usize, ends: &[(usize, usize)]) -> Part {
        let link =
            |&(from, to): &(usize, usize)| Link { from: ItemId::new(from), to: ItemId::new(to), label: None };
        Part {
            nodes: (0..n_nodes).map(|_| Body::default()).collect(),
            links: ends.iter().map(link).collect(),
            roots: vec![ItemId::new(0)],
        }
    }

    #[track_caller]
    fn check(n_nodes: usize, ends: &[(usize, usize)], ranks: &[usize]) {
        assert_eq!(ranking(&part(n_nodes, ends)).rank.as_slice(), ranks);
    }

    #[test]
    fn ranks_follow_the_links_and_cycles_are_cut_where_they_return() {
        check(1, &[], &[0]);
        check(3, &[(0, 1), (1, 2)], &[0, 1, 2]);
        check(3, &[(0, 1), (1, 2), (2, 0)], &[0, 1, 2]);
        check(2, &[(0, 1), (0, 1), (1, 0)], &[0, 1]);
    }

    #[test]
    fn a_chain_into_a_late_node_stands_right_before_it() {
        // 4 -> 5 -> 3: longest paths alone would put 4 and 5 at the top.
        check(6, &[(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 3)], &[0, 1, 2, 3, 1, 2]);
    }

    #[test]
    fn a_very_long_chain_needs_no_stack() {
        let ends: Vec<(usize, usize)> = (0..20_000).map(|n| (n, n + 1)).collect();
        let ranking = ranking(&part(20_001, &ends));
        assert_eq!(ranking.rank.iter().last(), Some(&20_000));
    }

    /// A random tree with extra links, and no self loops.
    fn arb_part() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
        (1_usize..12).prop_flat_map(|n| {
            let parents: Vec<_> = (1..n).map(|child| (0..child, Just(child))).collect();
            let extra = prop::collection::vec((0..n, 0..n), 0..14);
            (
                Just(n),
                (parents, extra).prop_map(|(tree, extra)| {
                    tree.into_iter().chain(extra).filter(|(a, b)| a != b).collect()
                }),
            )
        })
    }

    proptest! {
        #[test]
        fn every_link_leads_on_and_no_single_move_shortens((n, ends) in arb_part()) {
            let part = part(n, &ends);
            let Ranking { rank, reversed } = ranking(&part);
            prop_assert_eq!(rank.iter().min(), Some(&0));
            let total = |rank: &IndexVec<ItemId, usize>| -> Option<usize> {
                part.links.iter_enumerated().map(|(id, link)| {
                    let (tail, head) = if reversed[id] { (link.to, link.from) } else { (link.from, link.to) };
                    rank[head].checked_sub(rank[tail]).filter(|&length| length > 0)
                }).sum()
            };
            let best = total(&rank);
            prop_assert!(best.is_some());
            for node in part.nodes.ids() {
                for other in 0..n {
                    let mut moved = rank.clone();
                    moved[node] = other;
                    prop_assert!(total(&moved).is_none_or(|length| Some(length) >= best));
                }
            }
        }
    }
}
