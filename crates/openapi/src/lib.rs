//! OpenAPI descriptions (3.0 and 3.1) become models.
//!
//! Every operation is an input, every documented response an output, every JSON schema a sort and what is left of it a
//! condition. The model has one state and is permissive: any request at any time, any answer that is documented for
//! it. So an answer with another status, or outside its schema, is forbidden.
//!
//! *Promises.* Whatever the description says and the model does not is noted, with its place. What the model forbids the
//! description forbids too: where a schema cannot be told exactly, the model allows more. The text is laid out by
//! `ioxide fmt` and has no errors.
//!
//! # Example
//!
//! ```
//! use ioxide_openapi::{ServiceOptions, translate};
//!
//! let text = r#"{ "openapi": "3.0.0", "info": { "title": "Door", "version": "1" },
//!     "paths": { "/push": { "post": { "operationId": "push", "responses": { "200": { "description": "done" } } } } } }"#;
//! let translation = translate(text, &ServiceOptions::default()).expect("a description");
//! assert!(translation.model.contains("input push"), "{}", translation.model);
//! ```

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod document;
mod name;
mod node;
mod note;
mod project;
mod translate;
mod yaml;

use std::collections::BTreeSet;

use ioxide_lang::format;
use ioxide_lang::{LoadOptions, load};
use ioxide_model::source::Sources;
use thiserror::Error;

use self::document::OpenApiDocument;
pub use self::note::Note;
use self::translate::Translator;

/// Where the service is, and how it is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceOptions {
    /// Its address, if it is not the one that the description says.
    pub url: Option<String>,
    /// The command that starts it, with `{port}` for its port.
    pub start: Option<String>,
    /// The name of the description, for people; if it is an address, servers are told from there.
    pub source: String,
    /// Statuses that every operation may answer with, documented or not: `404`, `4xx`.
    pub allow: Vec<String>,
}

/// What a description became.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// The text of the model.
    pub model: String,
    /// The text of the project file; the system is called `api`.
    pub project: String,
    /// What the description says and the model does not.
    pub notes: Vec<Note>,
    /// How many operations and how many responses the model has.
    pub counts: (usize, usize),
}

/// Why a text is no description that can be translated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadDescription {
    /// It is neither JSON nor YAML.
    #[error("it is neither JSON nor YAML: {0}")]
    Unreadable(String),
    /// It is something else.
    #[error("it is no OpenAPI description of version 3.0 or 3.1: {0}")]
    Version(String),
    /// There is nothing in it to be tested.
    #[error("it has no operation that can be tested")]
    Empty,
    /// The model that was made has an error, which is a defect of ioxide.
    #[error("the model that came of it has an error, which is a defect of ioxide: {0}")]
    Model(String),
}

/// So many schemas may be types that no model has.
const MAX_LOOSE: usize = 100;

/// The model and the project file of the description `text`.
///
/// # Errors
/// If it is no OpenAPI description, or has nothing to be tested.
pub fn translate(text: &str, options: &ServiceOptions) -> Result<Translation, BadDescription> {
    let tree = yaml::read(text).map_err(|bad| BadDescription::Unreadable(bad.to_string()))?;
    let document = OpenApiDocument::new(&tree)?;
    let mut loose = BTreeSet::new();
    loop {
        let mut translator = Translator::new(&document, &options.allow).loose(loose.clone());
        translator.operations();
        if translator.counts().0 == 0 {
            return Err(BadDescription::Empty);
        }
        let draft = translator.model();
        let project = project::write(&document, &translator, options);
        let problem = match laid_out(&draft) {
            Ok(model) => {
                let counts = translator.counts();
                return Ok(Translation { model, project, counts, notes: translator.into_notes() });
            }
            Err(problem) => problem,
        };
        // Types that no model has become any JSON; each time there is one less.
        let known = loose.len();
        loose.extend(translator.places_in(&problem.to_string()));
        if loose.len() == known || loose.len() > MAX_LOOSE {
            return Err(problem);
        }
    }
}

/// `draft` in canonical layout; it must have no errors.
fn laid_out(draft: &str) -> Result<String, BadDescription> {
    let bad = |text: String| BadDescription::Model(text);
    let mut sources = Sources::new();
    let file = sources.add("api.iox", draft);
    let text = format(&sources, file).map_err(|errors| {
        bad(errors.first().map_or_else(String::new, |error| format!("{}\n{draft}", error.message)))
    })?;
    let loaded = load(&sources, file, &LoadOptions::default());
    match loaded.model {
        Some(_) => Ok(text),
        None => {
            let errors = loaded.diagnostics.iter().filter(|found| found.is_error());
            let all: Vec<&str> = errors.map(|error| error.message.as_str()).take(MAX_LOOSE).collect();
            Err(bad(all.join("; ")))
        }
    }
}
