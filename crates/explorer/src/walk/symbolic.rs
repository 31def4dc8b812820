//! A walk along switches: one symbolic state, its store and its path condition, and a concrete trace
//! that takes the same switches on request.

use ioxide_model::label::Label;
use ioxide_model::sts::SwitchId;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::{SolverAnswer, UnknownReason};
use ioxide_symex::{Ctx, SwitchStep, SymState, take_switch};

use super::error::WalkError;

/// A sequence of switches, with the symbolic states along it.
#[derive(Clone, Debug)]
pub struct SwitchPath {
    /// The state at the start and after each switch taken.
    pub states: Vec<SymState>,
    /// The switches taken.
    pub switches: Vec<SwitchId>,
    /// The positions of the switches among them of which the solver could not decide whether they can be taken.
    doubtful: Vec<usize>,
}

/// The possibility of taking a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SwitchPossibility {
    /// Some values make it possible.
    Yes,
    /// The solver could not decide.
    Unknown(UnknownReason),
    /// It was proved that no values make it possible.
    No,
}

impl SwitchPath {
    /// Returns the empty sequence at the initial state.
    pub fn new(cx: &mut Ctx<'_>) -> Self {
        Self { states: vec![SymState::initial(cx)], switches: Vec::new(), doubtful: Vec::new() }
    }

    /// The state after the last switch.
    #[must_use]
    pub fn state(&self) -> &SymState {
        self.states.last().expect("there is the state at the start")
    }

    /// Takes `switch`, and returns `false` if it cannot be taken here.
    pub fn take_switch(&mut self, cx: &mut Ctx<'_>, switch: SwitchId) -> bool {
        match take_switch(cx, self.state(), switch) {
            SwitchStep::Refuted => return false,
            SwitchStep::Taken(state) => self.states.push(state),
            SwitchStep::Doubtful(state, _) => {
                self.doubtful.push(self.switches.len());
                self.states.push(state);
            }
        }
        self.switches.push(switch);
        true
    }

    /// Undoes the last switch and returns it; `None` at the start.
    pub fn undo(&mut self) -> Option<SwitchId> {
        let switch = self.switches.pop()?;
        self.states.pop();
        self.doubtful.retain(|&at| at < self.switches.len());
        Some(switch)
    }

    /// Returns the number of switches taken of which the solver could not decide whether they can be.
    #[must_use]
    pub fn n_doubtful(&self) -> usize {
        self.doubtful.len()
    }

    /// Returns the switches of the current location, each with its possibility.
    pub fn open_switches(&self, cx: &mut Ctx<'_>) -> Vec<(SwitchId, SwitchPossibility)> {
        let here: Vec<SwitchId> = cx.sts.switches_from(self.state().loc).map(|(id, _)| id).collect();
        let possible = |id| match take_switch(cx, self.state(), id) {
            SwitchStep::Taken(_) => (id, SwitchPossibility::Yes),
            SwitchStep::Doubtful(_, why) => (id, SwitchPossibility::Unknown(why)),
            SwitchStep::Refuted => (id, SwitchPossibility::No),
        };
        here.into_iter().map(possible).collect()
    }

    /// Returns labels that take these switches, from a solution of the path condition; internal switches have none.
    ///
    /// # Errors
    /// If there are none, or the solver cannot tell.
    pub fn witness(&self, cx: &mut Ctx<'_>) -> Result<Vec<Label>, WalkError> {
        let valuation = match cx.check(self.state().path.facts()) {
            SolverAnswer::Sat(valuation) => valuation,
            SolverAnswer::Unsat => return Err(WalkError::PathRefuted),
            SolverAnswer::Unknown(why) => return Err(WalkError::PathUndecided(why)),
        };
        let mut labels = Vec::new();
        for (depth, &switch) in (1..).zip(&self.switches) {
            labels.extend(delay_before_step(cx, &valuation, depth));
            let gate = cx.sts.switches[switch].gate;
            let fields = cx.sts.gates[gate].fields.clone();
            let values =
                fields.into_iter().map(|field| value_at_step(cx, &valuation, field, depth)).collect();
            labels.extend(Label::message(cx.sts, gate, values));
        }
        Ok(labels)
    }
}

/// Returns the value of `var` at step `depth`; the default of its sort if the valuation has none.
fn value_at_step(
    cx: &mut Ctx<'_>,
    valuation: &Valuation,
    var: ioxide_model::term::VarId,
    depth: u32,
) -> Value {
    let var = cx.pool.indexed_var(var, depth);
    match valuation.get(var) {
        Some(value) => value.clone(),
        None => cx.pool.default_value(cx.pool.var_info(var).sort),
    }
}

/// Returns the delay before step `depth` of a timed system; `None` if no time passes.
fn delay_before_step(cx: &mut Ctx<'_>, valuation: &Valuation, depth: u32) -> Option<Label> {
    if !cx.sts.is_timed() {
        return None;
    }
    let waits = cx.delay;
    match value_at_step(cx, valuation, waits, depth) {
        Value::Real(time) if !time.is_zero() && !time.is_negative() => Some(Label::Delay(time)),
        _ => None,
    }
}
