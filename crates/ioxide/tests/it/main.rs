//! Tests of the facade as other crates use it.

mod collections;
mod dependencies;
mod fresh;
mod mistakes;
mod queue;
mod timer;
