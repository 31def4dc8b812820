//! What can be wrong with a value or a message, and where.

use std::fmt;

use super::collection::MAX_ITEMS;

/// A JSON text that is not the value or label it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodecError {
    /// The names that lead to the place, outermost first.
    path: Vec<String>,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It has the shape of another sort.
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
    /// A collection has more items than are read.
    TooLong {
        /// How many there are.
        found: usize,
        /// How many are read.
        limit: usize,
    },
    /// The model has no such message in this direction.
    UnknownLabel {
        /// `input` or `output`.
        direction: &'static str,
        /// The name found.
        found: String,
        /// The names there are.
        names: Vec<String>,
    },
    /// It is not an object with `label` and `args`.
    NotAMessage(String),
}

/// A description of messages that does not fit the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadSpeech {
    /// The keys of the place in the description: `inputs` or `outputs`, and the name of a message.
    pub key: Vec<String>,
    /// What is wrong, for people; it names the message.
    pub problem: String,
}

impl BadSpeech {
    /// Something is wrong with the table `table`.
    pub(super) fn table(table: &str, problem: impl Into<String>) -> Self {
        Self { key: vec![table.to_owned()], problem: problem.into() }
    }

    /// Something is wrong with the message `name` of the table `table`.
    pub(super) fn message(table: &str, name: &str, problem: impl Into<String>) -> Self {
        Self { key: vec![table.to_owned(), name.to_owned()], problem: problem.into() }
    }
}

impl fmt::Display for BadSpeech {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for BadSpeech {}

impl CodecError {
    pub(crate) fn new(problem: Problem) -> Self {
        Self { path: Vec::new(), problem }
    }

    /// The same error, seen from outside the part called `name`.
    pub(crate) fn inside(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }

    /// As [`inside`](Self::inside), if there is a part to be inside of.
    pub(crate) fn inside_if<T>(self, part: Option<T>, name: &str) -> Self {
        if part.is_some() { self.inside(name) } else { self }
    }
}

impl fmt::Display for CodecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", self.path.join("."))?;
        }
        match &self.problem {
            Problem::Shape { expected, found } => write!(f, "expected {expected}, found {found}"),
            Problem::NoSuchName { found, names } => {
                write!(f, "no value is called `{found}`; there are {}", listed(names))
            }
            Problem::MissingField(name) => write!(f, "field `{name}` is missing"),
            Problem::Twice(item) => write!(f, "{item} is there twice"),
            Problem::TooLong { found, limit } => {
                write!(f, "{found} items, more than the {limit} that are read; set {MAX_ITEMS} to read more")
            }
            Problem::UnknownField(name) => write!(f, "there is no field `{name}`"),
            Problem::UnknownLabel { direction, found, names } => {
                write!(f, "the model has no {direction} `{found}`; it has {}", listed(names))
            }
            Problem::NotAMessage(found) => {
                write!(f, "expected an object with `label` and `args`, found {found}")
            }
        }
    }
}

impl std::error::Error for CodecError {}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}
