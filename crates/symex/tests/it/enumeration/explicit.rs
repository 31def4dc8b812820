//! The semantics of a finite model, enumerated: states, labels, steps; terms are only evaluated, and no solver is
//! asked.

use std::collections::BTreeSet;

use ioxide_model::concrete::{ConcreteState, initial_state, is_enabled, successor};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateId, GateKind, Model, Sts, SwitchId};
use ioxide_model::term::{TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

/// A model with all its states and steps.
pub(super) struct Explicit {
    pool: TermPool,
    pub(super) sts: Sts,
    pub(super) start: ConcreteState,
    /// Every reachable state.
    pub states: BTreeSet<ConcreteState>,
    /// Every switch that can be taken.
    pub taken: BTreeSet<SwitchId>,
    /// Every label there is, quiescence included.
    pub labels: Vec<Label>,
}

impl Explicit {
    pub fn explore(model: &Model) -> Self {
        let start = initial_state(&model.pool, &model.sts).expect("random models know their initial values");
        Self::explore_from(model, start)
    }

    pub fn explore_from(model: &Model, start: ConcreteState) -> Self {
        let (pool, sts) = (model.pool.clone(), model.sts.clone());
        let labels = all_labels(&pool, &sts);
        let mut world = Self {
            pool,
            sts,
            start: start.clone(),
            states: [start.clone()].into(),
            taken: BTreeSet::new(),
            labels,
        };
        let mut todo = vec![start];
        while let Some(state) = todo.pop() {
            for (id, next) in world.steps(&state) {
                world.taken.insert(id);
                if world.states.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
        world
    }

    /// Every step from `state`, whatever the values.
    pub(super) fn steps(&self, state: &ConcreteState) -> Vec<(SwitchId, ConcreteState)> {
        let gates: BTreeSet<GateId> =
            self.sts.switches_from(state.loc).map(|(_, switch)| switch.gate).collect();
        let messages =
            |gate| messages(&self.pool, &self.sts, gate).into_iter().map(move |values| (gate, values));
        let messages = gates.into_iter().flat_map(messages);
        messages.flat_map(|(gate, values)| self.steps_with(state, gate, &values)).collect()
    }

    /// Every step from `state` by this message.
    pub(super) fn steps_with(
        &self,
        state: &ConcreteState,
        gate: GateId,
        values: &[Value],
    ) -> Vec<(SwitchId, ConcreteState)> {
        let mut found = Vec::new();
        for (id, switch) in self.sts.switches_from(state.loc).filter(|(_, switch)| switch.gate == gate) {
            if is_enabled(&self.pool, &self.sts, state, switch, values).expect("known values") {
                let next = successor(&self.pool, &self.sts, state, switch, values).expect("known values");
                found.push((id, next));
            }
        }
        found
    }

    pub fn enabled_switches(&self, state: &ConcreteState) -> BTreeSet<SwitchId> {
        self.steps(state).into_iter().map(|(id, _)| id).collect()
    }

    pub fn is_quiescent(&self, state: &ConcreteState) -> bool {
        let kind = |id: &SwitchId| self.sts.kind_of(&self.sts.switches[*id]);
        !self
            .enabled_switches(state)
            .iter()
            .any(|id| matches!(kind(id), GateKind::Output | GateKind::Internal))
    }

    pub fn initial_belief(&self) -> BTreeSet<ConcreteState> {
        self.close_internally([self.start.clone()].into())
    }

    /// The belief after `label`, closed under internal steps.
    pub fn after(&self, belief: &BTreeSet<ConcreteState>, label: &Label) -> BTreeSet<ConcreteState> {
        let mut next = BTreeSet::new();
        for state in belief {
            match label {
                Label::Quiescence if self.is_quiescent(state) => next.extend([state.clone()]),
                Label::Quiescence | Label::Delay(_) => (),
                Label::Input(gate, values) | Label::Output(gate, values) => {
                    for (_, switch) in
                        self.sts.switches_from(state.loc).filter(|(_, switch)| switch.gate == *gate)
                    {
                        if is_enabled(&self.pool, &self.sts, state, switch, values).expect("known values") {
                            next.insert(
                                successor(&self.pool, &self.sts, state, switch, values)
                                    .expect("known values"),
                            );
                        }
                    }
                }
            }
        }
        self.close_internally(next)
    }

    fn close_internally(&self, mut belief: BTreeSet<ConcreteState>) -> BTreeSet<ConcreteState> {
        loop {
            let internal = |id: &SwitchId| self.sts.kind_of(&self.sts.switches[*id]) == GateKind::Internal;
            let more: Vec<ConcreteState> = belief
                .iter()
                .flat_map(|state| self.steps(state))
                .filter(|(id, _)| internal(id))
                .map(|(_, next)| next)
                .collect();
            let before = belief.len();
            belief.extend(more);
            if belief.len() == before {
                return belief;
            }
        }
    }
}

/// Every assignment of the domains to the variables.
pub(super) fn valuations(vars: &[VarId], domains: &[Vec<Value>]) -> Vec<Valuation> {
    let mut all = vec![Valuation::new()];
    for (&var, domain) in vars.iter().zip(domains) {
        let extend = |valuation: &Valuation, value: &Value| {
            let mut longer = valuation.clone();
            longer.set(var, value.clone());
            longer
        };
        all = all
            .iter()
            .flat_map(|valuation| domain.iter().map(move |value| extend(valuation, value)))
            .collect();
    }
    all
}

/// Every state at the initial location.
pub(super) fn all_starts(model: &Model) -> Vec<ConcreteState> {
    let vars: Vec<VarId> = model.sts.vars.iter().map(|var| var.var).collect();
    let domain = |var: &VarId| model.pool.finite_domain(model.pool.var_info(*var).sort).expect("finite");
    let domains: Vec<_> = vars.iter().map(domain).collect();
    let state = |values| ConcreteState { loc: model.sts.initial, values };
    valuations(&vars, &domains).into_iter().map(state).collect()
}

/// Every combination of field values of `gate`.
fn messages(pool: &TermPool, sts: &Sts, gate: GateId) -> Vec<Vec<Value>> {
    let fields = &sts.gates[gate].fields;
    let domain = |field: &VarId| pool.finite_domain(pool.var_info(*field).sort).expect("finite");
    let domains: Vec<_> = fields.iter().map(domain).collect();
    let values = |valuation: Valuation| {
        fields.iter().map(|field| valuation.get(*field).expect("set").clone()).collect()
    };
    valuations(fields, &domains).into_iter().map(values).collect()
}

fn all_labels(pool: &TermPool, sts: &Sts) -> Vec<Label> {
    let mut labels = vec![Label::Quiescence];
    for gate in sts.gates.ids() {
        let messages = messages(pool, sts, gate).into_iter();
        labels.extend(messages.filter_map(|values| Label::message(sts, gate, values)));
    }
    labels
}
