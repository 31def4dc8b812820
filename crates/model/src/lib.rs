//! x
pub mod index;
