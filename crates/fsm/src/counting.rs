//! Complete suites for machines that do not answer every input, by counting states.
//!
//! A partial machine says nothing about inputs it does not mention, so two of its states can be distinguished only by
//! words that both answer: some are *apart*, others are neither equal nor apart. A suite is complete for such a
//! machine and systems with at most `bound` states if every system that answers a word of the machine wrongly fails
//! a test \[PY05]. From every state a word goes on until some set `R` of states that are pairwise apart was met
//! `bound - |R| + 1` times on the way: then two visits, or a visit and an access word, are in the same state of the
//! system, and since they are distinguished unless the machine is in the same state too, the way was a detour.
//!
//! *Critical answers.* If only some answers matter, states that agree on when those come need not be distinguished
//! behind the access words (the idea of safety-complete suites \[HP18]): a detour between them changes nothing that
//! matters. The suite then finds every system that gives a critical answer where the machine does not, or does not
//! give it where the machine does.
//!
//! *Promises* words that the machine answers to their end, none a prefix of another.

mod apart;
pub(crate) mod tree;

use ioxide_model::index::Idx;

pub use self::apart::ApartTable;
use self::tree::WordTree;

use crate::mealy::{InputId, Mealy, OutputId, StateId};
use crate::word::Word;

/// The suite would be larger than its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuiteTooLarge {
    /// The limit, in symbols.
    pub limit: usize,
}

impl std::fmt::Display for SuiteTooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the suite has more than {} symbols", self.limit)
    }
}

impl std::error::Error for SuiteTooLarge {}

/// Returns the suite of `machine`, all of whose states can be reached, for systems with at most `bound` states, with
/// at most `limit` symbols; `critical` are the answers that matter, all if `None`.
///
/// # Errors
/// If the suite is larger than `limit`.
pub fn counting_suite(
    machine: &Mealy,
    bound: usize,
    critical: Option<&[OutputId]>,
    limit: usize,
) -> Result<Vec<Word>, SuiteTooLarge> {
    let apart = ApartTable::new(machine);
    let mut growth = CountingGrower {
        machine,
        bound,
        limit,
        cliques: apart.cliques(),
        classes: critical.map(|critical| apart::critical_classes(machine, critical)),
        apart,
        tree: WordTree::new(machine),
    };
    let access = growth.add_state_cover()?;
    debug_assert_eq!(access.len(), machine.n_states(), "all states can be reached");
    // The access words reach different states of the system only if they are distinguished; all of the counting below
    // rests on that.
    growth.separate_access_nodes(&access)?;
    for &node in &access {
        let mut visits = vec![0; growth.cliques.len()];
        growth.traverse(&access, node, &mut Vec::new(), &mut visits)?;
    }
    Ok(growth.tree.leaf_words())
}

struct CountingGrower<'m> {
    machine: &'m Mealy,
    bound: usize,
    limit: usize,
    apart: ApartTable,
    cliques: Vec<Vec<StateId>>,
    /// The class of each state, by when critical answers are given; `None` if all answers matter.
    classes: Option<Vec<usize>>,
    tree: WordTree<'m>,
}

impl CountingGrower<'_> {
    /// A node of the tree for every state, by breadth-first search.
    fn add_state_cover(&mut self) -> Result<Vec<usize>, SuiteTooLarge> {
        let mut access = vec![None; self.machine.n_states()];
        access[self.machine.initial().index()] = Some(0);
        let mut order = vec![0];
        let mut next = 0;
        while let Some(&node) = order.get(next) {
            next += 1;
            let state = self.tree.state(node);
            for input in self.machine.inputs() {
                let Some(edge) = self.machine.edge(state, input) else { continue };
                if access[edge.next.index()].is_none() {
                    let kid = self.add_input(node, input)?;
                    access[edge.next.index()] = Some(kid);
                    order.push(kid);
                }
            }
        }
        Ok(order)
    }

    fn separate_access_nodes(&mut self, access: &[usize]) -> Result<(), SuiteTooLarge> {
        for (i, &a) in access.iter().enumerate() {
            for &b in &access[..i] {
                self.separate(a, b)?;
            }
        }
        Ok(())
    }

    /// Extends the words at `node` until some set of states was met often enough, and separates the nodes on the way
    /// where their difference matters.
    fn traverse(
        &mut self,
        access: &[usize],
        node: usize,
        way: &mut Vec<usize>,
        visits: &mut [usize],
    ) -> Result<(), SuiteTooLarge> {
        let state = self.tree.state(node);
        for input in self.machine.inputs() {
            if self.machine.edge(state, input).is_none() {
                continue;
            }
            let kid = self.add_input(node, input)?;
            let entered = self.tree.state(kid);
            self.separate_from(access, kid, entered)?;
            self.separate_from(&way.clone(), kid, entered)?;
            // Visits are counted along the current path only: entered here, and taken back below when the path is left.
            let met: Vec<usize> =
                (0..visits.len()).filter(|&clique| self.cliques[clique].contains(&entered)).collect();
            met.iter().for_each(|&clique| visits[clique] += 1);
            // Some set `R` was met `bound - |R| + 1` times: by the pigeonhole argument above the path has come back to
            // itself.
            if !self.is_visited_enough(visits) {
                way.push(kid);
                self.traverse(access, kid, way, visits)?;
                way.pop();
            }
            met.iter().for_each(|&clique| visits[clique] -= 1);
        }
        Ok(())
    }

    fn is_visited_enough(&self, visits: &[usize]) -> bool {
        let enough = |(clique, &visits): (&Vec<StateId>, &usize)| {
            // At least one visit, even if the set alone has more states than the bound.
            visits >= (self.bound + 1).saturating_sub(clique.len()).max(1)
        };
        self.cliques.iter().zip(visits).any(enough)
    }

    /// Tells `node` apart from those of `others` whose difference matters.
    fn separate_from(&mut self, others: &[usize], node: usize, state: StateId) -> Result<(), SuiteTooLarge> {
        for &other in others {
            if self.does_difference_matter(self.tree.state(other), state) {
                self.separate(other, node)?;
            }
        }
        Ok(())
    }

    fn does_difference_matter(&self, a: StateId, b: StateId) -> bool {
        self.classes.as_ref().is_none_or(|classes| classes[a.index()] != classes[b.index()])
    }

    /// Adds a word behind both nodes that distinguishes their states, if the tree has none and there is one.
    fn separate(&mut self, a: usize, b: usize) -> Result<(), SuiteTooLarge> {
        let (p, q) = (self.tree.state(a), self.tree.state(b));
        // Two access words or visits that are not apart cannot be distinguished by any test; the counting never relies
        // on them.
        if !self.apart.are_apart(p, q) || self.tree.separates(a, b) {
            return Ok(());
        }
        let cheapest =
            self.apart.separating_word(self.machine, p, q, |word| self.tree.added_cost(a, b, word));
        let word = cheapest.unwrap_or_default();
        self.add_word(a, &word)?;
        self.add_word(b, &word)
    }

    fn add_word(&mut self, node: usize, word: &[InputId]) -> Result<(), SuiteTooLarge> {
        let mut at = node;
        for &input in word {
            at = self.add_input(at, input)?;
        }
        Ok(())
    }

    fn add_input(&mut self, node: usize, input: InputId) -> Result<usize, SuiteTooLarge> {
        if self.tree.symbols() > self.limit {
            Err(SuiteTooLarge { limit: self.limit })
        } else {
            Ok(self.tree.add(node, input))
        }
    }
}
