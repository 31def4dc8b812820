//! Other texts that become models.

pub(crate) mod action;
pub(crate) mod dot;
pub(crate) mod ralib;
pub(crate) mod xlia;
