//! Symbolic execution: one step, exploration with merging, quiescence, model findings, and
//! the set of states a specification may be in after an observed trace.
//!
//! Engines here return values; they neither print nor touch the world. Everything takes a
//! [`Ctx`]: the transition system, the pool its terms live in, and a solver.

mod after;
mod bounds;
mod cx;
mod explaining;
mod explore;
mod frontier;
mod graph;
mod instants;
pub mod leaves;
mod lint;
mod live;
mod merge;
mod outputs;
mod quiescence;
mod relevance;
mod split;
mod state;
mod step;
mod symmetry;

#[cfg(test)]
mod tests;

pub use crate::after::{
    After, Arrival, Belief, Blocked, Crossing, Forbidden, Lost, MessageRoute, Observed, Refusal, SentId,
    Tolerance, Wiring, may_wait,
};
pub use crate::bounds::tightest;
pub use crate::cx::Ctx;
pub use crate::explaining::explaining;
pub use crate::explore::{
    Exploration, ExploreConfig, IgnoreDead, Limits, Order, Stats, StopReason, explore, explore_until,
};
pub use crate::graph::{Edge, ExecGraph, NodeId};
pub use crate::instants::{corners, holds_at, instants};
pub use crate::lint::{Lint, lint};
pub use crate::live::LiveVars;
pub use crate::merge::{Revisit, relevant};
pub use crate::outputs::{Offer, offers, symbolic_offers};
pub use crate::quiescence::{Quiescence, after_waiting, can_react, is_quiescent, quiescence};
pub use crate::relevance::relevant_switches;
pub use crate::state::{Path, Store, SymState};
pub use crate::step::{Step, along, step, successor};
pub use crate::symmetry::Symmetry;
