//! Sorts: what kind of value a term has.
//!
//! Enums, records and options are one idea, [`Data`]: a choice of constructors with
//! named fields. An enum is constructors without fields, a record is one constructor,
//! an option is `none | some(value)`; algebraic types will be the general case.

use std::sync::Arc;

crate::index! { /// A declared data type of a [`TermPool`](crate::term::TermPool).
pub struct DataId; }

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
}

impl Sort {
    /// The sort without its range: what arithmetic and equality see.
    #[must_use]
    pub fn base(self) -> Self {
        match self {
            Self::Range { .. } => Self::Int,
            other => other,
        }
    }

    /// Whether values can be added and ordered.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        matches!(self.base(), Self::Int | Self::Real)
    }
}

/// How a data type was written; all kinds have the same meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DataKind {
    /// `enum Colour { Red, Green }`
    Enum,
    /// `record Point { x: int, y: int }`
    Record,
    /// `int?`
    Option,
}

/// A data type: a choice of constructors. *Invariant:* there is at least one, and no
/// constructor holds its own type, directly or through another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The name people know it by.
    pub name: Arc<str>,
    /// How it was written.
    pub kind: DataKind,
    /// The constructors; a value is one of them with its fields.
    pub ctors: Vec<Ctor>,
}

/// One way to make a value of a [`Data`] type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ctor {
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

impl Data {
    /// Whether no constructor has a field, so that a value is just a name.
    #[must_use]
    pub fn is_enumeration(&self) -> bool {
        self.ctors.iter().all(|ctor| ctor.fields.is_empty())
    }
}
