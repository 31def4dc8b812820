//! Tests of machines and suites against enumeration, and with the public benchmarks.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod complete;
mod counting;
mod cover;
mod data;
mod distinguish;
mod mealy;
mod nfsm;
mod partition;
mod product;
mod read;
mod reduce;
mod suite;
mod theory;
mod word;
