//! Tests of histories: small ones with known verdicts, recorded ones, and random ones against all permutations.

mod known;
mod models;
mod random;
mod reading;
mod sequential;
mod verdicts;
