//! The three classes against their models, with ioxide.

mod account;
mod cache;
mod queue;
