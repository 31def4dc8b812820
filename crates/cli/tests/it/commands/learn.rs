//! Tests of `commands::learn`.

mod line;
