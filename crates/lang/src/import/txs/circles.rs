//! The order in which functions are defined, and those among them that call each other in a circle.

use std::collections::BTreeSet;

/// The calls among functions, by position. A function that calls itself is none of its callers.
pub struct CallGraph {
    pub calls: Vec<BTreeSet<usize>>,
    callers: Vec<Vec<usize>>,
}

impl CallGraph {
    /// The graph in which each function calls those of its set.
    pub fn new(mut calls: Vec<BTreeSet<usize>>) -> Self {
        let mut callers: Vec<Vec<usize>> = vec![Vec::new(); calls.len()];
        for (at, called) in calls.iter_mut().enumerate() {
            called.remove(&at);
            called.iter().for_each(|&other| callers[other].push(at));
        }
        Self { calls, callers }
    }

    /// Returns every function behind those it calls. Those in a circle, and those that call one by any way, are left
    /// out.
    pub fn order(&self) -> Vec<usize> {
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
    pub fn in_circles(&self) -> BTreeSet<usize> {
        let components = self.components();
        let mut sizes = vec![0usize; components.len()];
        components.iter().for_each(|&component| sizes[component] += 1);
        (0..components.len()).filter(|&at| sizes[components[at]] > 1).collect()
    }

    /// Returns the number of the strongly connected component of every function: two have the same one if each calls
    /// the other, by any way.
    pub fn components(&self) -> Vec<usize> {
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
