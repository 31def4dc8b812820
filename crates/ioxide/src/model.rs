//! Models, read from texts and files.

use std::fs;
use std::path::Path;

use ioxide_lang::{LoadOptions, gather, load};
use ioxide_model::diag::Diagnostic;
use ioxide_model::source::Sources;
use ioxide_model::sts::Model;
use thiserror::Error;

/// A model to check systems against.
#[derive(Clone, Debug)]
pub struct ModelFile {
    pub(crate) name: String,
    pub(crate) model: Model,
}

/// The reason why a model cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadModel {
    /// The file cannot be read.
    #[error("cannot read `{file}`: {reason}")]
    File {
        /// The file.
        file: String,
        /// The error of the file system.
        reason: String,
    },
    /// The text has errors: each with its line.
    #[error("{}", .0.join("\n"))]
    Errors(Vec<String>),
}

impl ModelFile {
    /// The model in the file at `path`, which is relative to the package under `cargo test`.
    ///
    /// # Panics
    /// If it cannot be read or has errors, which the panic shows.
    #[must_use]
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> Self {
        // In a closure, the place of the panic would not be that of the caller.
        match Self::try_open(path) {
            Ok(model) => model,
            Err(bad) => panic!("{bad}"),
        }
    }

    /// The model that `text` writes, in the language of `*.iox` files.
    ///
    /// # Panics
    /// If it has errors, which the panic shows.
    #[must_use]
    #[track_caller]
    pub fn text(text: &str) -> Self {
        match Self::named("model.iox", text) {
            Ok(model) => model,
            Err(bad) => panic!("{bad}"),
        }
    }

    /// The model in the file at `path`.
    ///
    /// # Errors
    /// If it cannot be read or has errors.
    pub fn try_open(path: impl AsRef<Path>) -> Result<Self, BadModel> {
        let name = path.as_ref().display().to_string();
        let text = fs::read_to_string(&path)
            .map_err(|error| BadModel::File { file: name.clone(), reason: error.to_string() })?;
        Self::named(&name, &text)
    }

    /// The model that `text` writes; the ending of `name` says in which language.
    ///
    /// # Errors
    /// If it has errors.
    pub fn named(name: &str, text: &str) -> Result<Self, BadModel> {
        let mut sources = Sources::new();
        let file = sources.add(name, text);
        gather(&mut sources, file, &mut |path| fs::read_to_string(path));
        let loaded = load(&sources, file, &LoadOptions::default());
        match loaded.model {
            Some(model) => Ok(Self { name: name.to_owned(), model }),
            None => {
                let errors = loaded.diagnostics.iter().filter(|finding| finding.is_error());
                Err(BadModel::Errors(errors.map(|error| format_finding(&sources, error)).collect()))
            }
        }
    }
}

/// A finding in one line: place, code, message, help.
fn format_finding(sources: &Sources, finding: &Diagnostic) -> String {
    let source = sources.file(finding.span.file);
    let before = source.text.get(..finding.span.start as usize).unwrap_or_default();
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let help = finding.helps.first().map(|help| format!(" (help: {help})")).unwrap_or_default();
    format!("{}:{line}: error[{}]: {}{help}", source.name, finding.code.id(), finding.message)
}
