//! Tests of `commands::campaign`.

mod watched;
