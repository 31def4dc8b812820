//! Tests of the translation of OpenAPI descriptions.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod bundle;
mod lifetime;
mod name;
mod relation;
mod state;
mod translate;
mod workflow;
mod yaml;
