//! The passing of time: clocks advance, internal steps may be taken, and a state that misses a deadline is dropped.

use std::collections::BTreeSet;

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, Switch};
use ioxide_model::term::{Substitution, Term};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::layers::forall::eliminate;
use ioxide_smt::solver::SolverDecision;

use super::super::belief::{Belief, NextBelief};
use super::super::{LostStates, symbolic};
use super::TimeKnowledge;
use crate::cx::Ctx;
use crate::outputs::constant_substitution;
use crate::quiescence::{Quiescence, can_react, is_quiescent, quiescence_condition};
use crate::state::SymState;

/// The greatest number of states after internal steps at unknown instants; an excess is reported, never silently cut.
/// Chosen by feel: every one of them has a delay of its own, which the solver has to order against all others.
const MAX_ELAPSED_STATES: usize = 200;

/// A silence since the last message.
#[derive(Clone, Copy)]
pub(super) enum PassedSilence {
    /// The system sent nothing until this instant.
    Until(Term),
    /// Nothing comes any more without an input: the state was quiescent when it was entered.
    WithoutEnd,
}

/// Returns the belief at the instant `to`, if nothing was seen since the last message and the system was silent as
/// `silence` says; also the number of instants that have a variable then.
pub(super) fn elapse(
    cx: &mut Ctx<'_>,
    time: &TimeKnowledge,
    to: Term,
    silence: Option<PassedSilence>,
    facts: &[Term],
) -> (NextBelief, u32) {
    let has_tau = cx.sts.switches.iter().any(|switch| cx.sts.kind_of(switch) == GateKind::Internal);
    let exact = (constant_value(cx, time.since.at), constant_value(cx, to));
    // Exact instants and no internal steps: every state has one successor, and no solver is needed.
    if let (Belief::Concrete(states), (Some(since), Some(to)), false) = (&time.entry, exact, has_tau) {
        return (elapse_concrete(cx, states, &since, &to, silence), time.named);
    }
    let entry = match &time.entry {
        Belief::Concrete(states) => {
            states.iter().filter_map(|state| SymState::from_concrete(cx, state)).collect()
        }
        Belief::Symbolic(states) => states.clone(),
        Belief::Unspecified => {
            let next = NextBelief { belief: Belief::Unspecified, doubts: 0, lost: None, refused: false };
            return (next, time.named);
        }
    };
    // The next number may be that of the instant `to` itself, so those of internal steps begin after it.
    let mut span = PassedTime { to, silence, named: time.named + 1, has_tau };
    let next = span.elapse_from(cx, entry, time.since.at, facts);
    (next, span.named)
}

fn constant_value(cx: &Ctx<'_>, term: Term) -> Option<Rational> {
    cx.pool.as_value(term).and_then(Value::as_real).cloned()
}

/// Advances concrete states from one instant to another, and drops those that could not be silent.
fn elapse_concrete(
    cx: &mut Ctx<'_>,
    states: &BTreeSet<ConcreteState>,
    since: &Rational,
    to: &Rational,
    silence: Option<PassedSilence>,
) -> NextBelief {
    let mut next = BTreeSet::new();
    let mut doubts = 0;
    for state in states {
        let later = concrete::advance_clocks(cx.sts, state, &(to - since));
        let may_wait = match silence {
            // Exact observation has exact instants.
            Some(PassedSilence::Until(silent)) => {
                match constant_value(cx, silent).filter(|silent| silent > since) {
                    Some(silent) => {
                        let then = concrete::advance_clocks(cx.sts, state, &(&silent - since));
                        may_wait(cx, state, &then)
                    }
                    // The silence ended before the state was entered, so it says nothing about this state.
                    None => SolverDecision::Sat,
                }
            }
            Some(PassedSilence::WithoutEnd) => match is_quiescent(cx, state) {
                Quiescence::Quiet => SolverDecision::Sat,
                Quiescence::Active => SolverDecision::Unsat,
                Quiescence::Unknown(why) => SolverDecision::Unknown(why),
            },
            None => SolverDecision::Sat,
        };
        match may_wait {
            SolverDecision::Unsat => continue,
            SolverDecision::Sat => (),
            SolverDecision::Unknown(_) => doubts += 1,
        }
        next.insert(later);
    }
    NextBelief { belief: Belief::Concrete(next), doubts, lost: None, refused: false }
}

/// Returns whether `state` may let time pass until it is `later`, without a message.
pub fn may_wait(cx: &mut Ctx<'_>, state: &ConcreteState, later: &ConcreteState) -> SolverDecision {
    let mut doubt = None;
    let known = constant_substitution(cx, later);
    let sts = cx.sts;
    for (_, switch) in sts.switches_from(state.loc) {
        if !ends_silence(sts.kind_of(switch)) {
            continue;
        }
        let possible = can_still(cx, switch, &known);
        match possible {
            SolverDecision::Sat => return SolverDecision::Sat,
            SolverDecision::Unsat => (),
            SolverDecision::Unknown(why) => doubt = Some(why),
        }
    }
    // A quiescent state may wait for ever; any other must still be able to send something later, or it has
    // missed its deadline.
    match (is_quiescent(cx, state), doubt) {
        (Quiescence::Quiet, _) => SolverDecision::Sat,
        (Quiescence::Active, None) => SolverDecision::Unsat,
        (Quiescence::Unknown(why), _) | (Quiescence::Active, Some(why)) => SolverDecision::Unknown(why),
    }
}

/// Returns whether a future message of this kind excuses silence.
fn ends_silence(kind: GateKind) -> bool {
    kind != GateKind::Input
}

/// Returns whether `switch` can be taken now or later under the `known` values of variables and clocks.
fn can_still(cx: &mut Ctx<'_>, switch: &Switch, known: &Substitution) -> SolverDecision {
    let possible = can_react(cx, switch);
    let possible = cx.pool.substitute(possible, known);
    match cx.pool.holds(possible, &Valuation::new()) {
        Ok(true) => SolverDecision::Sat,
        Ok(false) => SolverDecision::Unsat,
        Err(_) => cx.decide(&[possible]),
    }
}

/// A span of time for symbolic states.
struct PassedTime {
    to: Term,
    silence: Option<PassedSilence>,
    /// The number of instants that have a variable.
    named: u32,
    has_tau: bool,
}

impl PassedTime {
    /// Returns the states at the end of the span, internal steps at any instants on the way included.
    fn elapse_from(
        &mut self,
        cx: &mut Ctx<'_>,
        entry: Vec<SymState>,
        since: Term,
        facts: &[Term],
    ) -> NextBelief {
        let mut keep = symbolic::KeptStates::default();
        let fact = cx.pool.and(facts.iter().copied());
        let with_fact = |state: SymState| SymState { path: state.path.with_fact(cx, fact), ..state };
        let mut todo: Vec<(SymState, Term)> =
            entry.into_iter().map(with_fact).map(|state| (state, since)).collect();
        // Depth-first over internal steps. Each step gets an instant of its own between the one before it and the
        // end of the span ([BLLN23]: the execution relation), so equal states with other instants are not merged.
        let mut seen = todo.len();
        while let Some((state, since)) = todo.pop() {
            let arrived = self.state_at_end(cx, &state, since);
            keep.add_state(cx, arrived);
            for next in self.internal_successors(cx, &state, since) {
                seen += 1;
                if seen > MAX_ELAPSED_STATES {
                    keep.lost = Some(LostStates::States(MAX_ELAPSED_STATES));
                    return keep.into_next(cx);
                }
                todo.push(next);
            }
        }
        keep.into_next(cx)
    }

    /// Returns `state`, entered at `since`, at the end of the span.
    fn state_at_end(&self, cx: &mut Ctx<'_>, state: &SymState, since: Term) -> SymState {
        let mut arrived = advance_clocks(cx, state, since, self.to);
        let excuse = match self.silence {
            Some(PassedSilence::Until(silent)) => silence_condition(cx, state, since, silent),
            Some(PassedSilence::WithoutEnd) => {
                let quiet = quiet_when_entered(cx, state);
                eliminate(cx.pool, quiet)
            }
            None => return arrived,
        };
        arrived.path = arrived.path.with_fact(cx, excuse);
        arrived
    }

    /// The states entered by internal steps from `state`, with the instants of the steps.
    fn internal_successors(
        &mut self,
        cx: &mut Ctx<'_>,
        state: &SymState,
        since: Term,
    ) -> Vec<(SymState, Term)> {
        let sts = cx.sts;
        let mut found = Vec::new();
        if !self.has_tau {
            return found;
        }
        for (_, switch) in sts.switches_from(state.loc) {
            if sts.kind_of(switch) != GateKind::Internal {
                continue;
            }
            self.named += 1;
            let var = cx.pool.indexed_var(cx.instant, self.named);
            let at = cx.pool.var(var);
            // since <= at <= to: the step happens within the span, after the one that led here.
            let (after, before) = (cx.pool.le(since, at), cx.pool.le(at, self.to));
            let mut there = advance_clocks(cx, state, since, at);
            there.path = there.path.with_fact(cx, after).with_fact(cx, before);
            let Some(next) = symbolic::take_switch(cx, &there, switch, &[]) else { continue };
            // Refuted steps are dropped before they count towards the limit.
            if cx.decide(next.path.facts()) != SolverDecision::Unsat {
                found.push((next, at));
            }
        }
        found
    }
}

/// `state` with its clocks advanced from one instant to another.
fn advance_clocks(cx: &mut Ctx<'_>, state: &SymState, from: Term, to: Term) -> SymState {
    let waited = cx.pool.sub(to, from);
    symbolic::advance_clocks(cx, state, waited)
}

/// The condition under which `state` was quiescent when it was entered.
fn quiet_when_entered(cx: &mut Ctx<'_>, state: &SymState) -> Term {
    let quiet = quiescence_condition(cx, state.loc);
    cx.pool.substitute(quiet, &state.store.substitution(cx.sts))
}

/// The condition under which `state`, entered at `since`, may have sent nothing until `silent`.
fn silence_condition(cx: &mut Ctx<'_>, state: &SymState, since: Term, silent: Term) -> Term {
    let sts = cx.sts;
    let quiet = quiet_when_entered(cx, state);
    let later = advance_clocks(cx, state, since, silent).store.substitution(sts);
    // Any one excuse suffices: the silence was over before, nothing is due at all, or something can still come.
    let mut excuses = vec![cx.pool.le(silent, since), quiet];
    for (_, switch) in sts.switches_from(state.loc) {
        if ends_silence(sts.kind_of(switch)) {
            let possible = can_react(cx, switch);
            excuses.push(cx.pool.substitute(possible, &later));
        }
    }
    let excuse = cx.pool.or(excuses);
    eliminate(cx.pool, excuse)
}
