//! A test tree and its words.
//!
//! The tree holds every test as a path from its root; a word that no other
//! goes on from ends a test.

use ioxide_model::index;

use super::arena::{IdArena, OptionalId};
use crate::mealy::InputId;
use crate::word::Word;

index! { /// A node of the test tree: one word.
pub(super) struct TreeWordId; }

/// A word of the tree: its parent and its last input.
#[derive(Clone, Copy, Debug)]
pub(super) struct TreeWord {
    pub(super) parent: OptionalId,
    pub(super) input: InputId,
    pub(super) depth: u32,
    /// The next end of a test in the same class.
    pub(super) next_end: OptionalId,
    /// True if a longer word of the tree goes on from this one, so that it ends no test.
    pub(super) extended: bool,
}

/// The words of a test tree, in the order they were finished.
#[derive(Default)]
pub struct WordPaths {
    tree_words: IdArena<TreeWordId, TreeWord>,
    at: usize,
    word: Word,
}

impl WordPaths {
    /// Makes a cursor before the first word.
    pub(super) fn new(tree_words: IdArena<TreeWordId, TreeWord>) -> Self {
        Self { tree_words, at: 0, word: Word::new() }
    }

    /// The tree of the words.
    pub(super) fn into_tree(self) -> IdArena<TreeWordId, TreeWord> {
        self.tree_words
    }

    /// Returns the next word that no other one extends, in a buffer that the following call reuses.
    pub(super) fn advance(&mut self) -> Option<&[InputId]> {
        let ends = &self.tree_words.as_slice()[self.at..];
        // The root is the empty word: it ends no test even if the tree has no other word.
        let skipped = ends.iter().position(|word| !word.extended && word.depth > 0)?;
        let end = ends[skipped];
        self.at += skipped + 1;
        self.word.clear();
        // The tree stores only the last input of each word, so the word is filled in from its end, going up.
        self.word.resize(end.depth as usize, end.input);
        let mut at = end;
        for place in self.word.iter_mut().rev() {
            *place = at.input;
            match at.parent.get::<TreeWordId>() {
                Some(parent) => at = self.tree_words[parent],
                None => break,
            }
        }
        Some(&self.word)
    }
}
