//! Tests of `smtlib`.

mod data_types;
mod read;
mod write;
