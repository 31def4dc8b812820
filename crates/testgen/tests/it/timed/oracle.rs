//! The expected verdicts of a case, by enumeration of values and of multiples of half a second.

#![allow(dead_code, reason = "not every test uses everything here")]
#![expect(clippy::expect_used, reason = "a test that cannot go on should stop")]

use ioxide_model::concrete::{self, ConcreteState};
use ioxide_model::goal::PathStep;
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateId, GateKind, Model, Switch, SwitchId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_testgen::case::CaseEvent;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::common::seconds;

/// The number of tenths of a second after which no guard of a random model changes any more.
pub const HORIZON: i64 = 30;

/// The expected result of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    Onwards,
    Pass,
    OffPath,
    Specified,
    FailOut,
    Unspecified,
    IncDur,
    FailDur,
    Nowhere,
}

/// The path of a model with the states after the observations so far.
pub struct Oracle<'m> {
    model: &'m Model,
    path: &'m [PathStep],
    timeout: i64,
    at: usize,
    /// The states that the model may be in, one per value at start that fits the observations.
    states: Vec<ConcreteState>,
}

impl<'m> Oracle<'m> {
    pub fn new(model: &'m Model, path: &'m [PathStep], timeout: i64) -> Self {
        let states = (0..3).map(|unknown| initial(model, unknown)).collect();
        Self { model, path, timeout, at: 0, states }
    }

    /// Returns every possible next event: delays up to and beyond the time-out, every message.
    pub fn events(&self) -> Vec<(i64, CaseEvent)> {
        let mut events = Vec::new();
        for delay in (0..self.timeout).step_by(5) {
            for (gate, info) in self.model.sts.gates.iter_enumerated().skip(1) {
                let values = choices(info.fields.len());
                events.extend(values.into_iter().map(|values| (delay, CaseEvent::Message(gate, values))));
            }
        }
        events.extend([self.timeout, self.timeout + 5].map(|delay| (delay, CaseEvent::Silence)));
        events
    }

    /// Returns the expected result of the event.
    pub fn expected(&self, delay: i64, event: &CaseEvent) -> Expected {
        match event {
            CaseEvent::Silence => self.silence(delay),
            CaseEvent::Message(gate, values) => self.message(delay, *gate, values),
        }
    }

    fn message(&self, delay: i64, gate: GateId, values: &[Value]) -> Expected {
        let sts = &self.model.sts;
        let step = self.path[self.at].switch();
        let after = match step {
            Some(step) => self.after(&self.states, step, delay, gate, values),
            None => Vec::new(),
        };
        if sts.gates[gate].kind == GateKind::Input {
            let follows = after.iter().any(|state| self.can_follow(state, &self.path[self.at + 1..]));
            return if follows { Expected::Onwards } else { Expected::Nowhere };
        }
        if !after.is_empty() {
            let follows = after.iter().any(|state| self.can_follow(state, &self.path[self.at + 1..]));
            return match follows {
                true if self.at + 1 == self.path.len() => Expected::Pass,
                true => Expected::Onwards,
                false => Expected::OffPath,
            };
        }
        let mut others = sts.switches_from(self.states[0].loc).filter(|(id, _)| Some(*id) != step);
        if others.any(|(id, _)| !self.after(&self.states, id, delay, gate, values).is_empty()) {
            return Expected::Specified;
        }
        if sts.gates[gate].kind == GateKind::Output { Expected::FailOut } else { Expected::Unspecified }
    }

    fn silence(&self, delay: i64) -> Expected {
        if self.path[self.at] == PathStep::Quiet {
            let mut after = self.after_silence(delay).into_iter();
            if after.any(|state| self.can_follow(&state, &self.path[self.at + 1..])) {
                let is_last = self.at + 1 == self.path.len();
                return if is_last { Expected::Pass } else { Expected::Onwards };
            }
        }
        let later = self.states.iter().any(|state| {
            (delay..=delay + HORIZON)
                .step_by(5)
                .any(|at| self.speaks(state, at, |kind| kind != GateKind::Input))
        });
        let quiet = self.states.iter().any(|state| self.is_quiescent(state));
        if later || quiet { Expected::IncDur } else { Expected::FailDur }
    }

    /// Returns whether some message of a wanted kind is possible at that instant.
    fn speaks(&self, state: &ConcreteState, at: i64, wanted: fn(GateKind) -> bool) -> bool {
        messages(self.model, state, at, wanted).next().is_some()
    }

    /// Returns whether no output can come in `state`, now or later.
    fn is_quiescent(&self, state: &ConcreteState) -> bool {
        (0..=HORIZON).step_by(5).all(|at| !self.speaks(state, at, |kind| kind == GateKind::Output))
    }

    /// The states after silence for so long.
    fn after_silence(&self, delay: i64) -> Vec<ConcreteState> {
        let silent = self.states.iter().filter(|state| self.is_quiescent(state));
        silent.map(|state| concrete::advance_clocks(&self.model.sts, state, &seconds(delay))).collect()
    }

    /// Returns whether `rest` can be taken from `state`.
    fn can_follow(&self, state: &ConcreteState, rest: &[PathStep]) -> bool {
        let Some((&step, more)) = rest.split_first() else { return true };
        let PathStep::Take(id) = step else {
            let after = |delay| concrete::advance_clocks(&self.model.sts, state, &seconds(delay));
            return self.is_quiescent(state)
                && (self.timeout..=self.timeout + HORIZON)
                    .step_by(5)
                    .any(|delay| self.can_follow(&after(delay), more));
        };
        let switch = &self.model.sts.switches[id];
        (0..=HORIZON).step_by(5).any(|delay| {
            choices(self.model.sts.gates[switch.gate].fields.len()).into_iter().any(|values| {
                taken(self.model, state, switch, delay, &values)
                    .is_some_and(|next| self.can_follow(&next, more))
            })
        })
    }

    /// The states after `id` with this message.
    fn after(
        &self,
        states: &[ConcreteState],
        id: SwitchId,
        delay: i64,
        gate: GateId,
        values: &[Value],
    ) -> Vec<ConcreteState> {
        let switch = &self.model.sts.switches[id];
        if switch.gate != gate {
            return Vec::new();
        }
        states.iter().filter_map(|state| taken(self.model, state, switch, delay, values)).collect()
    }

    /// Takes the next step of the path.
    pub fn advance(&mut self, delay: i64, event: &CaseEvent) {
        self.states = match (event, self.path[self.at]) {
            (CaseEvent::Message(gate, values), PathStep::Take(id)) => {
                self.after(&self.states, id, delay, *gate, values)
            }
            (CaseEvent::Silence, PathStep::Quiet) => self.after_silence(delay),
            _ => panic!("{event:?} leaves the path"),
        };
        self.at += 1;
    }

    /// Returns whether some trace takes the path up to `step`, and `step` or `other` by different values at start.
    pub fn has_common_trace(&self, step: usize, other: SwitchId) -> bool {
        let at_step = self.path[step].switch().expect("silence is no switch");
        self.common(&self.states, &self.path[..step], at_step, other)
    }

    fn common(&self, states: &[ConcreteState], rest: &[PathStep], step: SwitchId, other: SwitchId) -> bool {
        let id = match rest.split_first() {
            None => step,
            Some((PathStep::Take(id), _)) => *id,
            Some((PathStep::Quiet, more)) => {
                return (self.timeout..=self.timeout + HORIZON).step_by(5).any(|delay| {
                    let next =
                        Self { states: states.to_vec(), path: self.path, ..*self }.after_silence(delay);
                    !next.is_empty() && self.common(&next, more, step, other)
                });
            }
        };
        let gate = self.model.sts.switches[id].gate;
        (0..=HORIZON).step_by(5).any(|delay| {
            choices(self.model.sts.gates[gate].fields.len()).into_iter().any(|values| {
                let next = self.after(states, id, delay, gate, &values);
                match rest.split_first() {
                    _ if next.is_empty() => false,
                    Some((_, more)) => self.common(&next, more, step, other),
                    None => !self.after(states, other, delay, gate, &values).is_empty(),
                }
            })
        })
    }
}

/// A system that plays the model.
pub struct System<'m> {
    model: &'m Model,
    state: ConcreteState,
}

impl<'m> System<'m> {
    pub fn new(model: &'m Model, unknown: i64) -> Self {
        Self { model, state: initial(model, unknown) }
    }

    /// Draws an output or an observed input before the time-out, or silence if it is allowed or nothing else is
    /// possible.
    pub fn spontaneous(&self, rng: &mut ChaCha8Rng, timeout: i64) -> (i64, CaseEvent) {
        let mut possible = Vec::new();
        for at in (0..timeout).step_by(5) {
            let heard = messages(self.model, &self.state, at, |kind| kind != GateKind::Input);
            possible.extend(heard.map(|(gate, values)| (at, CaseEvent::Message(gate, values))));
        }
        let could_wait = {
            let later = (timeout..=timeout + HORIZON).step_by(5).any(|at| {
                messages(self.model, &self.state, at, |kind| kind != GateKind::Input).next().is_some()
            });
            let outputs = (0..=HORIZON).step_by(5).any(|at| {
                messages(self.model, &self.state, at, |kind| kind == GateKind::Output).next().is_some()
            });
            later || !outputs
        };
        if could_wait {
            possible.push((timeout, CaseEvent::Silence));
        }
        let choice = rng.random_range(0..possible.len().max(1));
        possible.into_iter().nth(choice).unwrap_or((timeout, CaseEvent::Silence))
    }

    /// Follows the message or the silence; `None` if no switch takes it.
    pub fn take(&mut self, delay: &Rational, event: &CaseEvent) -> Option<()> {
        let tenths = (delay * Rational::from(10)).floor().to_i64()?;
        let CaseEvent::Message(gate, values) = event else {
            self.state = concrete::advance_clocks(&self.model.sts, &self.state, delay);
            return Some(());
        };
        let switches = self.model.sts.switches_from(self.state.loc);
        let mut next = switches
            .filter(|(_, switch)| switch.gate == *gate)
            .filter_map(|(_, switch)| taken(self.model, &self.state, switch, tenths, values));
        self.state = next.next()?;
        Some(())
    }
}

pub fn initial(model: &Model, unknown: i64) -> ConcreteState {
    let mut values = Valuation::new();
    for var in &model.sts.vars {
        let value = match var.init {
            Some(term) => model.pool.eval(term, &Valuation::new()).unwrap(),
            None => Value::int(unknown),
        };
        values.set(var.var, value);
    }
    for clock in &model.sts.clocks {
        values.set(clock.var, Value::Real(Rational::ZERO));
    }
    ConcreteState { loc: model.sts.initial, values }
}

/// The messages of a wanted kind that are possible after this many tenths of a second.
pub fn messages<'m>(
    model: &'m Model,
    state: &'m ConcreteState,
    at: i64,
    wanted: fn(GateKind) -> bool,
) -> impl Iterator<Item = (GateId, Vec<Value>)> + 'm {
    let switches =
        model.sts.switches_from(state.loc).filter(move |(_, switch)| wanted(model.sts.kind_of(switch)));
    switches.flat_map(move |(_, switch)| {
        let values = choices(model.sts.gates[switch.gate].fields.len()).into_iter();
        values
            .filter(move |values| taken(model, state, switch, at, values).is_some())
            .map(move |values| (switch.gate, values))
    })
}

pub fn taken(
    model: &Model,
    state: &ConcreteState,
    switch: &Switch,
    tenths: i64,
    values: &[Value],
) -> Option<ConcreteState> {
    let state = concrete::advance_clocks(&model.sts, state, &seconds(tenths));
    let enabled = concrete::is_enabled(&model.pool, &model.sts, &state, switch, values).unwrap();
    enabled.then(|| concrete::successor(&model.pool, &model.sts, &state, switch, values).unwrap())
}

/// All values of this many fields.
pub fn choices(fields: usize) -> Vec<Vec<Value>> {
    if fields == 0 { vec![Vec::new()] } else { (0..3).map(|n| vec![Value::int(n)]).collect() }
}
