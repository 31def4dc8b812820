//! Notes on the parts of a description that a model does not express.

use std::fmt;

/// A note on a part of the description that was not translated, or not exactly.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// The place in the description, as a JSON pointer.
    pub place: String,
    /// The consequence for the model, for people.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.text)
    }
}
