//! Quiescence as a quantified condition: no output can come without an input.
//!
//! A state is quiescent if no output and no internal switch is enabled, whatever the field
//! values (\[FTW05] Def. 15, \[AT15]'s Δ), now or after any delay (\[BLLN23] Def. 3). The condition is
//! built with the quantifier eliminated where the builders can do so.

use ioxide_model::concrete::ConcreteState;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, LocId, Sts, Switch};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverDecision, UnknownReason};

use crate::cx::Ctx;
use crate::outputs::constant_substitution;
use crate::state::advance_substitution;

/// The answer to the question whether a state is quiescent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quiescence {
    /// Quiescent: no output and no internal step can ever come without an input.
    Quiet,
    /// Not quiescent: an output or internal step can come without an input.
    Active,
    /// Not decided, for this reason.
    Unknown(UnknownReason),
}

/// Returns the formula over variables and clocks that a state at `loc` is quiescent.
pub fn quiescence_condition(cx: &mut Ctx<'_>, loc: LocId) -> Term {
    let sts = cx.sts;
    let mut active = Vec::new();
    for (_, switch) in sts.switches_from(loc) {
        if matches!(sts.kind_of(switch), GateKind::Output | GateKind::Internal) {
            active.push(can_react(cx, switch));
        }
    }
    let active = cx.pool.or(active);
    cx.pool.not(active)
}

/// Returns the formula that `switch` can be taken with some field values, now or after waiting.
pub fn can_react(cx: &mut Ctx<'_>, switch: &Switch) -> Term {
    let mut bound = cx.sts.gates[switch.gate].fields.clone();
    let guard = after_waiting(cx, switch.guard);
    bound.push(cx.delay);
    cx.pool.exists(&bound, guard)
}

/// Returns `guard` with every clock advanced by the delay, which is not negative; unchanged without clocks.
pub fn after_waiting(cx: &mut Ctx<'_>, guard: Term) -> Term {
    if !cx.sts.is_timed() {
        return guard;
    }
    let delay = cx.pool.var(cx.delay);
    let mut later = Substitution::new();
    advance_substitution(cx.pool, cx.sts, &mut later, delay);
    let guard = cx.pool.substitute(guard, &later);
    let zero = cx.pool.value(Value::Real(Rational::ZERO));
    let forward = cx.pool.le(zero, delay);
    cx.pool.and([forward, guard])
}

/// Decides whether the concrete `state` is quiescent, by evaluation as far as possible.
pub fn is_quiescent(cx: &mut Ctx<'_>, state: &ConcreteState) -> Quiescence {
    let sts = cx.sts;
    let mut doubt = None;
    for (_, switch) in sts.switches_from(state.loc) {
        if !matches!(sts.kind_of(switch), GateKind::Output | GateKind::Internal) {
            continue;
        }
        match can_react_in(cx, switch, state) {
            // One switch that can be taken decides; a doubt about another one no longer matters.
            SolverDecision::Sat => return Quiescence::Active,
            SolverDecision::Unsat => (),
            SolverDecision::Unknown(why) => doubt = Some(why),
        }
    }
    doubt.map_or(Quiescence::Quiet, Quiescence::Unknown)
}

/// Decides whether `switch` can be taken from `state` with some field values, now or after waiting.
pub(crate) fn can_react_in(cx: &mut Ctx<'_>, switch: &Switch, state: &ConcreteState) -> SolverDecision {
    if cx.pool.is_refuted_at_once(switch.guard, |var| known_value(cx.sts, state, var)) {
        return SolverDecision::Unsat;
    }
    if let Some(decided) = decide_by_parts(cx, switch, state) {
        return decided;
    }
    let possible = can_react(cx, switch);
    let values = constant_substitution(cx, state);
    // With constants for the variables the formula is often closed; only quantifiers over large domains are left to
    // the solver.
    let possible = cx.pool.substitute(possible, &values);
    match cx.pool.holds(possible, &Valuation::new()) {
        Ok(true) => SolverDecision::Sat,
        Ok(false) => SolverDecision::Unsat,
        Err(_) => cx.decide(&[possible]),
    }
}

/// Decides whether `switch` can be taken from `state` now by the parts of its guard that mention no field; `None` if
/// they leave it open, or time may pass. Most switches are refused by one of them, which saves making a quantified
/// formula.
fn decide_by_parts(cx: &mut Ctx<'_>, switch: &Switch, state: &ConcreteState) -> Option<SolverDecision> {
    if cx.sts.is_timed() {
        return None;
    }
    let mut is_certain = true;
    for part in cx.pool.conjuncts(switch.guard) {
        match cx.pool.holds(part, &state.values) {
            Ok(true) => (),
            Ok(false) => return Some(SolverDecision::Unsat),
            // A field in it has no value here, or it cannot be evaluated.
            Err(_) => is_certain = false,
        }
    }
    is_certain.then_some(SolverDecision::Sat)
}

/// Returns the value of a variable; `None` for clocks, which advance.
fn known_value<'s>(sts: &Sts, state: &'s ConcreteState, var: VarId) -> Option<&'s Value> {
    let is_clock = sts.clocks.iter().any(|clock| clock.var == var);
    if is_clock { None } else { state.values.get(var) }
}
