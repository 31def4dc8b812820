//! Tests of the translation of OpenAPI descriptions.

mod state;
mod translate;
