//! The belief if some value is unknown: symbolic states whose paths are satisfiable.

use std::collections::BTreeSet;

use ioxide_model::concrete::ConcreteState;
use ioxide_model::label::Label;
use ioxide_model::relation::ConformanceRelation;
use ioxide_model::sts::{GateId, GateKind, LocId, Switch};
use ioxide_model::term::{Substitution, Term, TermNode, VarId};
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverDecision;

use super::belief::{Belief, MAX_SYMBOLIC, NextBelief};
use super::{HaltCheck, LostStates};
use crate::cx::Ctx;
use crate::quiescence::quiescence_condition;
use crate::state::{PathCondition, Store, SymState};

/// The states after `label`, not yet closed under internal steps.
pub(super) fn states_after_label(
    cx: &mut Ctx<'_>,
    states: &[SymState],
    label: &Label,
    relation: ConformanceRelation,
) -> NextBelief {
    let mut keep = KeptStates::default();
    let mut refused = false;
    for state in states {
        match label {
            Label::Input(gate, values) | Label::Output(gate, values) => {
                let sts = cx.sts;
                for (_, switch) in sts.switches_from(state.loc).filter(|(_, switch)| switch.gate == *gate) {
                    let next = take_switch(cx, state, switch, values);
                    next.map(|next| keep.add_state(cx, next));
                }
                refused |= relation == ConformanceRelation::Uioco
                    && matches!(label, Label::Input(..))
                    && may_refuse(cx, state, *gate, values, &mut keep.doubts);
            }
            Label::Quiescence => {
                // The values for which the state is quiescent remain: quiescence is one more fact on the path.
                let quiet = quiescence_condition(cx, state.loc);
                let quiet = cx.pool.substitute(quiet, &state.store.substitution(cx.sts));
                let next = SymState { path: state.path.with_fact(cx, quiet), ..state.clone() };
                keep.add_state(cx, next);
            }
            Label::Delay(time) => {
                let time = cx.pool.value(Value::Real(time.clone()));
                let next = advance_clocks(cx, state, time);
                keep.add_state(cx, next);
            }
        }
    }
    NextBelief { refused, ..keep.into_next(cx) }
}

/// Returns whether `state` may have values with which it neither takes this input nor an internal step; true if the
/// solver cannot decide.
fn may_refuse(
    cx: &mut Ctx<'_>,
    state: &SymState,
    gate: GateId,
    values: &[Value],
    doubts: &mut usize,
) -> bool {
    let sts = cx.sts;
    let mut facts = state.path.facts().to_vec();
    for (_, switch) in sts.switches_from(state.loc) {
        let values = match sts.kind_of(switch) {
            GateKind::Internal => &[],
            _ if switch.gate == gate => values,
            _ => continue,
        };
        let guards = take_switch(cx, state, switch, values).map(|next| next.path.facts().to_vec());
        let Some(guards) = guards else { continue };
        // The path of the successor holds this state's facts too; together with `facts` its negation says
        // that the guard fails.
        let enabled = cx.pool.and(guards);
        facts.push(cx.pool.not(enabled));
    }
    match cx.decide(&facts) {
        SolverDecision::Sat => true,
        SolverDecision::Unsat => false,
        SolverDecision::Unknown(_) => {
            *doubts += 1;
            true
        }
    }
}

/// The closure under internal steps.
pub(super) fn close_internally(cx: &mut Ctx<'_>, states: Vec<SymState>) -> NextBelief {
    let sts = cx.sts;
    // The states of the belief are satisfiable already, so they are kept without asking again.
    let mut keep = KeptStates::new(states.clone());
    let (mut todo, mut check) = (states, HaltCheck::default());
    while let Some(state) = todo.pop() {
        if check.is_halted(cx) {
            keep.lost = check.stopped();
            break;
        }
        for (_, switch) in sts.switches_from(state.loc) {
            if sts.kind_of(switch) != GateKind::Internal {
                continue;
            }
            let Some(next) = take_switch(cx, &state, switch, &[]) else { continue };
            if keep.add_state(cx, next.clone()) {
                todo.push(next);
            }
            // The limit was reached: a closure that goes on would only repeat it.
            if keep.lost.is_some() {
                return keep.into_next(cx);
            }
        }
    }
    keep.into_next(cx)
}

/// States whose path may hold, each once.
#[derive(Default)]
pub(super) struct KeptStates {
    states: Vec<SymState>,
    /// The keys of the states kept.
    known: BTreeSet<StateKey>,
    doubts: usize,
    pub(super) lost: Option<LostStates>,
}

/// The identity of a state by its terms: location, values, facts.
type StateKey = (LocId, Vec<Term>, BTreeSet<Term>);

impl KeptStates {
    /// Keeps `states`, which must differ from each other.
    fn new(states: Vec<SymState>) -> Self {
        let known = states.iter().map(state_key).collect();
        Self { states, known, doubts: 0, lost: None }
    }

    /// Keeps `state` unless its path is refuted or it is there already; returns whether it was added.
    pub(super) fn add_state(&mut self, cx: &mut Ctx<'_>, state: SymState) -> bool {
        // Values that a fact fixes are written out first, so that equal states have equal keys.
        let state = substitute_fixed(cx, state);
        let key = state_key(&state);
        if self.known.contains(&key) {
            return false;
        }
        match cx.decide(state.path.facts()) {
            SolverDecision::Unsat => return false,
            SolverDecision::Sat => (),
            SolverDecision::Unknown(_) => self.doubts += 1,
        }
        // Checked after the solver: a refuted state is no loss.
        if self.states.len() >= MAX_SYMBOLIC {
            self.lost = Some(LostStates::States(MAX_SYMBOLIC));
            return false;
        }
        self.known.insert(key);
        self.states.push(state);
        true
    }

    /// Returns the belief, concrete again if every value has become known.
    pub(super) fn into_next(self, cx: &Ctx<'_>) -> NextBelief {
        let concrete: Option<BTreeSet<ConcreteState>> =
            self.states.iter().map(|state| as_concrete(cx, state)).collect();
        let belief = match concrete {
            // Concrete states are evaluated without the solver; the switch back pays off as soon as it is possible.
            Some(states) if !states.is_empty() => Belief::Concrete(states),
            _ => Belief::Symbolic(self.states),
        };
        NextBelief { belief, doubts: self.doubts, lost: self.lost, refused: false }
    }
}

fn state_key(state: &SymState) -> StateKey {
    let facts = state.path.facts().iter().copied().collect();
    (state.loc, state.store.terms().to_vec(), facts)
}

/// Returns the state after `switch` with these field values, its guard assumed; `None` if a value has the wrong sort.
pub(super) fn take_switch(
    cx: &mut Ctx<'_>,
    state: &SymState,
    switch: &Switch,
    values: &[Value],
) -> Option<SymState> {
    let fields = &cx.sts.gates[switch.gate].fields;
    let fits = |(field, value): (&VarId, &Value)| cx.pool.has_sort(value, cx.pool.var_info(*field).sort);
    if fields.len() != values.len() || !fields.iter().zip(values).all(fits) {
        return None;
    }
    let mut names = state.store.substitution(cx.sts);
    for (&field, value) in fields.iter().zip(values) {
        names.set(field, cx.pool.value(value.clone()));
    }
    let guard = cx.pool.substitute(switch.guard, &names);
    let path = state.path.with_fact(cx, guard);
    let store = state.store.after_switch(cx.pool, cx.sts, switch, &names);
    Some(SymState { loc: switch.target, store, path, depth: state.depth + 1 })
}

/// `state` with its clocks advanced by `time`.
pub(super) fn advance_clocks(cx: &mut Ctx<'_>, state: &SymState, time: Term) -> SymState {
    let store = state.store.clone().advance_clocks(cx.pool, cx.sts, time);
    SymState { store, ..state.clone() }
}

/// `state` with every variable that a fact fixes replaced by its value.
fn substitute_fixed(cx: &mut Ctx<'_>, mut state: SymState) -> SymState {
    // Each round removes one variable from the facts, so this ends.
    while let Some((var, value)) = state.path.facts().iter().find_map(|&fact| fixed_variable(cx, fact)) {
        let known: Substitution = [(var, value)].into_iter().collect();
        // The range of the variable is a fact about its value now; without it an impossible value would pass.
        let in_sort = cx.pool.domain_fact(cx.pool.var_info(var).sort, value);
        let mut facts: Vec<Term> = vec![in_sort];
        facts.extend_from_slice(state.path.facts());
        let facts = facts.into_iter().map(|fact| cx.pool.substitute(fact, &known)).collect::<Vec<_>>();
        let all = cx.pool.and(facts);
        let terms = state.store.terms().iter().map(|&term| cx.pool.substitute(term, &known)).collect();
        let path = PathCondition::default().with_fact(cx, all);
        state = SymState { store: Store::new(terms), path, ..state };
    }
    state
}

/// Returns the variable and the constant that `fact` equates; `None` if it is no such equation.
fn fixed_variable(cx: &Ctx<'_>, fact: Term) -> Option<(VarId, Term)> {
    let TermNode::Eq(a, b) = *cx.pool.node(fact) else { return None };
    for (x, value) in [(a, b), (b, a)] {
        if let (TermNode::Var(var), Some(_)) = (cx.pool.node(x), cx.pool.as_value(value)) {
            return Some((*var, value));
        }
    }
    None
}

/// Returns the only concrete state of `state`; `None` unless every value is known and the path is empty.
fn as_concrete(cx: &Ctx<'_>, state: &SymState) -> Option<ConcreteState> {
    if !state.path.facts().is_empty() {
        return None;
    }
    let value = |(var, term)| Some((var, cx.pool.as_value(term)?.clone()));
    let values = state.store.iter(cx.sts).map(value).collect::<Option<_>>()?;
    Some(ConcreteState { loc: state.loc, values })
}
