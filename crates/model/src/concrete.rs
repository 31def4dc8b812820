//! Concrete semantics: states with values, and the steps between them.
//!
//! The interpretation of a transition system as a labelled one (\[FTW05] Def. 11, \[BT19] Def. 8,
//! \[AT15] Def. 2.2): a state is a location with a value for every variable and clock; a switch
//! is enabled for field values that make its guard true, and leads to the updated state.
//! Internal switches have no fields, so their closure needs evaluation only. The question of whether *some* output
//! value makes a guard true needs a solver and is asked in `symex`.

use std::collections::BTreeSet;

use crate::label::Label;
use crate::number::Rational;
use crate::sts::{GateKind, LocId, Sts, Switch, SwitchId};
use crate::term::{EvalError, TermPool};
use crate::valuation::Valuation;
use crate::value::Value;

/// A location with a value for every variable and clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConcreteState {
    /// The current location.
    pub loc: LocId,
    /// The values of variables and clocks.
    pub values: Valuation,
}

impl ConcreteState {
    /// Returns the location, or the locations of the parts of a composed system, as text.
    #[must_use]
    pub fn place_text(&self, sts: &Sts) -> String {
        sts.place_text(self.loc, |var| self.values.get(var).cloned())
    }
}

/// A state reached, and the switch that led there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcreteSuccessor {
    /// The switch taken.
    pub switch: SwitchId,
    /// The state after it.
    pub state: ConcreteState,
}

/// States, and those that follow from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateClosure<T> {
    /// The states, the starting ones included.
    pub states: BTreeSet<T>,
    /// True if the closure was cut at the limit, so that there may be more states.
    pub truncated: bool,
}

/// Returns the initial state; `None` if a variable has no initial value, or one that cannot be evaluated.
#[must_use]
pub fn initial_state(pool: &TermPool, sts: &Sts) -> Option<ConcreteState> {
    let mut values = Valuation::new();
    for var in &sts.vars {
        let value = pool.eval(var.init?, &Valuation::new()).ok()?;
        values.set(var.var, value);
    }
    for clock in &sts.clocks {
        values.set(clock.var, Value::Real(Rational::ZERO));
    }
    Some(ConcreteState { loc: sts.initial, values })
}

/// Returns the field values of a switch's gate as a valuation.
#[must_use]
pub fn field_values(sts: &Sts, switch: &Switch, values: &[Value]) -> Valuation {
    sts.gates[switch.gate].fields.iter().copied().zip(values.iter().cloned()).collect()
}

/// Returns whether `switch` can be taken in `state` with these field values.
///
/// Values outside the sort of their field enable nothing.
///
/// # Errors
/// If a guard cannot be evaluated: a value is unknown, or a quantifier is unbounded.
pub fn is_enabled(
    pool: &TermPool,
    sts: &Sts,
    state: &ConcreteState,
    switch: &Switch,
    values: &[Value],
) -> Result<bool, EvalError> {
    let fields = field_values(sts, switch, values);
    holds_with(pool, sts, state, switch, values, &fields)
}

/// Returns whether `switch` can be taken in `state` with these field values, which are in `fields` too.
fn holds_with(
    pool: &TermPool,
    sts: &Sts,
    state: &ConcreteState,
    switch: &Switch,
    values: &[Value],
    fields: &Valuation,
) -> Result<bool, EvalError> {
    let names = &sts.gates[switch.gate].fields;
    // Checked before the guard, which may assume that its fields are of their sorts.
    let well_sorted = names.len() == values.len()
        && names.iter().zip(values).all(|(field, value)| pool.has_sort(value, pool.var_info(*field).sort));
    if state.loc != switch.source || !well_sorted {
        return Ok(false);
    }
    pool.holds(switch.guard, &(fields, &state.values))
}

/// Returns the state after `switch`, which must be enabled in `state` with these field values.
///
/// # Errors
/// If an updated value cannot be evaluated.
pub fn successor(
    pool: &TermPool,
    sts: &Sts,
    state: &ConcreteState,
    switch: &Switch,
    values: &[Value],
) -> Result<ConcreteState, EvalError> {
    update(pool, state, switch, &field_values(sts, switch, values))
}

/// Returns the state after `switch` with these field values.
fn update(
    pool: &TermPool,
    state: &ConcreteState,
    switch: &Switch,
    fields: &Valuation,
) -> Result<ConcreteState, EvalError> {
    let mut after = state.values.clone();
    for &(var, term) in &switch.update {
        // All updates read the values before the switch: they happen at once.
        after.set(var, pool.eval(term, &(fields, &state.values))?);
    }
    for &clock in &switch.resets {
        after.set(clock, Value::Real(Rational::ZERO));
    }
    Ok(ConcreteState { loc: switch.target, values: after })
}

/// Every state reached from `state` by one switch with the message `label`.
///
/// # Errors
/// As [`is_enabled`].
pub fn successors(
    pool: &TermPool,
    sts: &Sts,
    state: &ConcreteState,
    label: &Label,
) -> Result<Vec<ConcreteSuccessor>, EvalError> {
    let (gate, values) = match label {
        Label::Input(gate, values) | Label::Output(gate, values) => (*gate, values),
        Label::Quiescence | Label::Delay(_) => return Ok(Vec::new()),
    };
    let mut found = Vec::new();
    for (id, switch) in sts.switches_from(state.loc) {
        if switch.gate != gate {
            continue;
        }
        let fields = field_values(sts, switch, values);
        if holds_with(pool, sts, state, switch, values, &fields)? {
            found.push(ConcreteSuccessor { switch: id, state: update(pool, state, switch, &fields)? });
        }
    }
    Ok(found)
}

/// Every state reached from `state` by one internal switch.
///
/// # Errors
/// As [`is_enabled`].
pub fn internal_successors(
    pool: &TermPool,
    sts: &Sts,
    state: &ConcreteState,
) -> Result<Vec<ConcreteSuccessor>, EvalError> {
    let mut found = Vec::new();
    for (id, switch) in sts.switches_from(state.loc) {
        if sts.kind_of(switch) == GateKind::Internal && is_enabled(pool, sts, state, switch, &[])? {
            found.push(ConcreteSuccessor { switch: id, state: successor(pool, sts, state, switch, &[])? });
        }
    }
    Ok(found)
}

/// The states reached from `states` by any number of internal steps, at most `limit` of them.
///
/// # Errors
/// As [`is_enabled`].
pub fn tau_closure(
    pool: &TermPool,
    sts: &Sts,
    states: impl IntoIterator<Item = ConcreteState>,
    limit: usize,
) -> Result<StateClosure<ConcreteState>, EvalError> {
    close_under(states.into_iter().collect(), limit, |state| {
        Ok(internal_successors(pool, sts, state)?.into_iter().map(|next| next.state).collect())
    })
}

/// The states reached from `states` by any number of steps of `next`, at most `limit` of them.
///
/// The closure of everyone who follows a system by its states; they differ in what they do where a step cannot be
/// computed, so `next` decides that.
///
/// # Errors
/// The first error of `next`.
pub fn close_under<T: Clone + Ord, E>(
    states: BTreeSet<T>,
    limit: usize,
    mut next: impl FnMut(&T) -> Result<Vec<T>, E>,
) -> Result<StateClosure<T>, E> {
    let mut closure = states;
    let mut todo: Vec<T> = closure.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        for state in next(&state)? {
            if closure.contains(&state) {
                continue;
            }
            // A state that is there already costs nothing, so only a new one can exceed the limit.
            if closure.len() >= limit {
                return Ok(StateClosure { states: closure, truncated: true });
            }
            closure.insert(state.clone());
            todo.push(state);
        }
    }
    Ok(StateClosure { states: closure, truncated: false })
}

/// Returns `state` with every clock advanced by `time` seconds.
#[must_use]
pub fn advance_clocks(sts: &Sts, state: &ConcreteState, time: &Rational) -> ConcreteState {
    let mut after = state.clone();
    for clock in &sts.clocks {
        // All clocks run at the same speed, also those that nothing reads any more.
        if let Some(Value::Real(now)) = state.values.get(clock.var) {
            after.values.set(clock.var, Value::Real(now + time));
        }
    }
    after
}
