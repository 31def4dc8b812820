//! Readers of other formats, each of which turns a text into a model.

pub(crate) mod action;
pub(crate) mod machine;
pub(crate) mod ralib;
#[doc(hidden)]
pub mod txs;
pub(crate) mod xlia;
