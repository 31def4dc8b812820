//! Dense typed ids: `index!` makes an id type, [`IndexVec`] is a vector keyed by it.
//!
//! Everything shared or cyclic in ioxide lives in an arena and is named by a
//! small copyable id. Each kind of id is its own type, so a state number cannot
//! be used where an input number is meant.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense id: a position in an [`IndexVec`].
pub trait Idx: Copy + Eq + Ord + std::hash::Hash + fmt::Debug + 'static {
    /// The id at position `index`.
    ///
    /// # Panics
    /// If `index` does not fit in 32 bits.
    fn new(index: usize) -> Self;
    /// The position this id names.
    fn index(self) -> usize;
}

/// Declares a dense id type: `index! { /// A state. pub struct StateId; }`.
#[macro_export]
macro_rules! index {
    ($(#[$meta:meta])* $vis:vis struct $name:ident;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        impl $crate::index::Idx for $name {
            #[inline]
            fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 items in an arena"))
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

/// A vector whose positions are ids of type `I`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct IndexVec<I: Idx, T> {
    raw: Vec<T>,
    ids: PhantomData<fn(I) -> I>,
}

impl<I: Idx, T> IndexVec<I, T> {
    /// An empty vector.
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: Vec::new(), ids: PhantomData }
    }

    /// `n` copies of `item`.
    #[must_use]
    pub fn from_elem(item: T, n: usize) -> Self
    where
        T: Clone,
    {
        Self { raw: vec![item; n], ids: PhantomData }
    }

    /// Appends `item` and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = self.next_id();
        self.raw.push(item);
        id
    }

    /// The id the next [`push`](Self::push) will return.
    #[must_use]
    pub fn next_id(&self) -> I {
        I::new(self.raw.len())
    }

    /// Returns the number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Returns whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The item named `id`, if it exists.
    #[must_use]
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = I> + DoubleEndedIterator + use<I, T> {
        (0..self.raw.len()).map(I::new)
    }

    /// All items, in id order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }

    /// All items, in id order, for change.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }

    /// All items with their ids.
    pub fn iter_enumerated(&self) -> impl ExactSizeIterator<Item = (I, &T)> + DoubleEndedIterator {
        self.raw.iter().enumerate().map(|(i, item)| (I::new(i), item))
    }

    /// The items as a plain slice.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }
}

impl<I: Idx, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Idx, T: fmt::Debug> fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(f)
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;

    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}

impl<I: Idx, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(items: It) -> Self {
        Self { raw: items.into_iter().collect(), ids: PhantomData }
    }
}

impl<'a, I: Idx, T> IntoIterator for &'a IndexVec<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.raw.iter()
    }
}
