//! A splitting tree: a tree of blocks of states, each inner block with a word
//! whose answers split it into its children \[LeeYannakakis94].
//!
//! The word of the lowest block that contains two states separates them. A
//! block is split by one input if its answers differ, else by an input that
//! leads it across a block that is split already, with that block's word.
//!
//! *Promises* a word for every two states of a minimal machine, in less space
//! than all pairs: one word per inner block. The words need not be shortest.

use ioxide_model::index::Idx;

use crate::distinguish::refine::{GroupRefiner, StateGroups};
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

/// The block of all states.
const ROOT: usize = 0;

#[derive(Clone, Debug)]
struct SplittingBlock {
    parent: Option<usize>,
    depth: usize,
    states: Vec<StateId>,
    /// The word that splits the block, empty while it is a leaf.
    word: Word,
}

/// A splitting tree of a minimal machine.
#[derive(Clone, Debug)]
pub struct SplittingTree {
    blocks: Vec<SplittingBlock>,
    /// The leaf of each state.
    leaf: Vec<usize>,
}

impl SplittingTree {
    /// Builds the tree, splitting until every leaf is one state.
    #[must_use]
    pub fn new(spec: &SuiteModel) -> Self {
        let root =
            SplittingBlock { parent: None, depth: 0, states: spec.states().collect(), word: Word::new() };
        let mut tree = Self { blocks: vec![root], leaf: vec![0; spec.n_states()] };
        let mut refiner = GroupRefiner::new(spec);
        // Level by level. A block that cannot be split yet waits until another one was: the word it needs may be the
        // word of that block. In a minimal machine some block can always be split.
        let mut open = vec![ROOT];
        while !open.is_empty() {
            let mut later = Vec::new();
            let mut progress = false;
            for block in open {
                match tree.splitting_word(spec, block) {
                    Some(word) => {
                        progress = true;
                        let children = tree.split_block(&mut refiner, block, word);
                        later.extend(children.filter(|&child| tree.blocks[child].states.len() > 1));
                    }
                    None if tree.blocks[block].states.len() > 1 => later.push(block),
                    None => (),
                }
            }
            if !progress {
                break;
            }
            open = later;
        }
        debug_assert!(
            tree.leaf.iter().all(|&leaf| tree.blocks[leaf].states.len() == 1),
            "a minimal machine is split to the end"
        );
        tree
    }

    /// The word of the lowest block that holds both states; empty if they are one state.
    #[must_use]
    pub fn separating_word(&self, a: StateId, b: StateId) -> &[InputId] {
        if a == b {
            return &[];
        }
        let block = self.common_ancestor(self.leaf[a.index()], self.leaf[b.index()]);
        &self.blocks[block].word
    }

    /// A word that splits `states`, empty if they are one state.
    #[must_use]
    pub fn word_for(&self, states: &[StateId]) -> &[InputId] {
        self.lowest_common_block(states.iter().copied()).map_or(&[], |block| &self.blocks[block].word)
    }

    /// The lowest block that holds all of `states`.
    fn lowest_common_block(&self, states: impl Iterator<Item = StateId>) -> Option<usize> {
        let mut leaves = states.map(|state| self.leaf[state.index()]);
        let mut block = leaves.next()?;
        for leaf in leaves {
            if block == ROOT {
                break;
            }
            block = self.common_ancestor(block, leaf);
        }
        Some(block)
    }

    /// The words of the blocks above `state`, outermost first.
    #[must_use]
    pub fn separating_words(&self, state: StateId) -> Vec<&[InputId]> {
        let mut words = Vec::new();
        let mut at = self.blocks[self.leaf[state.index()]].parent;
        while let Some(block) = at {
            words.push(self.blocks[block].word.as_slice());
            at = self.blocks[block].parent;
        }
        words.reverse();
        words
    }

    fn common_ancestor(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            // Always climb from the deeper one, so that the two meet at their lowest common ancestor.
            if self.blocks[a].depth < self.blocks[b].depth {
                std::mem::swap(&mut a, &mut b);
            }
            match self.blocks[a].parent {
                Some(parent) => a = parent,
                None => break,
            }
        }
        a
    }

    /// The shortest word the tree so far knows for `block`.
    fn splitting_word(&self, spec: &SuiteModel, block: usize) -> Option<Word> {
        let states = &self.blocks[block].states;
        if states.len() < 2 {
            return None;
        }
        let differs = |x: &InputId| states.iter().any(|&s| spec.output(s, *x) != spec.output(states[0], *x));
        // Type (a) of Lee and Yannakakis: one input splits the block. Else type (b): an input into a block that has a
        // word.
        if let Some(x) = spec.inputs().find(differs) {
            return Some(vec![x]);
        }
        let through = |x: InputId| {
            let common = self.lowest_common_block(states.iter().map(|&s| spec.next(s, x)))?;
            let word = &self.blocks[common].word;
            (!word.is_empty()).then(|| [&[x], word.as_slice()].concat())
        };
        spec.inputs().filter_map(through).min_by_key(Vec::len)
    }

    /// Splits `block` by `word` and returns its children.
    fn split_block(
        &mut self,
        refiner: &mut GroupRefiner<'_>,
        block: usize,
        word: Word,
    ) -> std::ops::Range<usize> {
        let first = self.blocks.len();
        let mut groups = StateGroups::default();
        groups.restart_together(&self.blocks[block].states);
        refiner.apply_word(&mut groups, word.iter().copied());
        let depth = self.blocks[block].depth + 1;
        // The word goes to the block and not to its children: it separates states that lie in different ones.
        let child = SplittingBlock { parent: Some(block), depth, states: Vec::new(), word: Word::new() };
        self.blocks.resize(first + groups.count, child);
        for (i, &group) in groups.of.iter().enumerate() {
            let (state, child) = (self.blocks[block].states[i], first + group as usize);
            self.blocks[child].states.push(state);
            self.leaf[state.index()] = child;
        }
        self.blocks[block].word = word;
        first..self.blocks.len()
    }
}
