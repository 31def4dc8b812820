//! Traces: observed labels in order.

use std::fmt;

use crate::label::Label;

/// A suspension trace: inputs, outputs, quiescence and, in timed models, delays.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trace {
    /// The labels, first to last.
    pub labels: Vec<Label>,
    /// The breakdown of the system after the last label; `None` if it kept running.
    pub breakdown: Option<Breakdown>,
    /// The position of the label that the specification forbids; `None` if none is forbidden, or it was not judged. It
    /// need not be the last one: a message may be found out only after others have come that do not explain it.
    pub forbidden_at: Option<usize>,
}

/// The way in which a system stops behaving as a model can describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Breakdown {
    /// The process of the system ended.
    Ended,
    /// The system closed the connection.
    Closed,
    /// The system did not accept an input.
    Hung,
    /// The system sent something that is not a message of the model.
    Unreadable,
    /// The code of the system raised an exception, failed an assertion or panicked while it handled an input.
    Exception,
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ended => "the system ended",
            Self::Closed => "the system closed the connection",
            Self::Hung => "the system did not take the input",
            Self::Unreadable => "the system sent an unreadable message",
            Self::Exception => "the system raised an exception",
        })
    }
}

impl Breakdown {
    /// Returns the kind of failure (`crash`, `hang`, `unreadable`, `exception`) that the breakdown is unless the model
    /// allows it.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Ended | Self::Closed => "crash",
            Self::Hung => "hang",
            Self::Unreadable => "unreadable",
            Self::Exception => "exception",
        }
    }
}

impl Trace {
    /// Returns the number of labels; a breakdown is not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Returns the number of labels, plus one if there was a breakdown.
    #[must_use]
    pub fn n_steps(&self) -> usize {
        self.labels.len() + usize::from(self.breakdown.is_some())
    }

    /// Returns the forbidden label of a trace that failed: the last one, unless the trace names another.
    #[must_use]
    pub fn forbidden_label(&self) -> Option<&Label> {
        match self.forbidden_at {
            Some(at) => self.labels.get(at),
            None => self.labels.last(),
        }
    }

    /// Returns whether both traces have the same labels and end in the same way, whatever was judged of them.
    #[must_use]
    pub fn is_same_course(&self, other: &Self) -> bool {
        (&self.labels, self.breakdown) == (&other.labels, other.breakdown)
    }

    /// Returns whether the last label is quiescence or a delay.
    #[must_use]
    pub fn ends_in_silence(&self) -> bool {
        matches!(self.labels.last(), Some(Label::Quiescence | Label::Delay(_)))
    }

    /// Returns whether there is no label, even if there was a breakdown.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}

impl FromIterator<Label> for Trace {
    fn from_iter<I: IntoIterator<Item = Label>>(labels: I) -> Self {
        Self { labels: labels.into_iter().collect(), breakdown: None, forbidden_at: None }
    }
}
