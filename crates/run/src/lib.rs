//! Runs testers against adapters and reports the course as events; repeats, judges and shrinks runs, counts coverage.
//!
//! The way to a system is `ioxide-wire`, what is written down of a run `ioxide-record`.
//!
//! # Example
//!
//! A trace from anywhere, judged by a model; `examples/in_process.rs` tests a system that lives in the same process.
//!
//! ```
//! use ioxide_lang::{LoadOptions, load};
//! use ioxide_model::source::Sources;
//! use ioxide_run::judge::{JudgeConfig, judge, plain_trace};
//! use ioxide_smt::brute::BruteSolver;
//! use ioxide_symex::Ctx;
//!
//! let mut sources = Sources::new();
//! let file = sources.add("door.iox", "model Door { input push output bell
//!     state shut { open: on push -> ajar } state ajar { ring: emit bell -> shut } }");
//! let mut model = load(&sources, file, &LoadOptions::default()).model.expect("the model is in order");
//! let lines = r#"{"label": "push"}
//!     {"label": "bell"}
//!     {"label": "bell"}"#;
//! let trace = plain_trace(&model, lines).expect("labels of the model");
//! let mut solver = BruteSolver::new();
//! let judged = judge(&mut Ctx::new(&mut model, &mut solver), &trace, &JudgeConfig::default());
//! assert_eq!(judged.steps, 3);
//! assert!(judged.forbidden.is_some(), "the door rings once");
//! ```

#![cfg_attr(test, expect(clippy::unwrap_used, reason = "a test that cannot go on should stop"))]

pub mod answers;
pub mod campaign;
pub mod clock;
pub mod concurrent;
pub mod coverage;
pub mod deadline_tester;
pub mod evidence;
pub mod explain;
pub mod given_values;
pub mod input_check;
pub mod judge;
pub mod kill_journal;
pub mod objective;
pub mod records;
pub mod requirements;
pub mod run;
pub mod script;
pub mod shrink;
pub mod suite;
pub mod thinned_record;

#[cfg(test)]
mod record_tests;
#[cfg(test)]
mod samples;
