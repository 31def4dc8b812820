//! Tests of `data`.

mod halving;
mod values;
