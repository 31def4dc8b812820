//! The errors in a value or a message, with their place.

use std::fmt;

use crate::limits::Excess;

/// A JSON text that is not the value or label it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    /// The names that lead to the place, outermost first.
    path: Vec<String>,
    /// The problem at that place.
    pub problem: JsonProblem,
}

/// The problem with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonProblem {
    /// The text has the shape of another sort.
    Shape {
        /// The sort wanted.
        expected: String,
        /// The text found.
        found: String,
    },
    /// No constructor has this name.
    NoSuchName {
        /// The name found.
        found: String,
        /// The names there are.
        names: Vec<String>,
    },
    /// A field is not there.
    MissingField(String),
    /// There is no such field.
    UnknownField(String),
    /// An item of a set, or a key of a map, is there twice.
    Twice(String),
    /// The text is larger than a limit.
    Excess(Excess),
    /// The model has no such message in this direction.
    UnknownLabel {
        /// `input` or `output`.
        direction: &'static str,
        /// The name found.
        found: String,
        /// The names there are.
        names: Vec<String>,
    },
    /// The text is not an object with `label` and `args`.
    NotAMessage(String),
}

impl CodecError {
    /// Returns an error at the outermost place.
    #[must_use]
    pub fn new(problem: JsonProblem) -> Self {
        Self { path: Vec::new(), problem }
    }

    /// Returns the same error with `name` put in front of its place.
    #[must_use]
    pub fn with_place(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }

    /// Returns the error as [`with_place`](Self::with_place) does if `part` is `Some`, otherwise unchanged.
    pub(crate) fn inside_if<T>(self, part: Option<T>, name: &str) -> Self {
        if part.is_some() { self.with_place(name) } else { self }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path.join("."))?;
        }
        match &self.problem {
            JsonProblem::Shape { expected, found } => write!(f, "expected {expected}, found {found}"),
            JsonProblem::NoSuchName { found, names } => {
                write!(f, "no value is called `{found}`; there are {}", list_names(names))
            }
            JsonProblem::MissingField(name) => write!(f, "field `{name}` is missing"),
            JsonProblem::Twice(item) => write!(f, "{item} is there twice"),
            JsonProblem::Excess(excess) => write!(f, "{excess}"),
            JsonProblem::UnknownField(name) => write!(f, "there is no field `{name}`"),
            JsonProblem::UnknownLabel { direction, found, names } => {
                write!(f, "the model has no {direction} `{found}`; it has {}", list_names(names))
            }
            JsonProblem::NotAMessage(found) => {
                write!(f, "expected an object with `label` and `args`, found {found}")
            }
        }
    }
}

impl std::error::Error for CodecError {}

/// Names for people, as in ``` `a`, `b` ```.
pub(crate) fn list_names(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
