//! Symbolic execution: one step, exploration with merging, quiescence, model findings, and
//! the set of states a specification may be in after an observed trace.
//!
//! Engines here return values; they neither print nor touch the world. Everything takes a
//! [`Ctx`]: the transition system, the pool its terms live in, and a solver.
//!
//! # Example
//!
//! ```
//! use ioxide_lang::{LoadOptions, load};
//! use ioxide_model::label::Label;
//! use ioxide_model::source::Sources;
//! use ioxide_model::value::Value;
//! use ioxide_smt::brute::BruteSolver;
//! use ioxide_symex::{Ctx, Monitor};
//!
//! let mut sources = Sources::new();
//! let file = sources.add("echo.iox", "model Echo { input say(n: 0..9) output said(n: 0..9) var k: int = 0
//!     state idle { on say { k = n } -> busy } state busy { emit said(n: k) -> idle } }");
//! let mut model = load(&sources, file, &LoadOptions::default()).model.expect("the model is in order");
//! let gate = |name: &str| model.sts.gate_named(name).expect("a message of the model");
//! let (say, said) = (gate("say"), gate("said"));
//! let mut solver = BruteSolver::new();
//! let mut cx = Ctx::new(&mut model, &mut solver);
//! let mut monitor = Monitor::new(&mut cx);
//! assert!(monitor.observe(&mut cx, &Label::Input(say, vec![Value::int(3)])).is_ok());
//! let forbidden = monitor.observe(&mut cx, &Label::Output(said, vec![Value::int(4)]));
//! assert!(forbidden.is_err(), "3 was said, so 4 must not come back");
//! ```

mod bounds;
mod concrete_run;
mod cx;
mod explaining;
mod explore;
mod frontier;
mod graph;
mod guard;
mod induction;
mod instants;
pub mod leaves;
mod lint;
mod live;
mod lone_steps;
mod merge;
mod monitor;
mod orders;
mod outputs;
mod quiescence;
mod relevance;
mod split;
mod state;
mod step;
mod symmetry;

pub use crate::bounds::keep_tightest;
pub use crate::concrete_run::{ConcreteRun, ConcreteRunStep, find_concrete_run};
pub use crate::cx::{Ctx, PoolSnapshot};
pub use crate::explaining::explaining_switches;
pub use crate::explore::{
    Exploration, ExploreConfig, ExploreLimits, ExploreOrder, ExploreStats, IgnoreDead, StopReason, explore,
    explore_until,
};
pub use crate::graph::{ExecGraph, ExploredEdge, ExploredId};
pub use crate::guard::{decide_enabled, decided_closure, decided_internal_successors, decided_successors};
pub use crate::induction::sizes::decide_by_sizes;
pub use crate::induction::{
    CounterexampleState, InductionCounterexample, InductionOutcome, InductionProver, Invariants, SafetyClaim,
};
pub use crate::instants::{change_instants, holds_at, sample_instants};
pub use crate::lint::property::{ClaimKind, ProofBasis, PropertyResult, PropertyStatus};
pub use crate::lint::{LintResult, lint};
pub use crate::live::LiveVars;
pub use crate::lone_steps::LoneSteps;
pub use crate::merge::{RegionRevisit, connected_facts};
pub use crate::monitor::{
    AllowedLabel, Belief, ConnectionWiring, Forbidden, LostStates, MessageRoute, Monitor, PathItem, SentId,
    SwitchBlock, SwitchRefusal, Tolerance, may_wait,
};
pub use crate::orders::{
    Arrival, ClosedOrders, Crossing, EventOrder, EventOrders, WaitingLabel, close_orders,
};
pub use crate::outputs::{SwitchOffer, list_offers, symbolic_offers};
pub use crate::quiescence::{Quiescence, after_waiting, can_react, is_quiescent, quiescence_condition};
pub use crate::relevance::relevant_switches;
pub use crate::state::{PathCondition, Store, SymState, switch_effect};
pub use crate::step::{SwitchStep, after_silence, follow_switches, successor, take_step, take_switch};
pub use crate::symmetry::Symmetry;
