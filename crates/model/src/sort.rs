//! Sorts: the kinds of values that terms have.
//!
//! Enums, records and options are one idea, [`DataSort`]: a choice of constructors with
//! named fields. A record is one constructor, an option is `none | some(value)`, the cases of
//! an enum may have fields and may hold the enum itself. Lists, sets and maps are another,
//! [`CollectionSort`]: items, by position, by themselves or by a key.

use std::sync::Arc;

crate::index! { /// A declared data type of a [`TermPool`](crate::term::TermPool).
pub struct DataId; }
crate::index! { /// A sort of collections of a [`TermPool`](crate::term::TermPool).
pub struct CollectionId; }

/// The kind of value a term has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// True or false.
    Bool,
    /// An integer of any size.
    Int,
    /// An integer in `lo..=hi`; for arithmetic it is an [`Int`](Self::Int).
    Range {
        /// Least value.
        lo: i64,
        /// Greatest value.
        hi: i64,
    },
    /// An exact rational number.
    Real,
    /// A Unicode string.
    Str,
    /// An enum, record or option.
    Data(DataId),
    /// A list, set or map.
    Collection(CollectionId),
}

impl Sort {
    /// Returns the sort without its range, as arithmetic and equality see it.
    #[must_use]
    pub fn base(self) -> Self {
        match self {
            Self::Range { .. } => Self::Int,
            other => other,
        }
    }

    /// Returns whether values of the sort can be added and ordered.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        matches!(self.base(), Self::Int | Self::Real)
    }
}

/// The notation of a data type; all kinds have the same meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataKind {
    /// `enum Colour { Red, Green }`
    Enum,
    /// `record Point { x: int, y: int }`
    Record,
    /// `int?`
    Option,
}

/// The kind of a collection, with the sorts of its keys and items.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CollectionSort {
    /// List, set or map.
    pub kind: CollectionKind,
    /// The sort that finds an item: integers for positions, the items themselves, or the keys.
    pub key: Sort,
    /// The sort of the items; of a map, of the values.
    pub item: Sort,
}

/// The kinds of collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CollectionKind {
    /// `list<int>`: items in order, found by position.
    List,
    /// `set<int>`: items without order, each once.
    Set,
    /// `map<string, int>`: values by key, each key once.
    Map,
}

impl CollectionKind {
    /// Returns the number of terms per entry of [`TermNode::Elements`](crate::term::TermNode::Elements).
    #[must_use]
    pub fn entry_size(self) -> usize {
        match self {
            Self::List | Self::Set => 2,
            Self::Map => 3,
        }
    }
}

impl CollectionSort {
    /// Returns the sort of the members that `has` tests and quantifiers range over: the keys of a map, else the items.
    #[must_use]
    pub fn member(self) -> Sort {
        match self.kind {
            CollectionKind::Map => self.key,
            CollectionKind::List | CollectionKind::Set => self.item,
        }
    }
}

/// A data type: a choice of constructors. *Invariant:* there is at least one, and some value of
/// the type is finite; a constructor may hold its own type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSort {
    /// The name of the type in the model.
    pub name: Arc<str>,
    /// The notation it was declared in.
    pub kind: DataKind,
    /// The constructors; a value is one of them with its fields.
    pub ctors: Vec<Constructor>,
}

/// One way to make a value of a [`DataSort`] type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constructor {
    /// Its name.
    pub name: Arc<str>,
    /// Its fields, in order.
    pub fields: Vec<DataField>,
}

/// A named part of a constructor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataField {
    /// Its name.
    pub name: Arc<str>,
    /// Its sort.
    pub sort: Sort,
}

impl DataSort {
    /// Returns whether no constructor has a field, so that every value is just a name.
    #[must_use]
    pub fn is_enumeration(&self) -> bool {
        self.ctors.iter().all(|ctor| ctor.fields.is_empty())
    }
}
