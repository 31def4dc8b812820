//! Tests of repairs, on models whose fault is known.

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

mod limits;
mod missing;
mod open;
mod proposals;
mod world;
