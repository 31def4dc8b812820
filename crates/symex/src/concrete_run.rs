//! Paths of switches as runs with values: what was sent, received and waited.

use std::sync::Arc;

use ioxide_model::label::{Label, readable};
use ioxide_model::number::Rational;
use ioxide_model::sts::{GateKind, LocId, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;
use ioxide_smt::solver::SolverAnswer;

use crate::cx::Ctx;
use crate::quiescence::quiescence_condition;
use crate::state::{SymState, advance_substitution};
use crate::step::successor;

/// A step of a [`ConcreteRun`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConcreteRunStep {
    /// The label of its switch.
    pub label: Arc<str>,
    /// The time before it in seconds; `None` without clocks.
    pub delay: Option<Rational>,
    /// The message with its values, `?ask(n: 3)`; `None` for an internal step.
    pub message: Option<String>,
    /// The place in which it ends.
    pub place: String,
}

/// A run of a model, as an example for a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConcreteRun {
    /// Its steps.
    pub steps: Vec<ConcreteRunStep>,
    /// The values of the variables at its end, `name = value`.
    pub values: Vec<String>,
    /// The way it goes on: silence, time that passes, or steps that repeat; `None` if nothing is to be said.
    pub ending: Option<String>,
}

impl ConcreteRun {
    /// Returns its steps and its ending as text, one entry each: `+2s ?ask(n: 3)`, `(retry)` for an internal step.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let step = |step: &ConcreteRunStep| {
            let message = step.message.clone();
            let message = message.unwrap_or_else(|| format!("({})", step.label));
            match &step.delay {
                Some(delay) if !delay.is_zero() => format!("+{}s {message}", readable(delay)),
                _ => message,
            }
        };
        self.steps.iter().map(step).chain(self.ending.clone()).collect()
    }
}

/// Returns a run along `path` at whose end `condition` holds, a formula over the variables there; `None` if none is
/// found. In a timed model, the run waits only as long as the model allows.
pub fn find_concrete_run(cx: &mut Ctx<'_>, path: &[SwitchId], condition: Term) -> Option<ConcreteRun> {
    let mut states = vec![SymState::initial(cx)];
    let mut waits = Vec::new();
    for &id in path {
        let state = states.last().expect("the first state is there").clone();
        let next = successor(cx, &state, &cx.sts.switches[id]);
        // Only before inputs: the tester decides how long it waits for those. Every other step is due by its
        // own guard.
        if cx.sts.is_timed() && cx.sts.kind_of(&cx.sts.switches[id]) == GateKind::Input {
            waits.push(allowed_wait(cx, &state));
        }
        states.push(next);
    }
    let last = states.last().expect("the first state is there").clone();
    // The path condition, the waits, and the condition at the end are one query, so the values fit together.
    let mut facts = last.path.facts().to_vec();
    facts.extend(waits);
    facts.push(cx.pool.substitute(condition, &last.store.substitution(cx.sts)));
    let valuation = match cx.check(&facts) {
        SolverAnswer::Sat(valuation) => valuation,
        SolverAnswer::Unsat | SolverAnswer::Unknown(_) => return None,
    };
    let ends = path.iter().zip(&states[1..]);
    let steps = ends.map(|(&id, end)| run_step(cx, id, end, &valuation)).collect();
    let data = last.store.iter(cx.sts).filter(|(var, _)| cx.sts.is_data(*var));
    let text = |(var, term)| {
        let value = evaluate(cx, term, &valuation)?;
        Some(format!("{} = {}", cx.pool.var_info(var).name, cx.pool.show_value(&value)))
    };
    Some(ConcreteRun { steps, values: data.filter_map(text).collect(), ending: None })
}

fn run_step(cx: &mut Ctx<'_>, id: SwitchId, after: &SymState, valuation: &Valuation) -> ConcreteRunStep {
    let switch = &cx.sts.switches[id];
    let gate = &cx.sts.gates[switch.gate];
    let mut value = |base| {
        // The fields and the delay of a step are numbered by the depth of the state behind it.
        let var = cx.pool.indexed_var(base, after.depth);
        let known = valuation.get(var).cloned();
        known.unwrap_or_else(|| cx.pool.default_value(cx.pool.var_info(base).sort))
    };
    let fields: Vec<Value> = gate.fields.iter().map(|&field| value(field)).collect();
    let waited = value(cx.delay).to_rational().unwrap_or(Rational::ZERO);
    let message = Label::message(cx.sts, switch.gate, fields).map(|label| label.show(cx.pool, cx.sts));
    let delay = cx.sts.is_timed().then_some(waited);
    let place = cx.sts.place_text(after.loc, |var| {
        let term = after.store.get(cx.sts, var)?;
        evaluate(cx, term, valuation)
    });
    ConcreteRunStep { label: switch.label.clone(), delay, message, place }
}

/// Returns the value of `term` under `valuation`, in which variables without a value have the default of their sort;
/// `None` if it cannot be computed.
pub(crate) fn evaluate(cx: &Ctx<'_>, term: Term, valuation: &Valuation) -> Option<Value> {
    if let Some(value) = cx.pool.as_value(term) {
        return Some(value.clone());
    }
    let mut values = Valuation::new();
    for var in cx.pool.free_vars(term) {
        let value = valuation.get(var).cloned();
        values.set(var, value.unwrap_or_else(|| cx.pool.default_value(cx.pool.var_info(var).sort)));
    }
    cx.pool.eval(term, &values).ok()
}

/// Returns the condition that `state` may be silent for the delay before its next step: it was quiescent when it was
/// entered, or something that the tester does not send is still possible after the delay.
fn allowed_wait(cx: &mut Ctx<'_>, state: &SymState) -> Term {
    let quiet = quiescence_condition(cx, state.loc);
    let later = reaction_after(cx, state.loc);
    let delay = cx.pool.indexed_var(cx.delay, state.depth + 1);
    let delay = cx.pool.var(delay);
    // `quiet` speaks of the moment of arrival, `later` of that after the delay. Only the second is advanced.
    let mut names = state.store.substitution(cx.sts);
    let quiet = cx.pool.substitute(quiet, &names);
    advance_substitution(cx.pool, cx.sts, &mut names, delay);
    let later = cx.pool.substitute(later, &names);
    cx.pool.or([quiet, later])
}

/// Returns the condition that an output, an observed input or an internal step is possible now or later.
pub(crate) fn reaction_after(cx: &mut Ctx<'_>, loc: LocId) -> Term {
    let sts = cx.sts;
    let mut possible = Vec::new();
    for (_, switch) in sts.switches_from(loc) {
        if sts.kind_of(switch) != GateKind::Input {
            possible.push(crate::quiescence::can_react(cx, switch));
        }
    }
    cx.pool.or(possible)
}
