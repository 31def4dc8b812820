//! The errors in a description of messages, with their place.

use thiserror::Error;

use super::binary::FieldMisfit;
use super::encoding::BadEncodingPlace;
#[cfg(feature = "external")]
use super::http::{BadAnswer, BadRequestConfig};
use super::json_form::BadJsonForm;
use super::template::BadTemplate;
use super::text::{BadItems, BadJoining};

/// A description of messages that does not fit the model.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{problem}")]
pub struct BadProtocol {
    /// The keys of the place in the description: `inputs` or `outputs`, and the name of a message.
    pub key: Vec<String>,
    /// The problem; its text names the message.
    pub problem: ProtocolProblem,
}

/// A problem with a description of messages. A direction is `input` or `output`.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProtocolProblem {
    /// A message of the description is wrong.
    #[error("{direction} `{name}`: {problem}")]
    Message {
        /// Its direction.
        direction: &'static str,
        /// Its name.
        name: String,
        /// The problem with the message.
        problem: Box<Self>,
    },
    /// The model has no such message.
    #[error("the model has no {direction} `{name}`")]
    NoMessage {
        /// Its direction.
        direction: &'static str,
        /// Its name.
        name: String,
    },
    /// The message has no such field.
    #[error("{direction} `{name}` has no field `{field}`")]
    NoField {
        /// The direction of the message.
        direction: &'static str,
        /// The message.
        name: String,
        /// The field.
        field: String,
    },
    /// The message at hand has no such field.
    #[error("it has no field `{0}`")]
    NoSuchField(String),
    /// A field of the current message has no place.
    #[error("the place of the field `{0}` is not given")]
    NoPlace(String),
    /// A field of the current message cannot be written in its place.
    #[error("field `{field}`: {problem}")]
    Field {
        /// The field.
        field: String,
        /// The reason why it cannot be written.
        problem: FieldMisfit,
    },
    /// A message of the model is not described.
    #[error("there is no {what} for `{name}`")]
    Undescribed {
        /// The missing description: a template, a pattern, a request.
        what: &'static str,
        /// The message.
        name: String,
    },
    /// A message of the model has no layout.
    #[error("there is no layout for the {direction} `{name}`")]
    NoLayout {
        /// Its direction.
        direction: &'static str,
        /// Its name.
        name: String,
    },
    /// An output of the model is not described.
    #[error("there is no pattern for `{0}`")]
    Unrecognised(String),
    /// A template cannot be read.
    #[error(transparent)]
    Template(#[from] BadTemplate),
    /// A pattern is no regular expression.
    #[error(transparent)]
    Pattern(#[from] regex::Error),
    /// The description of items is wrong.
    #[error(transparent)]
    Items(#[from] BadItems),
    /// The description of messages in several frames is wrong.
    #[error(transparent)]
    Joining(#[from] BadJoining),
    /// A request is wrong.
    #[cfg(feature = "external")]
    #[error(transparent)]
    Request(#[from] BadRequestConfig),
    /// An answer is wrong.
    #[cfg(feature = "external")]
    #[error(transparent)]
    Answer(#[from] BadAnswer),
    /// The encoding of a field is wrong.
    #[error("encodings: {0}")]
    Encoding(#[from] BadEncodingPlace),
    /// The description of the JSON form is wrong.
    #[error("json: {0}")]
    Json(#[from] BadJsonForm),
}

impl ProtocolProblem {
    /// Returns the problem as one of the message `name`.
    pub(super) fn for_message(direction: &'static str, name: &str, problem: impl Into<Self>) -> Self {
        Self::Message { direction, name: name.to_owned(), problem: Box::new(problem.into()) }
    }
}

impl BadProtocol {
    /// Returns an error in the table `table`.
    pub(super) fn table(table: &str, problem: impl Into<ProtocolProblem>) -> Self {
        Self { key: vec![table.to_owned()], problem: problem.into() }
    }

    /// Returns an error in the message `name` of the table `table`.
    pub(super) fn message(table: &str, name: &str, problem: impl Into<ProtocolProblem>) -> Self {
        Self { key: vec![table.to_owned(), name.to_owned()], problem: problem.into() }
    }
}
