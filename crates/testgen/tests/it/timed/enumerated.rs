//! The states a timed model may be in, by enumeration of values and of multiples of half a second.

#![allow(dead_code, reason = "not every test uses everything here")]

use std::collections::BTreeSet;

use ioxide_model::concrete::{ConcreteState, advance_clocks};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};

use crate::common::seconds;

use super::oracle::{HORIZON, choices, initial, messages, taken};

/// Half a second, in tenths.
pub const TICK: usize = 5;

/// The states a model may be in, with when they were entered and how late it is, in tenths of a second.
pub struct Enumerated<'m> {
    model: &'m Model,
    /// The states just after the last message.
    pub entry: BTreeSet<ConcreteState>,
}

impl<'m> Enumerated<'m> {
    pub fn new(model: &'m Model) -> Self {
        Self { model, entry: (0..3).map(|unknown| initial(model, unknown)).collect() }
    }

    /// Every state that can be entered by internal steps within `tenths`, and when.
    fn entered(&self, tenths: i64) -> BTreeSet<(i64, ConcreteState)> {
        let mut found: BTreeSet<(i64, ConcreteState)> =
            self.entry.iter().map(|state| (0, state.clone())).collect();
        let mut todo: Vec<(i64, ConcreteState)> = found.iter().cloned().collect();
        while let Some((since, state)) = todo.pop() {
            for at in (since..=tenths).step_by(TICK) {
                for (_, switch) in self.model.sts.switches_from(state.loc) {
                    if self.model.sts.kind_of(switch) != GateKind::Internal {
                        continue;
                    }
                    let next = taken(self.model, &state, switch, at - since, &[]).map(|next| (at, next));
                    if let Some(next) = next.filter(|next| found.insert(next.clone())) {
                        todo.push(next);
                    }
                }
            }
        }
        found
    }

    /// Returns whether silence is possible for `tenths`.
    pub fn may_wait(&self, tenths: i64) -> bool {
        self.entered(tenths).iter().any(|(since, state)| may_wait(self.model, state, tenths - since))
    }

    /// The states in which, since they were entered, nothing could come without an input, after `tenths`.
    pub fn rested(&self, tenths: i64) -> BTreeSet<ConcreteState> {
        let quiet = self.entered(tenths).into_iter().filter(|(_, state)| is_quiet(self.model, state));
        quiet
            .map(|(since, state)| advance_clocks(&self.model.sts, &state, &seconds(tenths - since)))
            .collect()
    }

    /// The states after a message that comes after `tenths`: those that had to speak before it are ruled out.
    pub fn after(&self, tenths: i64, label: &Label) -> BTreeSet<ConcreteState> {
        let (Label::Input(gate, values) | Label::Output(gate, values)) = label else {
            return BTreeSet::new();
        };
        let mut next = BTreeSet::new();
        for (since, state) in self.entered(tenths) {
            if !may_wait(self.model, &state, tenths - since) {
                continue;
            }
            for (_, switch) in self.model.sts.switches_from(state.loc) {
                if switch.gate == *gate {
                    next.extend(taken(self.model, &state, switch, tenths - since, values));
                }
            }
        }
        next
    }
}

/// Returns whether `state`, just entered, may let this many tenths of a second pass.
pub fn may_wait(model: &Model, state: &ConcreteState, tenths: i64) -> bool {
    let speaks = |at: i64, wanted: fn(GateKind) -> bool| messages(model, state, at, wanted).next().is_some();
    let later =
        (tenths..=tenths + HORIZON).step_by(TICK).any(|at| speaks(at, |kind| kind != GateKind::Input));
    tenths == 0 || later || is_quiet(model, state)
}

/// Returns whether no output and no internal step can come from `state` any more without an input.
pub fn is_quiet(model: &Model, state: &ConcreteState) -> bool {
    let reacts = |kind| matches!(kind, GateKind::Output | GateKind::Internal);
    (0..=HORIZON).step_by(TICK).all(|at| messages(model, state, at, reacts).next().is_none())
}

/// Every message of a model.
pub fn all_messages(model: &Model) -> Vec<Label> {
    let gates = model.sts.gates.iter_enumerated().skip(1);
    let all =
        gates.flat_map(|(id, gate)| choices(gate.fields.len()).into_iter().map(move |values| (id, values)));
    all.filter_map(|(id, values)| Label::message(&model.sts, id, values)).collect()
}
