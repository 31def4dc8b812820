//! The symbolic step: one switch taken from a symbolic state.
//!
//! \[BT19] Def. 12, \[AT15] Def. 2.6: the guard, with the store for the variables and fresh
//! variables for the fields, joins the path; the update is applied to the store. In a timed
//! system a fresh delay passes first (\[BLLN23] Def. 2).

use ioxide_model::goal::PathStep;
use ioxide_model::number::Rational;
use ioxide_model::sts::{Switch, SwitchId};
use ioxide_model::term::{Substitution, Term};
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::{SolverDecision, UnknownReason};

use crate::cx::Ctx;
use crate::quiescence::quiescence_condition;
use crate::state::{SymState, advance_substitution};

/// The result of an attempt to take a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchStep {
    /// The switch can be taken and leads here.
    Taken(SymState),
    /// The switch is neither refuted nor shown to be possible; as pruning needs a proof, it is kept.
    Doubtful(SymState, UnknownReason),
    /// The switch cannot be taken.
    Refuted,
}

impl SwitchStep {
    /// Returns the state reached, in doubt or not; `None` if the switch is refuted.
    #[must_use]
    pub fn into_state(self) -> Option<SymState> {
        match self {
            Self::Taken(state) | Self::Doubtful(state, _) => Some(state),
            Self::Refuted => None,
        }
    }
}

/// Takes `id` from `state`.
pub fn take_switch(cx: &mut Ctx<'_>, state: &SymState, id: SwitchId) -> SwitchStep {
    let switch = &cx.sts.switches[id];
    if switch.source != state.loc {
        return SwitchStep::Refuted;
    }
    let is_clock = |var| cx.sts.clocks.iter().any(|clock| clock.var == var);
    let value = |var| state.store.get(cx.sts, var).filter(|_| !is_clock(var));
    // Most switches of a location are excluded by a constant, at once and without making a term. Clocks are left out:
    // they advance before the guard is asked.
    if cx.pool.is_refuted_at_once(switch.guard, |var| value(var).and_then(|term| cx.pool.as_value(term))) {
        return SwitchStep::Refuted;
    }
    let next = successor(cx, state, switch);
    decide_step(cx, next)
}

/// Decides whether the path condition of `next` is satisfiable.
fn decide_step(cx: &mut Ctx<'_>, next: SymState) -> SwitchStep {
    match cx.decide(next.path.facts()) {
        SolverDecision::Sat => SwitchStep::Taken(next),
        SolverDecision::Unsat => SwitchStep::Refuted,
        SolverDecision::Unknown(why) => SwitchStep::Doubtful(next, why),
    }
}

/// Takes one step of a path from `state`.
pub fn take_step(cx: &mut Ctx<'_>, state: &SymState, step: PathStep) -> SwitchStep {
    match step {
        PathStep::Take(switch) => take_switch(cx, state, switch),
        PathStep::Quiet => {
            let next = after_silence(cx, state);
            decide_step(cx, next)
        }
    }
}

/// Returns the state after silence in `state`, which is assumed to be quiescent (\[FTW05] Def. 15). Silence is numbered
/// like a message. In a timed system a fresh delay passes: a state that was quiescent when it was entered stays so.
pub fn after_silence(cx: &mut Ctx<'_>, state: &SymState) -> SymState {
    let quiet = quiescence_condition(cx, state.loc);
    let quiet = cx.pool.substitute(quiet, &state.store.substitution(cx.sts));
    let quiet = eliminate(cx.pool, quiet);
    let mut next =
        SymState { path: state.path.with_fact(cx, quiet), depth: state.depth + 1, ..state.clone() };
    if cx.sts.is_timed() {
        let (delay, waited) = fresh_delay(cx, next.depth);
        next.path = next.path.with_fact(cx, waited);
        next.store = next.store.advance_clocks(cx.pool, cx.sts, delay);
    }
    next
}

/// Returns the state after `switches`, one after the other, with the whole path condition.
///
/// # Errors
/// If a switch cannot be taken: its position in `switches`.
pub fn follow_switches(cx: &mut Ctx<'_>, switches: &[SwitchId]) -> Result<SymState, usize> {
    let mut state = SymState::initial(cx);
    for (position, &switch) in switches.iter().enumerate() {
        state = take_switch(cx, &state, switch).into_state().ok_or(position)?;
    }
    Ok(state)
}

/// Returns the state after `switch`, its guard assumed without asking the solver.
pub fn successor(cx: &mut Ctx<'_>, state: &SymState, switch: &Switch) -> SymState {
    let depth = state.depth + 1;
    let mut path = state.path.clone();
    let mut names = state.store.substitution(cx.sts);
    // The delay comes first, so that guards and updates read the clocks as they are at the instant of the step.
    if cx.sts.is_timed() {
        let waited = add_delay(cx, depth, &mut names);
        path = path.with_fact(cx, waited);
    }
    for &field in &cx.sts.gates[switch.gate].fields {
        // Numbered by depth: the fields of every message on a path are variables of their own.
        let value = cx.pool.indexed_var(field, depth);
        names.set(field, cx.pool.var(value));
    }
    let guard = cx.pool.substitute(switch.guard, &names);
    let path = path.with_fact(cx, guard);
    let store = state.store.after_switch(cx.pool, cx.sts, switch, &names);
    SymState { loc: switch.target, store, path, depth }
}

/// Lets a fresh delay pass, by which every clock advances. Returns the fact that the delay is not negative.
fn add_delay(cx: &mut Ctx<'_>, depth: u32, names: &mut Substitution) -> Term {
    let (delay, waited) = fresh_delay(cx, depth);
    advance_substitution(cx.pool, cx.sts, names, delay);
    waited
}

/// Returns the delay before step number `depth`, and the fact that it is not negative.
fn fresh_delay(cx: &mut Ctx<'_>, depth: u32) -> (Term, Term) {
    let delay = cx.pool.indexed_var(cx.delay, depth);
    let delay = cx.pool.var(delay);
    let zero = cx.pool.value(Value::Real(Rational::ZERO));
    (delay, cx.pool.le(zero, delay))
}
