//! Connections to a system under test: adapters, the codecs of their messages, and a model simulated as a system.
//!
//! Processes and sockets of systems are here and nowhere else, behind the feature `external`. Without it there are the
//! trait [`Adapter`](adapter::Adapter) and the systems inside of this process.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod adapter;
pub mod codec;
pub mod player;
pub mod protocol;
#[cfg(feature = "external")]
pub mod serve;

#[cfg(test)]
mod samples;
