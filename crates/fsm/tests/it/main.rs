//! Tests with the public benchmarks of machines.

mod data;
