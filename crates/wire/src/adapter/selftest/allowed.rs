//! Inputs that the model allows: in its first state if possible, else somewhere.

use serde_json::{Map, Value as Json};

use ioxide_model::sts::{GateId, GateKind, Model, Switch};
use ioxide_model::term::Term;
use ioxide_model::valuation::Valuation;
use ioxide_record::value::value_to_json;
use ioxide_smt::solver::Solver;

use super::sample::by_sort;

/// An input for every kind, as far as the solver finds one that some transition takes.
#[derive(Clone, Debug, Default)]
pub struct AllowedInputs(Vec<(String, Map<String, Json>)>);

impl AllowedInputs {
    /// Asks `solver` for values that the guards of `model` allow.
    #[must_use]
    pub fn new(model: &Model, solver: &mut dyn Solver) -> Self {
        let mut model = model.clone();
        let gates: Vec<GateId> = model.sts.gates.iter_enumerated().map(|(id, _)| id).collect();
        let inputs = gates.into_iter().filter(|gate| model.sts.gates[*gate].kind == GateKind::Input);
        let inputs: Vec<GateId> = inputs.collect();
        Self(inputs.into_iter().filter_map(|gate| allowed_message(&mut model, solver, gate)).collect())
    }

    /// Returns the arguments of the input called `label`, if allowed ones were found.
    pub(super) fn get(&self, label: &str) -> Option<&Map<String, Json>> {
        self.0.iter().find(|(name, _)| name == label).map(|(_, args)| args)
    }
}

fn allowed_message(
    model: &mut Model,
    solver: &mut dyn Solver,
    gate: GateId,
) -> Option<(String, Map<String, Json>)> {
    let start = model.sts.initial;
    let mut switches: Vec<Switch> =
        model.sts.switches.iter().filter(|one| one.gate == gate).cloned().collect();
    switches.sort_by_key(|one| one.source != start);
    let found = switches.iter().find_map(|one| {
        let mut facts = if one.source == start { initial_values(model) } else { Vec::new() };
        facts.push(one.guard);
        solver.check(&mut model.pool, &facts).valuation()
    })?;
    let args = arguments(model, gate, &found)?;
    Some((model.sts.gates[gate].name.to_string(), args))
}

/// Returns an equation for every variable that has an initial value.
fn initial_values(model: &mut Model) -> Vec<Term> {
    let vars = model.sts.vars.iter().filter_map(|one| Some((one.var, one.init?))).collect::<Vec<_>>();
    let equal = |(var, init)| {
        let var = model.pool.var(var);
        model.pool.eq(var, init)
    };
    vars.into_iter().map(equal).collect()
}

/// Returns values for all fields, plain ones where no guard constrains a field; `None` if a sort has no plain value.
fn arguments(model: &Model, gate: GateId, found: &Valuation) -> Option<Map<String, Json>> {
    let argument = |&field: &_| {
        let var = model.pool.var_info(field);
        let value = found.get(field).map(|value| value_to_json(&model.pool, value));
        Some((var.name.to_string(), value.or_else(|| by_sort(&model.pool, var.sort, 0))?))
    };
    model.sts.gates[gate].fields.iter().map(argument).collect()
}
