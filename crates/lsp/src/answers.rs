//! Answers to the requests of editors, as pure functions of an analysis and a place.

pub mod action;
pub mod completion;
pub mod definition;
pub mod diagnostic;
pub mod fold;
pub mod hover;
pub mod layout;
pub mod lens;
pub mod rename;
pub mod signature;
pub mod surround;
pub mod symbol;
pub mod token;
