//! Traces: observed labels in order.

use crate::label::Label;

/// A suspension trace: inputs, outputs, quiescence and, in timed models, delays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The labels, first to last.
    pub labels: Vec<Label>,
}

impl Trace {
    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether nothing was observed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

impl FromIterator<Label> for Trace {
    fn from_iter<I: IntoIterator<Item = Label>>(labels: I) -> Self {
        Self { labels: labels.into_iter().collect() }
    }
}
