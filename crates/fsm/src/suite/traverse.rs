//! A lazy walk over `P · Σ^≤(extra+1) · suffixes`, words without prefixes.
//!
//! The words of such a set form a tree that is never built: a node of it is a
//! state, the number of free symbols left, and the places in the suffix sets
//! that the path may be at. A depth-first walk holds one path of such nodes,
//! and its leaves are exactly the words that are no prefix of another.

use ioxide_model::index::{Idx, IndexVec};

use crate::cover::{StateCover, state_cover};
use crate::mealy::{InputId, StateId, SuiteModel};
use crate::word::Word;

/// The suffixes a walk appends, by the state reached.
pub(super) struct Suffixes {
    /// For each state the set after words that any input may follow.
    pub(super) inner: IndexVec<StateId, usize>,
    /// For each state the set after the words of `P · Σ^(extra+1)`.
    pub(super) last: IndexVec<StateId, usize>,
    /// The sets both point into.
    pub(super) tries: Tries,
}

/// Sets of words as tries in one arena; a set is named by its root.
#[derive(Default)]
pub(super) struct Tries {
    kids: Vec<Vec<(InputId, usize)>>,
}

impl Tries {
    /// Adds a set of words and returns its root.
    pub(super) fn insert<'w>(&mut self, words: impl IntoIterator<Item = &'w Word>) -> usize {
        let root = self.push();
        for word in words {
            let mut at = root;
            for &input in word {
                at = match self.kids[at].binary_search_by_key(&input, |&(x, _)| x) {
                    Ok(found) => self.kids[at][found].1,
                    Err(place) => {
                        let fresh = self.push();
                        self.kids[at].insert(place, (input, fresh));
                        fresh
                    }
                };
            }
        }
        root
    }

    /// Adds a node without children and returns its number.
    fn push(&mut self) -> usize {
        self.kids.push(Vec::new());
        self.kids.len() - 1
    }

    /// Returns the child of a node by an input, if it has one.
    fn child(&self, at: usize, input: InputId) -> Option<usize> {
        let kids = &self.kids[at];
        match kids[..] {
            [] => None,
            [(only, kid)] => (only == input).then_some(kid),
            _ => kids.binary_search_by_key(&input, |&(x, _)| x).ok().map(|found| kids[found].1),
        }
    }

    /// The first input at or after `from` that leads on from `at`.
    fn first_input_from(&self, at: usize, from: usize) -> Option<usize> {
        self.kids[at].iter().map(|&(x, _)| x.index()).find(|&x| x >= from)
    }
}

/// A node of the current path of the walk.
struct TraversalFrame {
    state: StateId,
    /// Symbols that may still follow freely, counting from -1 when none may
    /// and no suffix may start.
    left: i64,
    in_cover: bool,
    /// The start of its places in the suffix sets on the common stack.
    places: usize,
    /// The next input to try.
    cursor: usize,
    leaf: bool,
}

/// The walk: a cursor over the words.
pub struct Traversal<'s> {
    spec: &'s SuiteModel,
    cover: StateCover,
    free: i64,
    suffixes: Suffixes,
    frames: Vec<TraversalFrame>,
    places: Vec<usize>,
    word: Word,
}

impl<'s> Traversal<'s> {
    /// Makes a walk at the initial state of `spec`. Every word may go `extra` + 1 inputs beyond the state cover before
    /// its suffix.
    pub(super) fn new(spec: &'s SuiteModel, extra: usize, suffixes: Suffixes) -> Self {
        let free = extra as i64 + 1;
        let start = TraversalFrame {
            state: spec.initial(),
            left: free,
            in_cover: true,
            places: 0,
            cursor: 0,
            leaf: true,
        };
        let places = vec![suffixes.inner[spec.initial()]];
        let cover = state_cover(spec);
        Self { spec, cover, free, suffixes, frames: vec![start], places, word: Word::new() }
    }

    /// The next leaf of the tree.
    pub(super) fn advance(&mut self) -> Option<&[InputId]> {
        // The leaf returned by the last call is still on the stack, because the caller was lent its word.
        if self.frames.last().is_some_and(|frame| frame.leaf && !self.word.is_empty() && frame.cursor > 0) {
            self.leave_input();
        }
        loop {
            let frame = self.frames.last()?;
            match self.next_input(frame) {
                Some(input) => self.enter_input(InputId::new(input)),
                None if frame.leaf && !self.word.is_empty() => {
                    self.frames.last_mut()?.cursor = usize::MAX;
                    return Some(&self.word);
                }
                None => self.leave_input(),
            }
        }
    }

    fn next_input(&self, frame: &TraversalFrame) -> Option<usize> {
        // While symbols are free every input follows, and no suffix has to be looked at: suffixes are walked along
        // anyway.
        if frame.left > 0 {
            return (frame.cursor < self.spec.n_inputs()).then_some(frame.cursor);
        }
        let places = &self.places[frame.places..];
        places.iter().filter_map(|&place| self.suffixes.tries.first_input_from(place, frame.cursor)).min()
    }

    fn enter_input(&mut self, input: InputId) {
        let Some(frame) = self.frames.last_mut() else { return };
        frame.cursor = input.index() + 1;
        frame.leaf = false;
        let (start, end) = (frame.places, self.places.len());
        let state = self.spec.next(frame.state, input);
        let in_cover = frame.in_cover && self.cover.has_edge(self.spec, frame.state, input);
        // On the cover the free symbols start again: `P · Σ^≤(extra+1)` counts from the last access word on the path.
        let left = if in_cover { self.free } else { (frame.left - 1).max(-1) };
        // The path may be inside several suffix sets at once, one for each prefix that ended in a state with a set.
        for i in start..end {
            if let Some(next) = self.suffixes.tries.child(self.places[i], input) {
                self.places.push(next);
            }
        }
        match left {
            -1 => (),
            0 => self.places.push(self.suffixes.last[state]),
            _ => self.places.push(self.suffixes.inner[state]),
        }
        self.frames.push(TraversalFrame { state, left, in_cover, places: end, cursor: 0, leaf: true });
        self.word.push(input);
    }

    fn leave_input(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.places.truncate(frame.places);
            self.word.pop();
        }
    }
}
