//! Blocks: a few items in a row, with room for more.
//!
//! Blocks are ranges of rows that they share. Removing items at an end only narrows the range, and an appended item is
//! written into the row behind the items if that slot is still empty. So a queue copies its items only once in a while,
//! not at every step.

use std::cmp::Ordering;
use std::iter::{Map, once, repeat_with};
use std::slice;
use std::sync::{Arc, OnceLock};

/// The greatest number of items of one block; more are a tree of blocks.
pub(super) const BLOCK: usize = 16;

/// A range of a shared row; every slot in the range holds an item.
pub(super) struct RowBlock<T> {
    row: Arc<[OnceLock<T>]>,
    from: usize,
    to: usize,
}

/// The items of a block in order.
pub(super) type BlockItems<'b, T> = Map<slice::Iter<'b, OnceLock<T>>, fn(&OnceLock<T>) -> &T>;

impl<T> RowBlock<T> {
    /// Makes a block of `items`, at most [`BLOCK`], with `room` free slots behind them.
    pub fn new(items: impl Iterator<Item = T>, room: usize) -> Self {
        let row: Arc<[OnceLock<T>]> =
            items.map(OnceLock::from).chain(repeat_with(OnceLock::new).take(room)).collect();
        let to = row.len() - room;
        debug_assert!(to <= BLOCK, "what does not fit is a branch");
        Self { row, from: 0, to }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.to - self.from
    }

    /// Returns the item at a position of this block; `None` beyond its end.
    pub fn get(&self, at: usize) -> Option<&T> {
        self.row[self.from..self.to].get(at).map(slot_item)
    }

    /// Returns the items in order.
    pub fn items(&self) -> BlockItems<'_, T> {
        self.row[self.from..self.to].iter().map(slot_item as fn(&OnceLock<T>) -> &T)
    }

    /// Returns the position of an item for which `order` returns `Equal`; the error is the position it would have.
    pub fn search(&self, order: impl Fn(&T) -> Ordering) -> Result<usize, usize> {
        self.row[self.from..self.to].binary_search_by(|slot| order(slot_item(slot)))
    }

    /// Returns the items from position `from` up to before `to`, both within the block.
    pub fn slice(&self, from: usize, to: usize) -> Self {
        Self { row: self.row.clone(), from: self.from + from, to: self.from + to }
    }
}

impl<T: Clone> RowBlock<T> {
    /// Returns the items with `last` appended; the block must hold fewer than [`BLOCK`].
    pub fn with_last(&self, last: T) -> Self {
        let last = match self.row.get(self.to) {
            Some(slot) => match slot.set(last) {
                Ok(()) => return Self { row: self.row.clone(), from: self.from, to: self.to + 1 },
                // Another sequence that begins with these items went on first.
                Err(last) => last,
            },
            None => last,
        };
        Self::new(self.items().cloned().chain(once(last)), BLOCK - self.len() - 1)
    }
}

/// Returns the item of a slot, which is written before the block can be seen.
fn slot_item<T>(slot: &OnceLock<T>) -> &T {
    slot.get().expect("every slot of a block has its item")
}
