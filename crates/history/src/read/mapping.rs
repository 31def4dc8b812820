//! The mapping from operations of other tools to messages of a model.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::ReadProblem;

/// The messages of every operation, by the name that the other tool gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryMapping {
    /// The operations.
    pub operations: BTreeMap<String, OperationMapping>,
}

/// The messages of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationMapping {
    /// The input.
    pub call: MessageMapping,
    /// The output of `:ok`.
    pub ok: MessageMapping,
    /// The output of `:fail`; `None` if `:fail` means that the operation had no effect and no answer.
    pub fail: Option<MessageMapping>,
}

/// A message and where the event has its fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageMapping {
    /// The name of the message.
    pub label: String,
    /// The place of each field in the event.
    pub args: BTreeMap<String, FieldPath>,
}

impl MessageMapping {
    /// Returns the fields of the message that an event with these keys has.
    pub(super) fn collect_args(&self, event: &Map<String, Json>) -> Result<Map<String, Json>, ReadProblem> {
        let value = |(field, path): (&String, &FieldPath)| -> Result<(String, Json), ReadProblem> {
            let missing = || ReadProblem::MissingField {
                path: path.to_string(),
                field: field.clone(),
                message: self.label.clone(),
            };
            Ok((field.clone(), path.find(event).ok_or_else(missing)?.clone()))
        };
        self.args.iter().map(value).collect()
    }
}

/// The way to a value in an event: a key, then positions or keys, as in `value.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldPath(Vec<String>);

/// The error that a text is not a path.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a path; a path is a key of the event with positions, as in `value` or `value.0`")]
pub struct BadPath(String);

impl FieldPath {
    /// Returns the value at the end of the path, if the event has it.
    #[must_use]
    pub fn find<'j>(&self, event: &'j Map<String, Json>) -> Option<&'j Json> {
        let (first, rest) = self.0.split_first()?;
        rest.iter().try_fold(event.get(first)?, |json, step| match json {
            Json::Array(items) => items.get(step.parse::<usize>().ok()?),
            Json::Object(map) => map.get(step),
            _ => None,
        })
    }

    /// Returns the steps of the path.
    pub(crate) fn steps(&self) -> &[String] {
        &self.0
    }
}

impl FromStr for FieldPath {
    type Err = BadPath;

    fn from_str(text: &str) -> Result<Self, BadPath> {
        let steps: Vec<String> = text.split('.').map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) { Err(BadPath(text.to_owned())) } else { Ok(Self(steps)) }
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}
