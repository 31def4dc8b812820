//! Values: what terms evaluate to and messages carry.

use std::sync::Arc;

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
}

/// A value of a declared data type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataValue {
    /// The type.
    pub data: DataId,
    /// Which constructor, by position.
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

    /// The number, if it is an integer or a rational.
    #[must_use]
    pub fn to_rational(&self) -> Option<Rational> {
        match self {
            Self::Int(n) => Some(Rational::from(n.clone())),
            Self::Real(r) => Some(r.clone()),
            Self::Bool(_) | Self::Str(_) | Self::Data(_) => None,
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
        }
    }
}
