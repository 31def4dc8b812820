//! Purposes from the goals of a model: a path, a location to reach, an observer.
//!
//! A path goal may start anywhere: the shortest way to its first switch from which the rest can be taken is put before
//! it. The search quadruples its bound until a purpose is found, so that a near goal in an infinite model is found
//! early.

use std::fmt;
use std::ops::ControlFlow;

use ioxide_model::goal::{Goal, GoalKind, PathStep};
use ioxide_model::sts::{LocId, Sts};
use ioxide_model::term::Term;
use ioxide_smt::solver::SolverDecision;
use ioxide_symex::{
    Ctx, Exploration, ExploreConfig, ExploreLimits, IgnoreDead, StopReason, SymState, Symmetry, explore,
    take_step,
};

use super::{TestPurpose, observer};

/// The number of states of the first search; each further one may explore four times as many. Chosen by feel: a
/// fourfold next search repeats at most a third of the work.
const FIRST_STATES: usize = 256;

/// The reason why there is no purpose for a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPurpose {
    /// Proved: all symbolic states were explored.
    Unreachable,
    /// Not known: the search ended before all states were explored.
    Cut(StopReason),
    /// The goal is of a kind without a purpose (an invariant, a written test).
    NoPurpose,
}

impl fmt::Display for NoPurpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable => f.write_str("proved out of reach: all symbolic states were explored"),
            Self::Cut(StopReason::MaxStates) => f.write_str("not found within the limit of states"),
            Self::Cut(StopReason::Exhausted) => {
                f.write_str("not found, and nothing shows that it is out of reach")
            }
            Self::Cut(stop) => write!(f, "not found: {stop}"),
            Self::NoPurpose => f.write_str("it is an invariant or a test, not a purpose"),
        }
    }
}

/// Returns the purpose that meets `goal` by a shortest path.
///
/// # Errors
/// If none was found, with the reason.
pub fn of_goal(cx: &mut Ctx<'_>, goal: &Goal, limits: ExploreLimits) -> Result<TestPurpose, NoPurpose> {
    match &goal.kind {
        GoalKind::Path(path) => {
            // A path asks for nothing but its steps.
            let tt = cx.pool.tt();
            let wanted = GoalState { location: start_of_path(cx.sts, path), rest: path, when: tt };
            find_purpose(cx, &goal.name, &wanted, limits)
        }
        GoalKind::Reach { location, when } => {
            find_purpose(cx, &goal.name, &GoalState { location: *location, rest: &[], when: *when }, limits)
        }
        GoalKind::Observer(observer) => observer::purpose(cx, &goal.name, observer, limits),
        GoalKind::Always(_)
        | GoalKind::Sometimes(_)
        | GoalKind::Assume(_)
        | GoalKind::Response(_)
        | GoalKind::Test(_) => Err(NoPurpose::NoPurpose),
    }
}

/// Returns the location at which a path begins: the source of its first switch, as silence before it does not move.
/// `None` if it has only silences.
fn start_of_path(sts: &Sts, path: &[PathStep]) -> Option<LocId> {
    path.iter().find_map(|step| step.switch()).map(|id| sts.switches[id].source)
}

/// The symbolic state to search for.
pub(super) struct GoalState<'w> {
    /// The location; any if `None`.
    pub(super) location: Option<LocId>,
    /// The steps that must be possible from there, one after the other.
    pub(super) rest: &'w [PathStep],
    /// The condition that must hold after them.
    pub(super) when: Term,
}

/// Returns the purpose along a shortest path to a wanted state.
pub(super) fn find_purpose(
    cx: &mut Ctx<'_>,
    name: &str,
    goal: &GoalState<'_>,
    limits: ExploreLimits,
) -> Result<TestPurpose, NoPurpose> {
    let mut max_states = FIRST_STATES.min(limits.max_states);
    loop {
        let exploration = search(cx, goal, ExploreLimits { max_states, ..limits });
        if let Some(purpose) = first_purpose(cx, name, goal, &exploration) {
            return Ok(purpose);
        }
        match exploration.stop {
            StopReason::Exhausted if exploration.stats.doubtful == 0 => return Err(NoPurpose::Unreachable),
            StopReason::MaxStates if max_states < limits.max_states => {
                max_states = max_states.saturating_mul(4).min(limits.max_states);
            }
            stop => return Err(NoPurpose::Cut(stop)),
        }
    }
}

/// Explores with the variables of the condition kept apart: they matter even if no guard reads them. Parts that neither
/// the condition nor the system distinguishes are interchangeable, unless the rest of the path names some.
fn search(cx: &mut Ctx<'_>, goal: &GoalState<'_>, limits: ExploreLimits) -> Exploration {
    let ignore_dead = IgnoreDead::Except(cx.pool.free_vars(goal.when));
    let symmetry = if goal.rest.is_empty() {
        Symmetry::find(cx.pool, cx.sts, &[goal.when])
    } else {
        Symmetry::default()
    };
    let config = ExploreConfig { limits, ignore_dead, symmetry, ..ExploreConfig::default() };
    explore(cx, &config, &mut |_| ControlFlow::Continue(()))
}

/// Returns the purpose to the first state of the graph that is wanted; one in doubt only if there is no other.
fn first_purpose(
    cx: &mut Ctx<'_>,
    name: &str,
    goal: &GoalState<'_>,
    exploration: &Exploration,
) -> Option<TestPurpose> {
    let graph = &exploration.graph;
    let mut in_doubt = None;
    for (node, state) in graph.nodes.iter_enumerated() {
        // The merged state is asked first, which is cheap to refuse by. It stands for several paths, so what
        // it allows is confirmed along the path to this node.
        if goal.location.is_some_and(|location| location != state.loc) || !is_possible(cx, goal, state) {
            continue;
        }
        let mut path = PathStep::taking(&graph.path_to(node));
        path.extend_from_slice(goal.rest);
        match confirm_path(cx, name, goal, &path) {
            Some(purpose) if purpose.doubt.is_none() => return Some(purpose),
            other => in_doubt = in_doubt.or(other),
        }
    }
    in_doubt
}

/// Returns whether the steps of the rest and the condition are not refuted from the merged `state`.
fn is_possible(cx: &mut Ctx<'_>, goal: &GoalState<'_>, state: &SymState) -> bool {
    let mut state = state.clone();
    for &step in goal.rest {
        match take_step(cx, &state, step).into_state() {
            Some(next) => state = next,
            None => return false,
        }
    }
    let (facts, _) = with_condition(cx, goal.when, &state);
    cx.decide(&facts) != SolverDecision::Unsat
}

/// Returns the purpose along `path` with the condition at its end, unless that is refuted.
fn confirm_path(
    cx: &mut Ctx<'_>,
    name: &str,
    goal: &GoalState<'_>,
    path: &[PathStep],
) -> Option<TestPurpose> {
    let start = SymState::initial(cx);
    let (mut purpose, state) = TestPurpose::with_state(cx, name.to_owned(), start, path).ok()?;
    let (facts, end) = with_condition(cx, goal.when, &state);
    // This query has the condition of the whole path and that of the goal, so its answer replaces the doubt
    // of the path alone.
    purpose.doubt = match cx.decide(&facts) {
        SolverDecision::Sat => None,
        SolverDecision::Unsat => return None,
        SolverDecision::Unknown(why) => Some(why),
    };
    purpose.end = vec![end];
    Some(purpose)
}

/// Returns the path condition of `state` with `when` after it, and `when` alone, over the fields of the steps.
fn with_condition(cx: &mut Ctx<'_>, when: Term, state: &SymState) -> (Vec<Term>, Term) {
    let store = state.store.substitution(cx.sts);
    let end = cx.pool.substitute(when, &store);
    let mut facts = state.path.facts().to_vec();
    facts.push(end);
    (facts, end)
}
