//! Tests of the facade as other crates use it.

mod collections;
mod concurrent;
mod dependencies;
mod fresh;
mod messages;
mod mistakes;
mod queue;
mod scheduled;
mod snippets;
mod timer;
