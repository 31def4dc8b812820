//! The vocabulary of ioxide: ids, sources, diagnostics, sorts, values, terms, transition
//! systems, labels, traces, verdicts. Pure data and exact evaluation; no text syntax, no
//! solver, no file, no clock, no randomness.
//!
//! # Example
//!
//! ```
//! use ioxide_model::sort::Sort;
//! use ioxide_model::term::TermPool;
//! use ioxide_model::valuation::Valuation;
//! use ioxide_model::value::Value;
//!
//! let mut pool = TermPool::new();
//! let n = pool.declare("n", Sort::Int);
//! let (x, two) = (pool.var(n), pool.value(Value::int(2)));
//! let (once, again) = (pool.add([x, two]), pool.add([two, x]));
//! assert_eq!(once, again, "equal terms are one term");
//! let values: Valuation = [(n, Value::int(40))].into_iter().collect();
//! assert_eq!(pool.eval(once, &values), Ok(Value::int(42)));
//! ```

pub mod code;
pub mod collection;
pub mod compose;
pub mod concrete;
pub mod counted;
pub mod diag;
pub mod goal;
pub mod index;
pub mod label;
pub mod name;
pub mod number;
pub mod relation;
pub mod sequence;
pub mod sort;
pub mod source;
pub mod sts;
pub mod suggest;
pub mod term;
pub mod trace;
pub mod valuation;
pub mod value;
pub mod verdict;
