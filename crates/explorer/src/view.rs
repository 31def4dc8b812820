//! The views: the only structs that leave for the page, as versioned JSON.
//!
//! Texts are made visible and cut here, except the steps of a path, which the page puts into its address.
//! Fields may be added within a version; one that changes its meaning makes a new version.

pub mod edit;
pub mod hypothesis;
pub mod learning;
pub mod live;
pub mod model;
pub mod run;
pub mod walk;

#[cfg(test)]
mod tests;
#[cfg(test)]
#[path = "../../report/src/typescript_tests.rs"]
mod typescript_tests;

use ioxide_report::control_characters::excerpt;
use serde::Serialize;

/// The version of all views.
pub const VERSION: u32 = 2;
/// The number of characters of a text in a view. Chosen by feel: a text beyond it is cut in the page, not in the
/// record.
const MAX_TEXT: usize = 2_000;

/// Returns `text` for a view: visible, and cut if it is too long.
fn bounded_text(text: &str) -> String {
    if text.len() > MAX_TEXT && text.chars().nth(MAX_TEXT).is_some() {
        format!("{} ({} characters)", excerpt(text, MAX_TEXT), text.chars().count())
    } else {
        excerpt(text, MAX_TEXT)
    }
}

/// An error response.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorView {
    version: u32,
    /// The reason, for people.
    pub error: String,
}

impl ErrorView {
    /// Returns the view of `error`.
    #[must_use]
    pub fn new(error: &str) -> Self {
        Self { version: VERSION, error: bounded_text(error) }
    }
}
