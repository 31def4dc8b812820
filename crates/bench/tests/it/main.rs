//! Tests of `ioxide-bench`, one program.

mod live;
mod parts;
mod truth;
