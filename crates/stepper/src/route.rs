//! A way to a state: labels that bring the model there, found by symbolic execution.

use std::sync::Arc;

use ioxide_model::goal::{Goal, GoalFrame, GoalKind};
use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, LocId, Model};
use ioxide_model::suggest::nearest_name;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::{Solver, SolverAnswer};
use ioxide_symex::{Ctx, ExploreLimits};
use ioxide_testgen::purpose::{NoPurpose, TestPurpose, of_goal};
use thiserror::Error;

/// The search looks at no more states. Chosen by feel: it bounds the time.
const LIMITS: ExploreLimits = ExploreLimits { max_states: 20_000, max_depth: u32::MAX };

/// The reason why there is no way to a state.
#[derive(Debug, Error)]
pub enum RouteError {
    /// The model has no state of this name; one with a name like it may be meant.
    #[error("the model has no state `{state}`")]
    NoState {
        /// The name.
        state: String,
        /// A name like it.
        near: Option<String>,
    },
    /// The model has clocks.
    #[error("`--at` does not know when to wait: the model has clocks")]
    Timed,
    /// No way was found, for this reason.
    #[error("no way to `{0}` was found: {1}")]
    NoWay(String, NoPurpose),
    /// The solver knows no values.
    #[error("no values are known that lead to `{0}`")]
    NoValues(String),
}

/// Finds labels that may bring `model` to the state called `state`.
///
/// # Errors
/// If there is no such state, or no way to it is found.
pub fn find_labels_to(
    model: &mut Model,
    solver: &mut dyn Solver,
    state: &str,
) -> Result<Vec<Label>, RouteError> {
    let location = find_location(model, state)?;
    if model.sts.is_timed() {
        return Err(RouteError::Timed);
    }
    if location == model.sts.initial {
        return Ok(Vec::new());
    }
    let when = model.pool.tt();
    let span = model.sts.locations[location].span;
    let kind = GoalKind::Reach { location: Some(location), when };
    let goal = Goal {
        name: Arc::from(state),
        kind,
        span,
        doc: String::new(),
        reqs: Vec::new(),
        frame: GoalFrame::default(),
    };
    let mut cx = Ctx::new(model, solver);
    let purpose = of_goal(&mut cx, &goal, LIMITS).map_err(|why| RouteError::NoWay(state.to_owned(), why))?;
    let facts: Vec<_> =
        purpose.steps.iter().flat_map(|step| &step.facts).chain(&purpose.end).copied().collect();
    match cx.solver.check(cx.pool, &facts) {
        SolverAnswer::Sat(values) => Ok(path_labels(&mut cx, &purpose, &values)),
        SolverAnswer::Unsat | SolverAnswer::Unknown(_) => Err(RouteError::NoValues(state.to_owned())),
    }
}

fn find_location(model: &Model, state: &str) -> Result<LocId, RouteError> {
    model.sts.location_named(state).ok_or_else(|| {
        let names = model.sts.locations.iter().map(|location| &*location.name);
        RouteError::NoState { state: state.to_owned(), near: nearest_name(state, names).map(str::to_owned) }
    })
}

/// The messages of the path; internal steps are none. A field that nothing was asked of may have any value.
fn path_labels(cx: &mut Ctx<'_>, purpose: &TestPurpose, values: &Valuation) -> Vec<Label> {
    let mut labels = Vec::new();
    for (depth, step) in (1..).zip(purpose.path()) {
        let Some(switch) = step.switch() else {
            labels.push(Label::Quiescence);
            continue;
        };
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
