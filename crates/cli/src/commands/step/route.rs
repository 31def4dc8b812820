//! A way to a state: labels that bring the model there, found by symbolic execution.

use std::sync::Arc;

use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, LocId, Model};
use ioxide_model::suggest::nearest_name;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::{Solver, SolverAnswer};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::{NoPurpose, TestPurpose, of_goal};

use crate::exit::{CliError, ExitStatus};

/// The search looks at no more states.
const LIMITS: ExploreLimits = ExploreLimits { max_states: 20_000, max_depth: u32::MAX };

/// Labels that may bring `model` to the state called `state`.
pub fn labels_to(model: &mut Model, solver: &mut dyn Solver, state: &str) -> Result<Vec<Label>, CliError> {
    let location = location(model, state)?;
    if model.sts.is_timed() {
        return Err(CliError::usage("`--at` does not know when to wait: the model has clocks")
            .help("step there by hand, or open a recorded run with `--from`"));
    }
    if location == model.sts.initial {
        return Ok(Vec::new());
    }
    let when = model.pool.tt();
    let span = model.sts.locations[location].span;
    let kind = GoalKind::Reach { location: Some(location), when };
    let goal = Goal { name: Arc::from(state), kind, span, doc: String::new(), reqs: Vec::new() };
    let mut cx = Ctx::new(model, solver);
    let purpose = of_goal(&mut cx, &goal, LIMITS).map_err(|why| no_way(state, &why))?;
    let facts: Vec<_> =
        purpose.steps.iter().flat_map(|step| &step.facts).chain(&purpose.end).copied().collect();
    match cx.solver.check(cx.pool, &facts) {
        SolverAnswer::Sat(values) => Ok(labels(&mut cx, &purpose, &values)),
        SolverAnswer::Unsat | SolverAnswer::Unknown(_) => Err(CliError::new(
            ExitStatus::Inconclusive,
            format!("no values are known that lead to `{state}`"),
        )),
    }
}

fn location(model: &Model, state: &str) -> Result<LocId, CliError> {
    model.sts.location_named(state).ok_or_else(|| {
        let names = model.sts.locations.iter().map(|location| &*location.name);
        let stop = CliError::usage(format!("the model has no state `{state}`"));
        match nearest_name(state, names) {
            Some(near) => stop.help(format!("did you mean `{near}`?")),
            None => stop.help("`ioxide show` lists the states"),
        }
    })
}

fn no_way(state: &str, why: &NoPurpose) -> CliError {
    CliError::new(ExitStatus::Inconclusive, format!("no way to `{state}` was found: {why}"))
}

/// The messages of the path; internal steps are none. A field that nothing was asked of may have any value.
fn labels(cx: &mut Ctx<'_>, purpose: &TestPurpose, values: &Valuation) -> Vec<Label> {
    let mut labels = Vec::new();
    for (depth, switch) in (1..).zip(purpose.path()) {
        let id = cx.sts.switches[switch].gate;
        let gate = &cx.sts.gates[id];
        let fields: Vec<Value> = gate
            .fields
            .iter()
            .map(|&field| {
                let var = cx.pool.indexed_var(field, depth);
                values.get(var).cloned().unwrap_or_else(|| cx.pool.default_value(cx.pool.var_info(var).sort))
            })
            .collect();
        match gate.kind {
            GateKind::Internal => {}
            GateKind::Input | GateKind::Observed => labels.push(Label::Input(id, fields)),
            GateKind::Output => labels.push(Label::Output(id, fields)),
        }
    }
    labels
}
