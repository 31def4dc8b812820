//! The reasons why the output of a system is not a message.

use thiserror::Error;

use ioxide_record::limits::Excess;
use ioxide_record::value::{CodecError, JsonProblem};

use super::encoding::BadEncoding;

/// The reason why the output of a system is not a message of the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Undecodable {
    /// The text is not a message, for this reason.
    #[error("{0}")]
    Wrong(String),
    /// The text is larger than a limit, so it is not known whether it is a message; this is no fault of the system.
    #[error("{0}")]
    TooLarge(String),
}

impl Undecodable {
    /// Returns the same error with another text.
    #[cfg(feature = "external")]
    pub(crate) fn in_other_words(self, tell: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Wrong(reason) => Self::Wrong(tell(reason)),
            Self::TooLarge(reason) => Self::TooLarge(tell(reason)),
        }
    }
}

impl From<String> for Undecodable {
    fn from(reason: String) -> Self {
        Self::Wrong(reason)
    }
}

impl From<&str> for Undecodable {
    fn from(reason: &str) -> Self {
        Self::Wrong(reason.to_owned())
    }
}

impl From<BadEncoding> for Undecodable {
    fn from(bad: BadEncoding) -> Self {
        Self::Wrong(bad.to_string())
    }
}

impl From<Excess> for Undecodable {
    fn from(excess: Excess) -> Self {
        Self::TooLarge(excess.to_string())
    }
}

impl From<CodecError> for Undecodable {
    fn from(error: CodecError) -> Self {
        match error.problem {
            JsonProblem::Excess(_) => Self::TooLarge(error.to_string()),
            _ => Self::Wrong(error.to_string()),
        }
    }
}
