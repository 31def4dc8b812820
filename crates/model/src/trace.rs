//! Traces: observed labels in order.

use std::fmt;

use crate::label::Label;

/// A suspension trace: inputs, outputs, quiescence and, in timed models, delays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The labels, first to last.
    pub labels: Vec<Label>,
    /// How the system broke down after them, if it did.
    pub breakdown: Option<Breakdown>,
}

/// How a system stops being one that a model can speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Breakdown {
    /// It ended.
    Ended,
    /// It closed the connection.
    Closed,
    /// It did not take an input.
    Hung,
    /// It said something that is no message of the model.
    Unreadable,
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "the system ended",
            Self::Closed => "the system closed the connection",
            Self::Hung => "the system did not take the input",
            Self::Unreadable => "the system said something unreadable",
        })
    }
}

impl Breakdown {
    /// The kind of failure this is, unless the model allows it.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Ended | Self::Closed => "crash",
            Self::Hung => "hang",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Trace {
    /// How many labels there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// How many things happened: the labels, and the breakdown if there was one.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.labels.len() + usize::from(self.breakdown.is_some())
    }

    /// Whether the last thing seen is that nothing came: quiescence, or time that passed.
    #[must_use]
    pub fn ends_in_silence(&self) -> bool {
        matches!(self.labels.last(), Some(Label::Quiescence | Label::Delay(_)))
    }

    /// Whether nothing was observed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

impl FromIterator<Label> for Trace {
    fn from_iter<I: IntoIterator<Item = Label>>(labels: I) -> Self {
        Self { labels: labels.into_iter().collect(), breakdown: None }
    }
}
