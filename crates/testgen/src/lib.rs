//! Test purposes, coverage goals, test cases, mutants and testers, which decide each next move of a run; finite models
//! as machines.
//!
//! Nothing here touches the world or draws from it: choices are made with a seeded
//! generator, and the same seed makes the same choices.
//!
//! # Example
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use ioxide_lang::{LoadOptions, load};
//! use ioxide_model::source::Sources;
//! use ioxide_smt::brute::BruteSolver;
//! use ioxide_symex::{Ctx, ExploreLimits};
//! use ioxide_testgen::purpose::{Criterion, coverage};
//!
//! let mut sources = Sources::new();
//! let file = sources.add("door.iox", "model Door { input push output bell
//!     state shut { open: on push -> ajar } state ajar { ring: emit bell -> shut } }");
//! let mut model = load(&sources, file, &LoadOptions::default()).model.expect("the model is in order");
//! let mut solver = BruteSolver::new();
//! let mut cx = Ctx::new(&mut model, &mut solver);
//! let limits = ExploreLimits { max_states: 100, max_depth: 10 };
//! let set = coverage(&mut cx, Criterion::Switches, limits, &mut |_| ControlFlow::Continue(()));
//! assert_eq!(set.purposes.len(), 1, "one path takes both switches");
//! ```

pub mod abstraction;
pub mod case;
pub mod complete;
pub mod conform;
pub mod data;
pub mod kill;
pub mod mutate;
pub mod purpose;
pub mod tester;
