//! Persistent sequences: the concrete form of lists, sets and maps.
//!
//! A balanced tree (AVL) whose one operation is *join*: a tree from two trees and the item
//! between them; the rest is made of it (Blelloch, Ferizovic, Sun: "Just Join"). Trees share
//! what they have in common, so a step on a sequence of any length costs a logarithm. Few items
//! are one block, and blocks are the leaves of larger trees (Dhulipala and others, "PaC-trees"):
//! to copy a block costs less than to make the branches it stands for.
//!
//! A tree has a hash of its items in order, whatever its form: with `B` odd it is the
//! sum of `hash(item) * B^(items behind it)`, which two halves give in constant time. It is
//! computed when it is first asked for, and kept. Different sequences are distinguished without a
//! look at their items, except after a collision.

mod block;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::iter::once;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering as Access};

use rustc_hash::FxHasher;

use self::block::{BLOCK, BlockItems, RowBlock};

/// The base of the hash: an odd number, so that no item drops out of the sum.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
/// A sequence that shares its parts with the sequences it was made from.
pub struct Sequence<T>(Option<Arc<SequenceTree<T>>>);

enum SequenceTree<T> {
    /// At least one and at most [`BLOCK`] items.
    Block(RowBlock<T>),
    /// More than [`BLOCK`] items.
    Branch(SequenceBranch<T>),
}

/// An inner node; neither side is empty.
struct SequenceBranch<T> {
    left: Sequence<T>,
    item: T,
    right: Sequence<T>,
    len: usize,
    height: u8,
    /// The hash of the items; zero until it is computed.
    hash: AtomicU64,
}

impl<T> Clone for Sequence<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Sequence<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Sequence<T> {
    /// The sequence without items.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0.as_deref() {
            None => 0,
            Some(SequenceTree::Block(block)) => block.len(),
            Some(SequenceTree::Branch(branch)) => branch.len,
        }
    }

    /// Returns whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the height of the tree: 0 if it is empty, 1 for a block.
    #[must_use]
    pub fn height(&self) -> u8 {
        match self.0.as_deref() {
            None => 0,
            Some(SequenceTree::Block(_)) => 1,
            Some(SequenceTree::Branch(branch)) => branch.height,
        }
    }

    /// Returns whether the tree has the form that every operation keeps: the heights of two sides differ by at most
    /// one, items that fit in a block are a block, and the lengths are right.
    #[must_use]
    pub fn is_balanced(&self) -> bool {
        let branch = match self.0.as_deref() {
            None => return true,
            Some(SequenceTree::Block(block)) => return (1..=BLOCK).contains(&block.len()),
            Some(SequenceTree::Branch(branch)) => branch,
        };
        branch.left.height().abs_diff(branch.right.height()) <= 1
            && !branch.left.is_empty()
            && !branch.right.is_empty()
            && branch.len == branch.left.len() + branch.right.len() + 1
            && branch.len > BLOCK
            && branch.left.is_balanced()
            && branch.right.is_balanced()
    }

    /// Returns whether the items fit in one block; true if there are none.
    fn is_short(&self) -> bool {
        self.height() <= 1
    }

    /// Returns the item at position `at`; `None` beyond the end.
    #[must_use]
    pub fn get(&self, mut at: usize) -> Option<&T> {
        let mut tree = self;
        loop {
            let branch = match tree.0.as_deref()? {
                SequenceTree::Block(block) => return block.get(at),
                SequenceTree::Branch(branch) => branch,
            };
            let before = branch.left.len();
            match at.cmp(&before) {
                Ordering::Less => tree = &branch.left,
                Ordering::Equal => return Some(&branch.item),
                Ordering::Greater => {
                    // Positions on the right count from behind the item of the branch.
                    at -= before + 1;
                    tree = &branch.right;
                }
            }
        }
    }

    /// Returns the position of an item for which `order` returns `Equal`, in a sequence sorted by `order`.
    ///
    /// # Errors
    /// If there is no such item: the position it would have.
    pub fn search(&self, order: impl Fn(&T) -> Ordering) -> Result<usize, usize> {
        let (mut tree, mut before) = (self, 0);
        loop {
            let branch = match tree.0.as_deref() {
                None => return Err(before),
                Some(SequenceTree::Block(block)) => {
                    return block.search(order).map(|at| before + at).map_err(|at| before + at);
                }
                Some(SequenceTree::Branch(branch)) => branch,
            };
            match order(&branch.item) {
                Ordering::Greater => tree = &branch.left,
                Ordering::Equal => return Ok(before + branch.left.len()),
                Ordering::Less => {
                    before += branch.left.len() + 1;
                    tree = &branch.right;
                }
            }
        }
    }

    /// The items in order.
    #[must_use]
    pub fn iter(&self) -> SequenceIter<'_, T> {
        let mut iter = SequenceIter { open: Vec::new(), block: None, left: self.len() };
        iter.descend(self);
        iter
    }
}

impl<T: Hash> Sequence<T> {
    fn hash_of_items(&self) -> u64 {
        match self.0.as_deref() {
            None => 0,
            Some(SequenceTree::Block(block)) => block.items().fold(0, |before, item| one_more(before, item)),
            Some(SequenceTree::Branch(branch)) => branch.hash_of_items(),
        }
    }
}

impl<T: Hash> SequenceBranch<T> {
    /// Returns the hash of the items, computed at the first call; threads that compute it at once find the same.
    fn hash_of_items(&self) -> u64 {
        let known = self.hash.load(Access::Relaxed);
        if known != 0 {
            return known;
        }
        // Relaxed accesses suffice: every thread computes the same number, and zero means that it is not known yet.
        let power = BASE.wrapping_pow(u32::try_from(self.right.len()).unwrap_or(u32::MAX));
        let before = one_more(self.left.hash_of_items(), &self.item);
        let hash = before.wrapping_mul(power).wrapping_add(self.right.hash_of_items());
        self.hash.store(hash, Access::Relaxed);
        hash
    }
}

/// Returns the hash of a sequence with `item` appended, from the hash `before` of the sequence without it.
fn one_more<T: Hash>(before: u64, item: &T) -> u64 {
    before.wrapping_mul(BASE).wrapping_add(hash_of(item))
}

impl<T: Clone> Sequence<T> {
    /// Returns the sequence of the items of a block.
    fn from_block(block: RowBlock<T>) -> Self {
        if block.len() == 0 { Self::new() } else { Self(Some(Arc::new(SequenceTree::Block(block)))) }
    }

    /// Returns the sequence of `len` items, at most two blocks of them: one block if they fit, else two with an item
    /// between them.
    fn from_few(mut items: impl Iterator<Item = T>, len: usize) -> Self {
        if len <= BLOCK {
            return Self::from_block(RowBlock::new(items, 0));
        }
        // By reference, because what is left of the items goes to the other side.
        let left = Self::from_block(RowBlock::new(items.by_ref().take(len / 2), 0));
        match items.next() {
            Some(item) => Self::from_branch(left, item, Self::from_block(RowBlock::new(items, 0))),
            None => left,
        }
    }

    /// Returns the branch of `left`, `item` and `right` as they are, with its length and height.
    fn from_branch(left: Self, item: T, right: Self) -> Self {
        debug_assert!(left.height().abs_diff(right.height()) <= 1, "the tree is balanced");
        let branch = SequenceBranch {
            len: left.len() + 1 + right.len(),
            height: left.height().max(right.height()) + 1,
            hash: AtomicU64::new(0),
            left,
            item,
            right,
        };
        Self(Some(Arc::new(SequenceTree::Branch(branch))))
    }

    /// `left`, then `item`, then `right`, whose heights differ by one at most.
    fn branch(left: Self, item: T, right: Self) -> Self {
        let len = left.len() + 1 + right.len();
        // The invariants of the two kinds of nodes: a branch has more than a block of items and no empty side.
        if len > BLOCK && !left.is_empty() && !right.is_empty() {
            return Self::from_branch(left, item, right);
        }
        if right.is_empty() && len <= BLOCK {
            return left.with_inserted(len - 1, item);
        }
        // One block, or two of about equal length if they do not fit into one: at most two blocks and an item come
        // here.
        Self::from_few(left.iter().cloned().chain(once(item)).chain(right.iter().cloned()), len)
    }

    /// Returns the root item of a branch and the sequences on both sides of it; `None` for a block and for the empty
    /// sequence.
    fn expose(&self) -> Option<(Self, T, Self)> {
        match self.0.as_deref()? {
            SequenceTree::Block(_) => None,
            SequenceTree::Branch(branch) => {
                Some((branch.left.clone(), branch.item.clone(), branch.right.clone()))
            }
        }
    }

    /// `left`, then `item`, then `right`.
    #[must_use]
    pub fn join(left: Self, item: T, right: Self) -> Self {
        // What is higher by two than another is no block.
        // Down the inner edge of the higher tree, to where the lower one fits; on the way back every branch is
        // balanced.
        if left.height() > right.height() + 1
            && let Some((outer, root, inner)) = left.expose()
        {
            Self::balance(outer, root, Self::join(inner, item, right))
        } else if right.height() > left.height() + 1
            && let Some((inner, root, outer)) = right.expose()
        {
            Self::balance(Self::join(left, item, inner), root, outer)
        } else {
            Self::branch(left, item, right)
        }
    }

    /// `left`, then `item`, then `right`, whose heights differ by two at most: rotated if they do.
    fn balance(left: Self, item: T, right: Self) -> Self {
        if left.height() > right.height() + 1
            && let Some((outer, root, inner)) = left.expose()
        {
            // Two rotations if the inner side is the higher one, otherwise one.
            match inner.expose().filter(|_| inner.height() > outer.height()) {
                Some((a, middle, b)) => {
                    Self::branch(Self::branch(outer, root, a), middle, Self::branch(b, item, right))
                }
                None => Self::branch(outer, root, Self::branch(inner, item, right)),
            }
        } else if right.height() > left.height() + 1
            && let Some((inner, root, outer)) = right.expose()
        {
            // The mirror image of the case above.
            match inner.expose().filter(|_| inner.height() > outer.height()) {
                Some((a, middle, b)) => {
                    Self::branch(Self::branch(left, item, a), middle, Self::branch(b, root, outer))
                }
                None => Self::branch(Self::branch(left, item, inner), root, outer),
            }
        } else {
            Self::branch(left, item, right)
        }
    }

    /// The first `at` items.
    #[must_use]
    pub fn take_first(&self, at: usize) -> Self {
        if at >= self.len() {
            return self.clone();
        }
        match self.0.as_deref() {
            None => Self::new(),
            Some(SequenceTree::Block(block)) => Self::from_block(block.slice(0, at)),
            Some(SequenceTree::Branch(branch)) => match at.checked_sub(branch.left.len() + 1) {
                None => branch.left.take_first(at),
                Some(at) => Self::join(branch.left.clone(), branch.item.clone(), branch.right.take_first(at)),
            },
        }
    }

    /// The items after the first `at`.
    #[must_use]
    pub fn skip_first(&self, at: usize) -> Self {
        if at == 0 {
            return self.clone();
        }
        match self.0.as_deref() {
            None => Self::new(),
            Some(SequenceTree::Block(block)) => {
                Self::from_block(block.slice(at.min(block.len()), block.len()))
            }
            Some(SequenceTree::Branch(branch)) => match at.checked_sub(branch.left.len() + 1) {
                None => Self::join(branch.left.skip_first(at), branch.item.clone(), branch.right.clone()),
                Some(at) => branch.right.skip_first(at),
            },
        }
    }

    /// These items, then those of `other`.
    #[must_use]
    pub fn followed_by(&self, other: &Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { other.clone() } else { self.clone() };
        }
        if self.is_short() && other.is_short() {
            return Self::from_few(self.iter().chain(other.iter()).cloned(), self.len() + other.len());
        }
        // A join needs an item between the two: the first one of the second.
        let first = other.get(0).cloned();
        match first {
            Some(first) => Self::join(self.clone(), first, other.skip_first(1)),
            None => self.clone(),
        }
    }

    /// Returns the items with `item` inserted at position `at`.
    #[must_use]
    pub fn with_inserted(&self, at: usize, item: T) -> Self {
        match self.0.as_deref() {
            None => Self::from_block(RowBlock::new(once(item), 0)),
            Some(SequenceTree::Block(block)) if at >= block.len() && block.len() < BLOCK => {
                Self::from_block(block.with_last(item))
            }
            Some(SequenceTree::Block(block)) => {
                let (before, behind) =
                    (block.slice(0, at.min(block.len())), block.slice(at.min(block.len()), block.len()));
                Self::from_few(splice(&before, Some(item), &behind), block.len() + 1)
            }
            Some(SequenceTree::Branch(branch)) => {
                let (left, old, right) = (&branch.left, branch.item.clone(), &branch.right);
                match at.checked_sub(left.len() + 1) {
                    None => Self::join(left.with_inserted(at, item), old, right.clone()),
                    Some(at) => Self::join(left.clone(), old, right.with_inserted(at, item)),
                }
            }
        }
    }

    /// The items without the one at position `at`; the same if there is none.
    #[must_use]
    pub fn with_removed(&self, at: usize) -> Self {
        if at >= self.len() {
            return self.clone();
        }
        match self.0.as_deref() {
            None => Self::new(),
            Some(SequenceTree::Block(_)) if at == 0 => self.skip_first(1),
            Some(SequenceTree::Block(block)) if at + 1 == block.len() => self.take_first(at),
            Some(SequenceTree::Block(block)) => {
                let (before, behind) = (block.slice(0, at), block.slice(at + 1, block.len()));
                Self::from_few(splice(&before, None, &behind), block.len() - 1)
            }
            Some(SequenceTree::Branch(branch)) => {
                let (left, old, right) = (&branch.left, &branch.item, &branch.right);
                match at.cmp(&left.len()) {
                    Ordering::Less => Self::join(left.with_removed(at), old.clone(), right.clone()),
                    Ordering::Equal => left.followed_by(right),
                    Ordering::Greater => {
                        Self::join(left.clone(), old.clone(), right.with_removed(at - left.len() - 1))
                    }
                }
            }
        }
    }

    /// The items with `item` instead of the one at position `at`; the same if there is none.
    #[must_use]
    pub fn with_replaced(&self, at: usize, item: T) -> Self {
        if at >= self.len() {
            return self.clone();
        }
        match self.0.as_deref() {
            None => Self::new(),
            Some(SequenceTree::Block(block)) => {
                let (before, behind) = (block.slice(0, at), block.slice(at + 1, block.len()));
                Self::from_few(splice(&before, Some(item), &behind), block.len())
            }
            Some(SequenceTree::Branch(branch)) => {
                let (left, old, right) = (&branch.left, &branch.item, &branch.right);
                match at.cmp(&left.len()) {
                    Ordering::Less => {
                        Self::from_branch(left.with_replaced(at, item), old.clone(), right.clone())
                    }
                    Ordering::Equal => Self::from_branch(left.clone(), item, right.clone()),
                    Ordering::Greater => {
                        let right = right.with_replaced(at - left.len() - 1, item);
                        Self::from_branch(left.clone(), old.clone(), right)
                    }
                }
            }
        }
    }

    fn of_slice(items: &[T]) -> Self {
        if items.len() <= BLOCK {
            return Self::from_block(RowBlock::new(items.iter().cloned(), 0));
        }
        // Halves differ by at most one item, so their trees by at most one level: nothing has to be balanced.
        let (left, right) = items.split_at(items.len() / 2);
        Self::from_branch(Self::of_slice(left), right[0].clone(), Self::of_slice(&right[1..]))
    }
}

/// `before`, then perhaps an item, then `behind`.
fn splice<T: Clone>(before: &RowBlock<T>, item: Option<T>, behind: &RowBlock<T>) -> impl Iterator<Item = T> {
    before.items().cloned().chain(item).chain(behind.items().cloned())
}

fn hash_of<T: Hash>(item: &T) -> u64 {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    hasher.finish()
}

impl<T: Clone> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        Self::of_slice(&items)
    }
}

/// The items of a [`Sequence`] in order.
pub struct SequenceIter<'s, T> {
    /// Branches whose item comes after the block, the next one last.
    open: Vec<&'s SequenceBranch<T>>,
    block: Option<BlockItems<'s, T>>,
    left: usize,
}

impl<'s, T> SequenceIter<'s, T> {
    /// Walks down to the first item of `tree`, and keeps the branches to come back to.
    fn descend(&mut self, mut tree: &'s Sequence<T>) {
        while let Some(SequenceTree::Branch(branch)) = tree.0.as_deref() {
            self.open.push(branch);
            tree = &branch.left;
        }
        self.block = match tree.0.as_deref() {
            Some(SequenceTree::Block(block)) => Some(block.items()),
            _ => None,
        };
    }
}

impl<'s, T> Iterator for SequenceIter<'s, T> {
    type Item = &'s T;

    fn next(&mut self) -> Option<&'s T> {
        if let Some(item) = self.block.as_mut().and_then(Iterator::next) {
            self.left -= 1;
            return Some(item);
        }
        let branch = self.open.pop()?;
        self.left -= 1;
        self.descend(&branch.right);
        Some(&branch.item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for SequenceIter<'_, T> {}

impl<'s, T> IntoIterator for &'s Sequence<T> {
    type Item = &'s T;
    type IntoIter = SequenceIter<'s, T>;

    fn into_iter(self) -> SequenceIter<'s, T> {
        self.iter()
    }
}

impl<T> Sequence<T> {
    fn is_same(&self, other: &Self) -> bool {
        matches!((&self.0, &other.0), (Some(a), Some(b)) if Arc::ptr_eq(a, b))
    }
}

impl<T: Ord + Hash> Ord for Sequence<T> {
    /// Orders by length first; then few items by the items, many by hash. If the hashes are equal, the items decide.
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_same(other) {
            return Ordering::Equal;
        }
        let by_hash = || {
            if self.is_short() { Ordering::Equal } else { self.hash_of_items().cmp(&other.hash_of_items()) }
        };
        self.len().cmp(&other.len()).then_with(by_hash).then_with(|| self.iter().cmp(other.iter()))
    }
}

impl<T: Ord + Hash> PartialOrd for Sequence<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Eq + Hash> PartialEq for Sequence<T> {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other)
            || self.len() == other.len()
                && (self.is_short() || self.hash_of_items() == other.hash_of_items())
                && self.iter().eq(other.iter())
    }
}

impl<T: Eq + Hash> Eq for Sequence<T> {}

impl<T: Hash> Hash for Sequence<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        state.write_u64(self.hash_of_items());
    }
}

impl<T: fmt::Debug> fmt::Debug for Sequence<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
    }
}
