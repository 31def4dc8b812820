//! Tests of `commands::test`.

mod plan;
