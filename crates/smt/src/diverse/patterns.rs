//! The ways in which variables can be equal to each other: set partitions.
//!
//! A partition is a *restricted growth string*: the first variable is in block 0, and
//! each further one in a block used already or in the next new one. Variables of
//! different base sorts are never in one block.

use ioxide_model::sort::Sort;
use ioxide_model::term::{Term, TermPool, VarId};

/// An enumeration of the partitions: all equal first, all different last.
#[derive(Debug)]
pub struct Patterns {
    pub vars: Vec<VarId>,
    sorts: Vec<Sort>,
    /// The block of each variable; `None` before the first partition.
    blocks: Option<Vec<usize>>,
    done: bool,
}

impl Patterns {
    /// Makes the enumeration for `vars`, before its first pattern.
    pub fn new(pool: &TermPool, vars: &[VarId]) -> Self {
        let sorts = vars.iter().map(|&var| pool.var_info(var).sort.base()).collect();
        Self { vars: vars.to_vec(), sorts, blocks: None, done: false }
    }

    /// Returns the facts that describe the next partition.
    pub(super) fn next_partition(&mut self, pool: &mut TermPool) -> Option<Vec<Term>> {
        loop {
            self.advance();
            let blocks = self.blocks.as_ref().filter(|_| !self.done)?;
            if self.has_one_sort_per_block(blocks) {
                return Some(self.partition_facts(pool, blocks));
            }
        }
    }

    /// Advances to the next restricted growth string.
    fn advance(&mut self) {
        let Some(blocks) = &mut self.blocks else {
            self.blocks = Some(vec![0; self.vars.len()]);
            return;
        };
        for at in (1..blocks.len()).rev() {
            let most = blocks[..at].iter().copied().max().unwrap_or(0);
            if blocks[at] <= most {
                blocks[at] += 1;
                blocks[at + 1..].fill(0);
                return;
            }
        }
        self.done = true;
    }

    /// Returns whether no block holds variables of two sorts.
    fn has_one_sort_per_block(&self, blocks: &[usize]) -> bool {
        index_pairs(blocks.len()).all(|(a, b)| blocks[a] != blocks[b] || self.sorts[a] == self.sorts[b])
    }

    fn partition_facts(&self, pool: &mut TermPool, blocks: &[usize]) -> Vec<Term> {
        let mut facts = Vec::new();
        for (a, b) in index_pairs(blocks.len()) {
            if self.sorts[a] != self.sorts[b] {
                continue;
            }
            let (x, y) = (pool.var(self.vars[a]), pool.var(self.vars[b]));
            facts.push(if blocks[a] == blocks[b] { pool.eq(x, y) } else { pool.ne(x, y) });
        }
        facts
    }
}

/// All pairs of numbers below `n`, the smaller one first.
fn index_pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |b| (0..b).map(move |a| (a, b)))
}
