//! Other texts that become models.

pub(crate) mod action;
pub(crate) mod machine;
pub(crate) mod ralib;
pub(crate) mod xlia;
