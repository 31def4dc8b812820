//! The language server: models explained, completed and checked while they are written.
//!
//! Three layers, each knowing only the one before it:
//!
//! - [`analysis`]: one text with or without errors: lexemes, syntax tree, and the [`index`] of the meanings of names;
//! - [`answers`]: pure functions from an analysis and a place to an answer;
//! - [`server`]: the protocol (Language Server Protocol 3.17), documents, and checks in the background.
//!
//! The program that runs the server gives it files, records and the clock as [`server::ServerEnvironment`].
//!
//! *Promises.* Every text has an analysis and every place an answer, never a panic. The findings about a text are those
//! of `ioxide check`. A deep check that was overtaken by an edit publishes nothing.
//!
//! # Example
//!
//! ```
//! use ioxide_lsp::analysis::TextAnalysis;
//! use ioxide_lsp::text::DocumentText;
//!
//! let text = "model Lamp { input press output light state off { on press -> on } state on { emit light -> off } }";
//! let analysis = TextAnalysis::new("lamp.iox", DocumentText::new(text.to_owned()));
//! let at = text.find("-> on").expect("it is there") + 3;
//! assert!(analysis.index.name_at(at).is_some(), "the name of a state, wherever it stands");
//! ```

pub mod analysis;
pub mod answers;
pub mod index;
pub mod server;
pub mod text;
