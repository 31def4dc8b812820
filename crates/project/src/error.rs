//! A mistake in the project file.

use thiserror::Error;

/// A mistake in the project file, or in what names a system of it: where it is and what is wrong, with a help.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ProjectError {
    message: String,
    help: Option<String>,
}

impl ProjectError {
    /// Returns the mistake that `message` describes, with its place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// Adds the next thing to do.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds the nearest of the names that there are, or all of them if none is near.
    pub(crate) fn with_nearest(self, name: &str, names: &[&str]) -> Self {
        match ioxide_model::suggest::nearest_name(name, names.iter().copied()) {
            Some(near) => self.with_help(format!("did you mean `{near}`?")),
            None => self.with_help(format!("there is {}", names.join(", "))),
        }
    }

    /// Returns the next thing to do, if there is a special one.
    #[must_use]
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}
