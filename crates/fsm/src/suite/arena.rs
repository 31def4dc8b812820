//! An arena whose room is used again, and ids that may be missing.
//!
//! As [`IndexVec`](ioxide_model::index::IndexVec), and it can be emptied: the
//! suites that are grown to keep the smallest have about the same size, and
//! fresh memory is expensive.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use ioxide_model::index::Idx;

/// Items by their ids.
pub(super) struct IdArena<I, T> {
    items: Vec<T>,
    ids: PhantomData<fn(I)>,
}

impl<I, T> Default for IdArena<I, T> {
    fn default() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }
}

impl<I: Idx, T> IdArena<I, T> {
    /// Adds an item and returns its id.
    #[inline]
    pub(super) fn push(&mut self, item: T) -> I {
        let id = I::new(self.items.len());
        self.items.push(item);
        id
    }

    /// Removes all items and keeps their room.
    pub(super) fn clear(&mut self) {
        // The memory is kept: the next suite that is grown has about the same size.
        self.items.clear();
    }

    /// All items in the order of their ids.
    pub(super) fn as_slice(&self) -> &[T] {
        &self.items
    }
}

impl<I: Idx, T> Index<I> for IdArena<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IdArena<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

/// Maybe an id, in the space of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OptionalId(u32);

impl OptionalId {
    // An `Option` of a 32-bit id takes eight bytes; a suite of millions of words needs half of that this way.
    pub(super) const NONE: Self = Self(u32::MAX);

    /// The reference to a node.
    pub(super) fn some<I: Idx>(id: I) -> Self {
        Self(u32::try_from(id.index()).expect("fewer than 2^32 - 1 nodes"))
    }

    /// The node; `None` if there is none.
    pub(super) fn get<I: Idx>(self) -> Option<I> {
        (self != Self::NONE).then(|| I::new(self.0 as usize))
    }

    pub(super) fn is_some(self) -> bool {
        self != Self::NONE
    }
}
