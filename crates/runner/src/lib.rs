//! Runs testers against adapters and tells what happened, as events.
//!
//! Also the other side: a model played as a system under test, over the same protocol.
//! Processes, sockets, files and clocks of a test run are here and nowhere below.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod adapter;
pub mod campaign;
pub mod clock;
pub mod codec;
pub mod coverage;
pub mod event;
pub mod explain;
pub mod json;
pub mod judge;
pub mod limits;
pub mod line;
pub mod objective;
pub mod player;
pub mod protocol;
pub mod record;
pub mod reporter;
pub mod run;
pub mod secrets;
pub mod serve;
pub mod shrink;
pub mod suite;

#[cfg(test)]
mod samples;
