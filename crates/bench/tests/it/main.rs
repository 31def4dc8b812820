//! Tests of `ioxide-bench`, one program.

mod parts;
mod truth;
