//! Other texts that become models.

pub(crate) mod action;
pub(crate) mod machine;
pub(crate) mod ralib;
pub(crate) mod txs;
pub(crate) mod xlia;
