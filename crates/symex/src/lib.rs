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
    AllowedLabel, Arrival, Belief, ConnectionWiring, Crossing, Forbidden, LostStates, MessageRoute, Monitor,
    SentId, SwitchBlock, SwitchRefusal, Tolerance, may_wait,
};
pub use crate::bounds::tightest;
pub use crate::cx::Ctx;
pub use crate::explaining::explaining;
pub use crate::explore::{
    Exploration, ExploreConfig, ExploreLimits, ExploreOrder, ExploreStats, IgnoreDead, StopReason, explore,
    explore_until,
};
pub use crate::graph::{ExecGraph, ExploredEdge, ExploredId};
pub use crate::instants::{corners, holds_at, instants};
pub use crate::lint::{LintResult, lint};
pub use crate::live::LiveVars;
pub use crate::merge::{RegionRevisit, relevant};
pub use crate::outputs::{SwitchOffer, offers, symbolic_offers};
pub use crate::quiescence::{Quiescence, after_waiting, can_react, is_quiescent, quiescence};
pub use crate::relevance::relevant_switches;
pub use crate::state::{PathCondition, Store, SymState, effect};
pub use crate::step::{SwitchStep, along, step, successor};
pub use crate::symmetry::Symmetry;
