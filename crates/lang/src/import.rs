//! Readers of other formats, each of which turns a text into a model.

pub(crate) mod action;
pub(crate) mod machine;
pub(crate) mod ralib;
pub(crate) mod txs;
pub(crate) mod xlia;
