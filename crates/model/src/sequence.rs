//! Persistent sequences: the concrete form of lists, sets and maps.
//!
//! A balanced tree (AVL) whose one operation is *join*: a tree from two trees and the item
//! between them; the rest is made of it (Blelloch, Ferizovic, Sun: "Just Join"). Trees share
//! what they have in common, so a step on a sequence of any length costs a logarithm.
//!
//! Every tree knows the hash of its items in order, whatever its form: with `B` odd it is the
//! sum of `hash(item) * B^(items behind it)`, which two halves give in constant time. Different
//! sequences are told apart without a look at their items, except after a collision.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHasher;

/// An odd number, so that no item is lost in the sum.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence that shares its parts with the sequences it was made from.
pub struct Sequence<T>(Option<Arc<Branch<T>>>);

struct Branch<T> {
    left: Sequence<T>,
    item: T,
    right: Sequence<T>,
    len: usize,
    height: u8,
    hash: u64,
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

    /// How many items there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |branch| branch.len)
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn height(&self) -> u8 {
        self.0.as_ref().map_or(0, |branch| branch.height)
    }

    fn hash_of_items(&self) -> u64 {
        self.0.as_ref().map_or(0, |branch| branch.hash)
    }

    /// The item at position `at`.
    #[must_use]
    pub fn get(&self, mut at: usize) -> Option<&T> {
        let mut tree = self;
        while let Some(branch) = &tree.0 {
            let before = branch.left.len();
            match at.cmp(&before) {
                Ordering::Less => tree = &branch.left,
                Ordering::Equal => return Some(&branch.item),
                Ordering::Greater => {
                    at -= before + 1;
                    tree = &branch.right;
                }
            }
        }
        None
    }

    /// Where an item is that `order` calls equal, in a sequence sorted by it; else where it would be.
    ///
    /// # Errors
    /// If there is no such item: the position it would have.
    pub fn search(&self, order: impl Fn(&T) -> Ordering) -> Result<usize, usize> {
        let (mut tree, mut before) = (self, 0);
        while let Some(branch) = &tree.0 {
            match order(&branch.item) {
                Ordering::Greater => tree = &branch.left,
                Ordering::Equal => return Ok(before + branch.left.len()),
                Ordering::Less => {
                    before += branch.left.len() + 1;
                    tree = &branch.right;
                }
            }
        }
        Err(before)
    }

    /// The items in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        let mut iter = Iter { open: Vec::new(), left: self.len() };
        iter.descend(self);
        iter
    }
}

impl<T: Clone + Hash> Sequence<T> {
    fn branch(left: Self, item: T, right: Self) -> Self {
        let power = BASE.wrapping_pow(u32::try_from(right.len()).unwrap_or(u32::MAX));
        let before = left.hash_of_items().wrapping_mul(BASE).wrapping_add(hash_of(&item));
        let branch = Branch {
            len: left.len() + 1 + right.len(),
            height: left.height().max(right.height()) + 1,
            hash: before.wrapping_mul(power).wrapping_add(right.hash_of_items()),
            left,
            item,
            right,
        };
        Self(Some(Arc::new(branch)))
    }

    /// The root and what lies on both sides of it.
    fn expose(&self) -> Option<(Self, T, Self)> {
        let branch = self.0.as_ref()?;
        Some((branch.left.clone(), branch.item.clone(), branch.right.clone()))
    }

    /// `left`, then `item`, then `right`.
    #[must_use]
    pub fn join(left: Self, item: T, right: Self) -> Self {
        if left.height() > right.height() + 1 {
            Self::join_to_the_right(&left, item, right)
        } else if right.height() > left.height() + 1 {
            Self::join_to_the_left(left, item, &right)
        } else {
            Self::branch(left, item, right)
        }
    }

    /// `left` is higher by two or more: its right spine is followed down to a tree of fitting height.
    fn join_to_the_right(left: &Self, item: T, right: Self) -> Self {
        let Some((outer, root, inner)) = left.expose() else { return Self::branch(Self::new(), item, right) };
        if inner.height() <= right.height() + 1 {
            let joined = Self::branch(inner, item, right);
            if joined.height() <= outer.height() + 1 {
                return Self::branch(outer, root, joined);
            }
            return Self::branch(outer, root, joined.rotated_right()).rotated_left();
        }
        let joined = Self::join_to_the_right(&inner, item, right);
        let high = joined.height() > outer.height() + 1;
        let tree = Self::branch(outer, root, joined);
        if high { tree.rotated_left() } else { tree }
    }

    /// The mirror image of [`join_to_the_right`](Self::join_to_the_right).
    fn join_to_the_left(left: Self, item: T, right: &Self) -> Self {
        let Some((inner, root, outer)) = right.expose() else { return Self::branch(left, item, Self::new()) };
        if inner.height() <= left.height() + 1 {
            let joined = Self::branch(left, item, inner);
            if joined.height() <= outer.height() + 1 {
                return Self::branch(joined, root, outer);
            }
            return Self::branch(joined.rotated_left(), root, outer).rotated_right();
        }
        let joined = Self::join_to_the_left(left, item, &inner);
        let high = joined.height() > outer.height() + 1;
        let tree = Self::branch(joined, root, outer);
        if high { tree.rotated_right() } else { tree }
    }

    fn rotated_left(&self) -> Self {
        let Some((left, item, right)) = self.expose() else { return self.clone() };
        let Some((middle, root, outer)) = right.expose() else { return self.clone() };
        Self::branch(Self::branch(left, item, middle), root, outer)
    }

    fn rotated_right(&self) -> Self {
        let Some((left, item, right)) = self.expose() else { return self.clone() };
        let Some((outer, root, middle)) = left.expose() else { return self.clone() };
        Self::branch(outer, root, Self::branch(middle, item, right))
    }

    /// The first `at` items, and the rest.
    #[must_use]
    pub fn split(&self, at: usize) -> (Self, Self) {
        if at == 0 {
            return (Self::new(), self.clone());
        }
        if at >= self.len() {
            return (self.clone(), Self::new());
        }
        let Some((left, item, right)) = self.expose() else { return (Self::new(), Self::new()) };
        let before = left.len();
        if at <= before {
            let (first, rest) = left.split(at);
            (first, Self::join(rest, item, right))
        } else {
            let (first, rest) = right.split(at - before - 1);
            (Self::join(left, item, first), rest)
        }
    }

    /// The last item and those before it.
    fn without_last(&self) -> Option<(Self, T)> {
        let (left, item, right) = self.expose()?;
        match right.without_last() {
            Some((rest, last)) => Some((Self::join(left, item, rest), last)),
            None => Some((left, item)),
        }
    }

    /// These items, then those of `other`.
    #[must_use]
    pub fn followed_by(&self, other: &Self) -> Self {
        if let Some(only) = other.0.as_ref().filter(|branch| branch.len == 1) {
            return Self::join(self.clone(), only.item.clone(), Self::new());
        }
        match self.without_last() {
            Some((rest, last)) => Self::join(rest, last, other.clone()),
            None => other.clone(),
        }
    }

    /// The items with `item` at position `at` before what was there.
    #[must_use]
    pub fn with_inserted(&self, at: usize, item: T) -> Self {
        let Some((left, old, right)) = self.expose() else {
            return Self::branch(Self::new(), item, Self::new());
        };
        let before = left.len();
        if at <= before {
            Self::join(left.with_inserted(at, item), old, right)
        } else {
            Self::join(left, old, right.with_inserted(at - before - 1, item))
        }
    }

    /// The items without the one at position `at`; the same if there is none.
    #[must_use]
    pub fn with_removed(&self, at: usize) -> Self {
        let Some((left, old, right)) = self.expose() else { return Self::new() };
        let before = left.len();
        match at.cmp(&before) {
            Ordering::Less => Self::join(left.with_removed(at), old, right),
            Ordering::Equal => left.followed_by(&right),
            Ordering::Greater => Self::join(left, old, right.with_removed(at - before - 1)),
        }
    }

    /// The items with `item` instead of the one at position `at`; the same if there is none.
    #[must_use]
    pub fn with_replaced(&self, at: usize, item: T) -> Self {
        let Some((left, old, right)) = self.expose() else { return Self::new() };
        let before = left.len();
        match at.cmp(&before) {
            Ordering::Less => Self::branch(left.with_replaced(at, item), old, right),
            Ordering::Equal => Self::branch(left, item, right),
            Ordering::Greater => Self::branch(left, old, right.with_replaced(at - before - 1, item)),
        }
    }

    fn balanced(items: &[T]) -> Self {
        let Some(middle) = items.get(items.len() / 2) else { return Self::new() };
        let (left, right) = (&items[..items.len() / 2], &items[items.len() / 2 + 1..]);
        Self::branch(Self::balanced(left), middle.clone(), Self::balanced(right))
    }
}

fn hash_of<T: Hash>(item: &T) -> u64 {
    let mut hasher = FxHasher::default();
    item.hash(&mut hasher);
    hasher.finish()
}

impl<T: Clone + Hash> FromIterator<T> for Sequence<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let items: Vec<T> = items.into_iter().collect();
        Self::balanced(&items)
    }
}

/// The items of a [`Sequence`] in order.
pub struct Iter<'s, T> {
    /// Branches whose item comes next, the next one last.
    open: Vec<&'s Branch<T>>,
    left: usize,
}

impl<'s, T> Iter<'s, T> {
    fn descend(&mut self, mut tree: &'s Sequence<T>) {
        while let Some(branch) = &tree.0 {
            self.open.push(branch);
            tree = &branch.left;
        }
    }
}

impl<'s, T> Iterator for Iter<'s, T> {
    type Item = &'s T;

    fn next(&mut self) -> Option<&'s T> {
        let branch = self.open.pop()?;
        self.left -= 1;
        self.descend(&branch.right);
        Some(&branch.item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

impl<'s, T> IntoIterator for &'s Sequence<T> {
    type Item = &'s T;
    type IntoIter = Iter<'s, T>;

    fn into_iter(self) -> Iter<'s, T> {
        self.iter()
    }
}

impl<T: Ord> Ord for Sequence<T> {
    /// Shorter ones first, then by hash; the items decide only between sequences of one hash.
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            _ => (self.len(), self.hash_of_items())
                .cmp(&(other.len(), other.hash_of_items()))
                .then_with(|| self.iter().cmp(other.iter())),
        }
    }
}

impl<T: Ord> PartialOrd for Sequence<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Eq> PartialEq for Sequence<T> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => true,
            (a, b) => {
                a.is_none() == b.is_none()
                    && self.len() == other.len()
                    && self.hash_of_items() == other.hash_of_items()
                    && self.iter().eq(other.iter())
            }
        }
    }
}

impl<T: Eq> Eq for Sequence<T> {}

impl<T> Hash for Sequence<T> {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Heights differ by one at most, everywhere, and lengths are right.
    fn is_balanced(tree: &Sequence<u8>) -> bool {
        let Some(branch) = &tree.0 else { return true };
        branch.left.height().abs_diff(branch.right.height()) <= 1
            && branch.len == branch.left.len() + branch.right.len() + 1
            && is_balanced(&branch.left)
            && is_balanced(&branch.right)
    }

    #[derive(Clone, Debug)]
    enum Change {
        Insert(usize, u8),
        Remove(usize),
        Replace(usize, u8),
        Rotate(usize),
    }

    fn change() -> impl Strategy<Value = Change> {
        let at = 0..40usize;
        prop_oneof![
            (at.clone(), any::<u8>()).prop_map(|(at, item)| Change::Insert(at, item)),
            at.clone().prop_map(Change::Remove),
            (at.clone(), any::<u8>()).prop_map(|(at, item)| Change::Replace(at, item)),
            at.prop_map(Change::Rotate),
        ]
    }

    fn changed(tree: &Sequence<u8>, plain: &mut Vec<u8>, change: &Change) -> Sequence<u8> {
        match *change {
            Change::Insert(at, item) => {
                let at = at.min(plain.len());
                plain.insert(at, item);
                tree.with_inserted(at, item)
            }
            Change::Remove(at) => {
                if at < plain.len() {
                    plain.remove(at);
                }
                tree.with_removed(at)
            }
            Change::Replace(at, item) => {
                if let Some(old) = plain.get_mut(at) {
                    *old = item;
                }
                tree.with_replaced(at, item)
            }
            Change::Rotate(at) => {
                let at = at.min(plain.len());
                plain.rotate_left(at);
                let (first, rest) = tree.split(at);
                rest.followed_by(&first)
            }
        }
    }

    proptest! {
        #[test]
        fn a_sequence_is_what_a_vector_is(changes in prop::collection::vec(change(), 0..80)) {
            let (mut tree, mut plain) = (Sequence::new(), Vec::new());
            for change in &changes {
                tree = changed(&tree, &mut plain, change);
                prop_assert!(is_balanced(&tree));
            }
            prop_assert_eq!(tree.iter().copied().collect::<Vec<_>>(), plain.clone());
            prop_assert_eq!(tree.get(3), plain.get(3));
            // Another way to the same items: another form, the same sequence and hash.
            let again: Sequence<u8> = plain.iter().copied().collect();
            prop_assert_eq!(&tree, &again);
            prop_assert_eq!(tree.cmp(&again), Ordering::Equal);
            prop_assert_eq!(hash_of(&tree), hash_of(&again));
        }

        #[test]
        fn other_items_are_another_sequence(mut a in prop::collection::vec(0u8..4, 1..20), at in 0..20usize) {
            let before: Sequence<u8> = a.iter().copied().collect();
            let at = at % a.len();
            a[at] = a[at].wrapping_add(1);
            let after: Sequence<u8> = a.into_iter().collect();
            prop_assert_ne!(before, after);
        }
    }

    #[test]
    fn a_sorted_sequence_is_searched() {
        let even: Sequence<u8> = (0..50).map(|n| n * 2).collect();
        assert_eq!(even.search(|item| item.cmp(&48)), Ok(24));
        assert_eq!(even.search(|item| item.cmp(&49)), Err(25));
        assert_eq!(even.search(|item| item.cmp(&200)), Err(50));
    }
}
