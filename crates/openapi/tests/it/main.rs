//! Tests of the translation of OpenAPI descriptions.

mod lifetime;
mod relation;
mod state;
mod translate;
mod workflow;
