//! x
pub mod code;
pub mod diag;
pub mod index;
pub mod number;
pub mod source;
