//! Tests of the translation of OpenAPI descriptions.

mod translate;
