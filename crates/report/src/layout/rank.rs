//! Ranks: an order of the nodes in which edges are short and mostly point one way.
//!
//! Cycles are broken by reversing edges that lead back, in the order of a search from the
//! roots. Two searches are tried, depth first and breadth first: the one whose ranking has
//! the smaller total length of edges is kept, a reversed edge counting as one more. For an
//! acyclic orientation the ranking with the least total length is found by the network
//! simplex method ([`simplex`](super::simplex)), started from longest paths \[Gansner93, sec. 2].
//!
//! *Promises* that every link, once its reversal is taken into account, leads to a greater
//! rank, and that the least rank is 0.

use std::collections::VecDeque;

use ioxide_model::index::{Idx, IndexVec};

use super::part::{ConnectedPart, ItemId, LinkId};
use super::simplex::{RankArc, Simplex};

/// The ranks of nodes, and the links that run against them.
#[derive(Debug)]
pub struct Ranking {
    /// The rank of each node.
    pub rank: IndexVec<ItemId, usize>,
    /// For each link, true if it leads to a smaller rank.
    pub reversed: IndexVec<LinkId, bool>,
}

/// A ranking of the nodes of `part`.
pub fn rank_nodes(part: &ConnectedPart) -> Ranking {
    // Depth first keeps long chains whole, breadth first keeps states near the start; neither is better for all models.
    let candidates = [cycle_links_depth_first(part), cycle_links_breadth_first(part)]
        .map(|reversed| rank_acyclic(part, reversed));
    let [deep, broad] = candidates;
    if ranking_cost(part, &broad) < ranking_cost(part, &deep) { broad } else { deep }
}

/// The total length of links, reversed ones counted longer by one.
fn ranking_cost(part: &ConnectedPart, ranking: &Ranking) -> usize {
    let length = |link: ItemId, other: ItemId| ranking.rank[link].abs_diff(ranking.rank[other]);
    let lengths = part.links.iter().map(|link| length(link.from, link.to));
    lengths.sum::<usize>() + ranking.reversed.iter().filter(|&&reversed| reversed).count()
}

/// The links that close a cycle in a depth-first search from the roots.
fn cycle_links_depth_first(part: &ConnectedPart) -> IndexVec<LinkId, bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum RankMark {
        New,
        Open,
        Done,
    }
    let out = outgoing_links(part);
    let mut mark: IndexVec<ItemId, RankMark> = IndexVec::from_elem(RankMark::New, part.nodes.len());
    let mut reversed = IndexVec::from_elem(false, part.links.len());
    for root in search_starts(part) {
        if mark[root] != RankMark::New {
            continue;
        }
        mark[root] = RankMark::Open;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.pop() {
            let Some(&link) = out[node].get(next) else {
                mark[node] = RankMark::Done;
                continue;
            };
            stack.push((node, next + 1));
            let target = part.links[link].to;
            match mark[target] {
                RankMark::New => {
                    mark[target] = RankMark::Open;
                    stack.push((target, 0));
                }
                // On the stack: the link closes a cycle. Links to finished nodes lead on to what is below already.
                RankMark::Open => reversed[link] = true,
                RankMark::Done => (),
            }
        }
    }
    reversed
}

/// The links that lead to a node met earlier in a breadth-first search from the roots.
fn cycle_links_breadth_first(part: &ConnectedPart) -> IndexVec<LinkId, bool> {
    let out = outgoing_links(part);
    let mut met: IndexVec<ItemId, usize> = IndexVec::from_elem(usize::MAX, part.nodes.len());
    let mut n_met = 0;
    let mut queue = VecDeque::new();
    for root in search_starts(part) {
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
    // Every node is met, so this is an order of all of them, and reversing what runs against an order leaves no cycle.
    part.links.iter().map(|link| met[link.to] < met[link.from]).collect()
}

/// The roots, then nodes nothing leads to, then all others.
fn search_starts(part: &ConnectedPart) -> impl Iterator<Item = ItemId> {
    let mut has_incoming: IndexVec<ItemId, bool> = IndexVec::from_elem(false, part.nodes.len());
    for link in &part.links {
        has_incoming[link.to] = true;
    }
    let sources: Vec<ItemId> = part.nodes.ids().filter(|&node| !has_incoming[node]).collect();
    part.roots.iter().copied().chain(sources).chain(part.nodes.ids())
}

fn outgoing_links(part: &ConnectedPart) -> IndexVec<ItemId, Vec<LinkId>> {
    let mut out: IndexVec<ItemId, Vec<LinkId>> = IndexVec::from_elem(Vec::new(), part.nodes.len());
    for (id, link) in part.links.iter_enumerated() {
        out[link.from].push(id);
    }
    out
}

/// The shortest ranking of the acyclic graph that `reversed` makes of `part`.
fn rank_acyclic(part: &ConnectedPart, reversed: IndexVec<LinkId, bool>) -> Ranking {
    let ends = |(id, back): (LinkId, &bool)| {
        let (from, to) = (part.links[id].from.index(), part.links[id].to.index());
        if *back { RankArc { tail: to, head: from } } else { RankArc { tail: from, head: to } }
    };
    let arcs: Vec<RankArc> = reversed.iter_enumerated().map(ends).collect();
    let mut simplex = Simplex::new(part.nodes.len(), arcs);
    // Any ranking in which arcs lead on will do as a start; longest paths is one and costs nothing.
    simplex.longest_paths();
    simplex.shorten();
    simplex.balance();
    Ranking { rank: simplex.ranks_from_zero().into_iter().collect(), reversed }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, prop, prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::layout::part::{ItemBody, LayoutLink};

    fn part(n_nodes: usize, ends: &[(usize, usize)]) -> ConnectedPart {
        let link = |&(from, to): &(usize, usize)| LayoutLink {
            from: ItemId::new(from),
            to: ItemId::new(to),
            label: None,
        };
        ConnectedPart {
            nodes: (0..n_nodes).map(|_| ItemBody::default()).collect(),
            links: ends.iter().map(link).collect(),
            roots: vec![ItemId::new(0)],
        }
    }

    #[track_caller]
    fn check(n_nodes: usize, ends: &[(usize, usize)], ranks: &[usize]) {
        assert_eq!(rank_nodes(&part(n_nodes, ends)).rank.as_slice(), ranks);
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
        let ranking = rank_nodes(&part(20_001, &ends));
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
            let Ranking { rank, reversed } = rank_nodes(&part);
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
