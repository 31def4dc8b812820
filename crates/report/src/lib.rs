//! Models and test campaigns as texts and pictures for people.
//!
//! A model is first made a [`graph::PictureGraph`]: nodes and edges with lines of text and a
//! class each. [`svg`] draws it, with coordinates from [`layout`]; [`dot`] and [`mermaid`]
//! write it for other tools. [`text`] and [`json`] show the model itself: as a listing, and
//! as data for programs.
//!
//! A campaign is told as events. [`summary`] folds them into figures and stories;
//! [`terminal`], [`junit`], [`tap`], [`markdown`] and [`annotation`] write those, each a
//! [`Reporter`](ioxide_record::reporter::Reporter) that can listen to a live campaign or be fed
//! from a record. [`chart`] draws a run, [`values`] counts the values of inputs. [`html`] is all of it on one page.
//!
//! Nothing here opens files; the same model or events give the same bytes. Names and comments
//! of a model, and what a system says, are never trusted: each writer escapes them for its format.
//!
//! # Example
//!
//! ```
//! use ioxide_lang::{LoadOptions, load};
//! use ioxide_model::source::Sources;
//! use ioxide_report::{graph::PictureGraph, mermaid::write_mermaid};
//!
//! let mut sources = Sources::new();
//! let file = sources.add("lamp.iox", "model Lamp { input press output light
//!     state off { on press -> on } state on { emit light -> off } }");
//! let model = load(&sources, file, &LoadOptions::default()).model.expect("the model is in order");
//! let picture = write_mermaid(&PictureGraph::from_model(&model));
//! assert!(picture.contains("flowchart"), "{picture}");
//! assert!(picture.contains("press") && picture.contains("light"));
//! ```

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod annotation;
pub mod case;
pub mod chart;
pub mod clients;
pub mod control_characters;
pub mod describe;
pub mod dot;
pub mod graph;
pub mod guarantee;
pub mod history;
pub mod html;
pub mod http;
pub mod json;
pub mod junit;
pub mod killing_trees;
pub mod layout;
pub mod markdown;
pub mod mermaid;
pub mod mutants;
pub mod reported_case;
pub mod requirements;
pub mod run_number;
pub mod sarif;
pub mod script;
pub mod step_kind;
pub mod summary;
pub mod svg;
pub mod tap;
pub mod terminal;
pub mod text;
pub mod timeline;
pub mod values;

#[cfg(test)]
mod extreme_tests;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod typescript_tests;
