//! The vocabulary of ioxide: ids, sources, diagnostics, sorts, values, terms, transition
//! systems, labels, traces, verdicts. Pure data and exact evaluation; no text syntax, no
//! solver, no file, no clock, no randomness.

pub mod code;
pub mod collection;
pub mod compose;
pub mod concrete;
pub mod diag;
pub mod goal;
pub mod index;
pub mod label;
pub mod number;
pub mod relation;
pub mod sequence;
pub mod sort;
pub mod source;
pub mod sts;
pub mod term;
pub mod trace;
pub mod valuation;
pub mod value;
pub mod verdict;
