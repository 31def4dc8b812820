//! Tests of `commands::init`.

mod learning;
