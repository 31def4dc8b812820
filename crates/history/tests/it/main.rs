//! Tests of histories: small ones with known verdicts, recorded ones, and random ones against all permutations.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod known;
mod models;
mod random;
mod reading;
mod sequential;
mod stateright;
mod tokens;
mod verdicts;
