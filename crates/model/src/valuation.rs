//! Valuations: the values that a solver, a tester or a state assigns to variables.
//!
//! The word *model* is never used for this: a model is what the user wrote.

use crate::term::VarId;
use crate::value::Value;

/// A source of values for some variables.
pub trait Assignment {
    /// The value of `var`, if it has one.
    fn value_of(&self, var: VarId) -> Option<&Value>;
}

/// A finite map from variables to values, ordered by variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Valuation {
    /// Sorted by variable, each at most once.
    entries: Vec<(VarId, Value)>,
}

impl Valuation {
    /// Makes a valuation without values.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// The value of `var`, if it has one.
    #[must_use]
    pub fn get(&self, var: VarId) -> Option<&Value> {
        self.entries.binary_search_by_key(&var, |entry| entry.0).ok().map(|i| &self.entries[i].1)
    }

    /// Assigns `value` to `var`, replacing any earlier value.
    pub fn set(&mut self, var: VarId, value: Value) {
        match self.entries.binary_search_by_key(&var, |entry| entry.0) {
            Ok(i) => self.entries[i].1 = value,
            Err(i) => self.entries.insert(i, (var, value)),
        }
    }

    /// Removes `var` and returns its value, if it had one.
    pub fn remove(&mut self, var: VarId) -> Option<Value> {
        let i = self.entries.binary_search_by_key(&var, |entry| entry.0).ok()?;
        Some(self.entries.remove(i).1)
    }

    /// The assignments, by variable.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (VarId, &Value)> {
        self.entries.iter().map(|(var, value)| (*var, value))
    }

    /// Returns the number of variables that have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether no variable has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl FromIterator<(VarId, Value)> for Valuation {
    fn from_iter<I: IntoIterator<Item = (VarId, Value)>>(entries: I) -> Self {
        let mut valuation = Self::new();
        for (var, value) in entries {
            valuation.set(var, value);
        }
        valuation
    }
}

impl Assignment for Valuation {
    fn value_of(&self, var: VarId) -> Option<&Value> {
        self.get(var)
    }
}

impl<A: Assignment + ?Sized> Assignment for &A {
    fn value_of(&self, var: VarId) -> Option<&Value> {
        (**self).value_of(var)
    }
}

/// Looks in the first, then in the second: message fields over state variables.
impl<A: Assignment, B: Assignment> Assignment for (A, B) {
    fn value_of(&self, var: VarId) -> Option<&Value> {
        self.0.value_of(var).or_else(|| self.1.value_of(var))
    }
}
