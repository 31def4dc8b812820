//! What a description says and a model does not.

use std::fmt;

/// Something that was not translated, or not exactly.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Note {
    /// Where it stands in the description, as a JSON pointer.
    pub place: String,
    /// What became of it.
    pub text: String,
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.text)
    }
}
