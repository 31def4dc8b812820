//! The order in which functions are defined, and those among them that call each other in a circle.

use std::collections::BTreeSet;

/// The calls among functions, by position. A function that calls itself is none of its callers.
pub(super) struct CallGraph {
    calls: Vec<BTreeSet<usize>>,
    callers: Vec<Vec<usize>>,
}

impl CallGraph {
    /// The graph in which each function calls those of its set.
    pub(super) fn new(mut calls: Vec<BTreeSet<usize>>) -> Self {
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); calls.len()];
        for (at, called) in calls.iter_mut().enumerate() {
            called.remove(&at);
            called.iter().for_each(|&other| callers[other].push(at));
        }
        Self { calls, callers }
    }

    /// Returns every function behind those it calls. Those in a circle, and those that call one by any way, are left
    /// out.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut waits: Vec<usize> = self.calls.iter().map(BTreeSet::len).collect();
        let mut order: Vec<usize> = (0..waits.len()).filter(|&at| waits[at] == 0).collect();
        let mut next = 0;
        while next < order.len() {
            for &caller in &self.callers[order[next]] {
                waits[caller] -= 1;
                if waits[caller] == 0 {
                    order.push(caller);
                }
            }
            next += 1;
        }
        order
    }

    /// Returns the functions that call themselves by way of others: the members of strongly connected components of
    /// more than one function.
    pub(super) fn in_circles(&self) -> BTreeSet<usize> {
        let components = self.components();
        let mut sizes = vec![0usize; components.len()];
        components.iter().for_each(|&component| sizes[component] += 1);
        (0..components.len()).filter(|&at| sizes[components[at]] > 1).collect()
    }

    /// Returns the number of the strongly connected component of every function: two have the same one if each calls
    /// the other, by any way.
    pub(super) fn components(&self) -> Vec<usize> {
        let mut component: Vec<Option<usize>> = vec![None; self.calls.len()];
        for root in self.finishing_order().into_iter().rev() {
            let mut todo = vec![root];
            while let Some(at) = todo.pop() {
                if component[at].is_none() {
                    component[at] = Some(root);
                    todo.extend(&self.callers[at]);
                }
            }
        }
        component.into_iter().enumerate().map(|(at, component)| component.unwrap_or(at)).collect()
    }

    /// Returns the functions in the order in which a search along the calls leaves them.
    fn finishing_order(&self) -> Vec<usize> {
        let mut finished = Vec::with_capacity(self.calls.len());
        let mut is_seen = vec![false; self.calls.len()];
        for root in 0..self.calls.len() {
            if std::mem::replace(&mut is_seen[root], true) {
                continue;
            }
            let mut path = vec![(root, self.calls[root].iter())];
            while let Some((at, called)) = path.last_mut() {
                match called.next() {
                    Some(&next) if !std::mem::replace(&mut is_seen[next], true) => {
                        path.push((next, self.calls[next].iter()));
                    }
                    Some(_) => {}
                    None => {
                        finished.push(*at);
                        path.pop();
                    }
                }
            }
        }
        finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions that reach themselves, by the calls of their calls.
    fn naive(calls: &[BTreeSet<usize>]) -> BTreeSet<usize> {
        let reaches = |at: usize| {
            let mut found: BTreeSet<usize> = calls[at].iter().copied().filter(|&other| other != at).collect();
            for _ in calls {
                let more: Vec<usize> = found
                    .iter()
                    .flat_map(|&of| calls[of].iter().copied().filter(move |&to| to != of))
                    .collect();
                found.extend(more);
            }
            found.contains(&at)
        };
        (0..calls.len()).filter(|&at| reaches(at)).collect()
    }

    fn reaches(calls: &[BTreeSet<usize>], from: usize, to: usize) -> bool {
        let mut found = BTreeSet::from([from]);
        for _ in calls {
            found.extend(found.clone().into_iter().flat_map(|at| calls[at].clone()));
        }
        found.contains(&to)
    }

    #[test]
    fn circles_are_those_who_reach_themselves_and_the_order_is_the_rest() {
        let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
        let mut below = |n: usize| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice >> 11) as usize % n
        };
        let (mut n_in, mut n_behind) = (0usize, 0usize);
        for _ in 0..500 {
            let n = 1 + below(7);
            let calls: Vec<BTreeSet<usize>> =
                (0..n).map(|_| (0..below(3)).map(|_| below(n)).collect()).collect();
            let graph = CallGraph::new(calls.clone());
            let circles = graph.in_circles();
            assert_eq!(circles, naive(&calls), "{calls:?}");
            let components = graph.components();
            for (one, other) in (0..n).flat_map(|one| (0..n).map(move |other| (one, other))) {
                let is_mutual = one == other || reaches(&calls, one, other) && reaches(&calls, other, one);
                assert_eq!(components[one] == components[other], is_mutual, "{calls:?}");
            }
            let order = graph.order();
            for (at, &of) in order.iter().enumerate() {
                assert!(calls[of].iter().all(|to| *to == of || order[..at].contains(to)), "{calls:?}");
                assert!(!circles.contains(&of), "{calls:?}");
            }
            n_in += circles.len();
            n_behind += n - order.len() - circles.len();
        }
        assert!(n_in > 50 && n_behind > 50, "{n_in}, {n_behind}");
    }
}
