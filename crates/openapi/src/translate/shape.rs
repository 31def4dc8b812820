//! What values of a schema look like: which kinds of JSON, and by what two of them are told apart.

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
    /// The sort, without its being an option.
    pub(crate) sort: String,
    /// Whether `null` is a value too.
    pub(crate) is_nullable: bool,
    /// What else holds.
    pub(crate) check: ValueCondition,
    /// The kinds its values may have.
    pub(crate) kinds: BTreeSet<JsonKind>,
    /// Of an object: members that are always there, and the values they may have, as JSON.
    pub(crate) marks: Vec<(String, Vec<String>)>,
    /// The values it may have, as JSON, where it has only these.
    pub(crate) values: Vec<String>,
}

impl SortOf {
    pub(crate) fn new(sort: impl Into<String>, kinds: &[JsonKind]) -> Self {
        Self { sort: sort.into(), kinds: kinds.iter().copied().collect(), ..Self::default() }
    }

    pub(crate) fn checked(self, check: ValueCondition) -> Self {
        Self { check: self.check.and(check), ..self }
    }

    /// The sort with `null` as a value if it is one, or in any case.
    pub(crate) fn written(&self, may_miss: bool) -> (String, ValueCondition) {
        if self.is_nullable || may_miss {
            (format!("{}?", self.sort), self.check.clone().inside())
        } else {
            (self.sort.clone(), self.check.clone())
        }
    }

    /// Whether no JSON has the shape of both.
    pub(crate) fn is_apart_from(&self, other: &Self) -> bool {
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
