//! A test tree and its words.
//!
//! The tree holds every test as a path from its root; a word that no other
//! goes on from ends a test.

use ioxide_model::index;

use super::arena::{IdArena, OptionalId};
use crate::mealy::InputId;
use crate::word::Word;

index! { /// A node of the test tree: one word.
pub(super) struct LeafId; }

/// A word of the tree: its parent and its last input.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeWord {
    pub(super) parent: OptionalId,
    pub(super) input: InputId,
    pub(super) depth: u32,
    /// The next end of a test in the same class.
    pub(super) next_end: OptionalId,
    pub(super) extended: bool,
}

/// The words of a test tree, in the order they were finished.
#[derive(Default)]
pub(super) struct WordPaths {
    reals: IdArena<LeafId, TreeWord>,
    at: usize,
    word: Word,
}

impl WordPaths {
    pub(super) fn new(reals: IdArena<LeafId, TreeWord>) -> Self {
        Self { reals, at: 0, word: Word::new() }
    }

    /// The tree of the words.
    pub(super) fn into_reals(self) -> IdArena<LeafId, TreeWord> {
        self.reals
    }

    pub(super) fn advance(&mut self) -> Option<&[InputId]> {
        let ends = &self.reals.as_slice()[self.at..];
        let skipped = ends.iter().position(|real| !real.extended && real.depth > 0)?;
        let real = ends[skipped];
        self.at += skipped + 1;
        self.word.clear();
        self.word.resize(real.depth as usize, real.input);
        let mut at = real;
        for place in self.word.iter_mut().rev() {
            *place = at.input;
            match at.parent.get::<LeafId>() {
                Some(parent) => at = self.reals[parent],
                None => break,
            }
        }
        Some(&self.word)
    }
}
