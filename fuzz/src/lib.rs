//! What the fuzzers call.

pub mod targets;
