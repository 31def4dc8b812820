//! Models whose text is a part of this program, or is made by it: they always load, so an error is ours.

use ioxide_cli::exit::{CliError, ExitStatus};
use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;

/// Returns the model of `text`, under the file name `name`.
///
/// # Errors
/// If it does not load.
pub fn load_text(name: &str, text: &str) -> Result<Model, CliError> {
    load_text_with(name, text, Vec::new())
}

/// Returns the model of `text` with other values for some of its constants, as pairs of name and value.
///
/// # Errors
/// If it does not load.
pub fn load_text_with(name: &str, text: &str, overrides: Vec<(String, String)>) -> Result<Model, CliError> {
    let mut sources = Sources::new();
    let file = sources.add(name, text);
    let broken = || {
        CliError::new(ExitStatus::Internal, format!("the model `{name}` of the measurement does not load"))
    };
    load(&sources, file, &LoadOptions::with_overrides(overrides)).model.ok_or_else(broken)
}
