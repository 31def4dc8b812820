//! Tests of `distinguish`.

mod improve;
mod refine;
