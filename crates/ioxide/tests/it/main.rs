//! Tests of the facade as other crates use it.

mod collections;
mod fresh;
mod queue;
mod timer;
