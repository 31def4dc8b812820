//! The shapes of JSON values: the sort of a schema, its condition, and what distinguishes it from others.

use std::collections::BTreeSet;

use super::check::ValueCondition;

/// The kinds of JSON values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum JsonKind {
    Truth,
    Number,
    Text,
    List,
    Object,
}

/// A schema as a sort with a condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct SortOf {
    /// The sort, without the `?` of an option.
    pub(crate) sort: String,
    /// True if `null` is a value too.
    pub(crate) is_nullable: bool,
    /// The condition on the values.
    pub(crate) check: ValueCondition,
    /// The kinds its values may have.
    pub(crate) kinds: BTreeSet<JsonKind>,
    /// For an object, the members that are always there and have only some values, with these values as JSON.
    pub(crate) marks: Vec<(String, Vec<String>)>,
    /// The only possible values, as JSON; empty if they are not listed.
    pub(crate) values: Vec<String>,
}

impl SortOf {
    /// Makes the sort of values of these kinds, without a condition.
    pub(crate) fn new(sort: impl Into<String>, kinds: &[JsonKind]) -> Self {
        Self { sort: sort.into(), kinds: kinds.iter().copied().collect(), ..Self::default() }
    }

    pub(crate) fn with_condition(self, check: ValueCondition) -> Self {
        Self { check: self.check.and(check), ..self }
    }

    /// Returns the sort and its condition, as an option if `null` is a value or the value may be missing.
    pub(crate) fn optional_sort(&self, may_miss: bool) -> (String, ValueCondition) {
        if self.is_nullable || may_miss {
            (format!("{}?", self.sort), self.check.clone().inside_option())
        } else {
            (self.sort.clone(), self.check.clone())
        }
    }

    /// Returns whether certainly no JSON value has the shapes of both.
    pub(crate) fn is_disjoint_from(&self, other: &Self) -> bool {
        if self.kinds.is_disjoint(&other.kinds) {
            return true;
        }
        let are_apart = |one: &[String], other: &[String]| {
            !one.is_empty() && !other.is_empty() && one.iter().all(|value| !other.contains(value))
        };
        if are_apart(&self.values, &other.values) {
            return true;
        }
        let common = self.kinds.intersection(&other.kinds).collect::<Vec<_>>();
        common == [&JsonKind::Object]
            && self.marks.iter().any(|(name, values)| {
                other.marks.iter().any(|(same, others)| same == name && are_apart(values, others))
            })
    }
}
