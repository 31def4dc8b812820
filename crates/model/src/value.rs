//! Values: the results of terms and the contents of message fields.

use std::sync::Arc;

use crate::collection::CollectionValue;
use crate::number::{Int, Rational};
use crate::sort::{DataId, Sort};

/// A concrete value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// An integer, also of a range sort.
    Int(Int),
    /// An exact rational.
    Real(Rational),
    /// A string.
    Str(Arc<str>),
    /// A constructor applied to values.
    Data(DataValue),
    /// A list, set or map.
    Collection(CollectionValue),
}

/// A value of a declared data type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataValue {
    /// The type.
    pub data: DataId,
    /// The position of the constructor in its type.
    pub ctor: u32,
    /// One value per field of the constructor.
    pub args: Arc<[Value]>,
}

impl Value {
    /// An integer value.
    #[must_use]
    pub fn int(n: i64) -> Self {
        Self::Int(Int::from(n))
    }

    /// A string value.
    #[must_use]
    pub fn str(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// The truth value, if it is one.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(b) = self { Some(*b) } else { None }
    }

    /// The integer, if it is one.
    #[must_use]
    pub fn as_int(&self) -> Option<&Int> {
        if let Self::Int(n) = self { Some(n) } else { None }
    }

    /// The rational, if it is one.
    #[must_use]
    pub fn as_real(&self) -> Option<&Rational> {
        if let Self::Real(r) = self { Some(r) } else { None }
    }

    /// The string, if it is one.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(s) = self { Some(s) } else { None }
    }

    /// The data value, if it is one.
    #[must_use]
    pub fn as_data(&self) -> Option<&DataValue> {
        if let Self::Data(d) = self { Some(d) } else { None }
    }

    /// The list, set or map, if it is one.
    #[must_use]
    pub fn as_collection(&self) -> Option<&CollectionValue> {
        if let Self::Collection(c) = self { Some(c) } else { None }
    }

    /// The number, if it is an integer or a rational.
    #[must_use]
    pub fn to_rational(&self) -> Option<Rational> {
        match self {
            Self::Int(n) => Some(Rational::from(n.clone())),
            Self::Real(r) => Some(r.clone()),
            Self::Bool(_) | Self::Str(_) | Self::Data(_) | Self::Collection(_) => None,
        }
    }

    /// The sort every value of this shape has, without a range.
    #[must_use]
    pub fn base_sort(&self) -> Sort {
        match self {
            Self::Bool(_) => Sort::Bool,
            Self::Int(_) => Sort::Int,
            Self::Real(_) => Sort::Real,
            Self::Str(_) => Sort::Str,
            Self::Data(value) => Sort::Data(value.data),
            Self::Collection(value) => Sort::Collection(value.sort),
        }
    }
}
