//! Wrong updates: a system that computes another value for a variable, control being right.
//!
//! The rivals of an update are to leave the variable as it is, and the terms that other switches assign to it. A test
//! distinguishes a rival from the update if some later answer has other values with it. Where no test does, ways to the
//! switch are tried until the solver finds values for which the answer that next reveals the variable differs.

use ioxide_model::label::Label;
use ioxide_model::sts::GateId;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::Ctx;

use super::concretise::{after, field_values, is_equal_in};
use super::rivals::difference;
use super::{Abstraction, ClassOutcome};

/// The number of the first copy of a field in a word.
const FIRST_COPY: u32 = 200_000;
/// The greatest number of rivals of one update.
const MAX_RIVALS: usize = 6;

/// A wrong update: another term for a variable after an input class in a condition class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrongUpdate {
    pub(super) state: usize,
    pub(super) input: usize,
    pub(super) var: VarId,
    term: Term,
}

/// Every wrong update that differs from the right one for some values.
pub(super) fn wrong_updates(cx: &mut Ctx<'_>, found: &Abstraction) -> Vec<WrongUpdate> {
    let mut all = Vec::new();
    for state in 0..found.states.len() {
        for input in 0..found.inputs.len() {
            let Some(outcome) = found.outcomes(state, input).first() else { continue };
            for &(var, right) in &outcome.store {
                for term in rivals(cx, found, input, var, right) {
                    if differs(cx, found, (state, input), term, right) {
                        all.push(WrongUpdate { state, input, var, term });
                    }
                }
            }
        }
    }
    all
}

/// Returns the terms that could be assigned by mistake: the variable itself, terms assigned to it after the same input
/// class, and constants assigned to it after others.
fn rivals(cx: &mut Ctx<'_>, found: &Abstraction, input: usize, var: VarId, right: Term) -> Vec<Term> {
    let mut rivals = vec![cx.pool.var(var)];
    for state in 0..found.states.len() {
        for other in 0..found.inputs.len() {
            for outcome in found.outcomes(state, other) {
                let terms = outcome.store.iter().filter(|(own, _)| *own == var).map(|(_, term)| *term);
                rivals.extend(terms.filter(|&term| other == input || cx.pool.is_ground(term)));
            }
        }
    }
    let mut distinct: Vec<Term> = Vec::new();
    for term in rivals.into_iter().filter(|&term| term != right) {
        if !distinct.contains(&term) && distinct.len() < MAX_RIVALS {
            distinct.push(term);
        }
    }
    distinct
}

fn differs(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    (state, input): (usize, usize),
    term: Term,
    right: Term,
) -> bool {
    let mut facts = found.states[state].facts.clone();
    facts.push(found.inputs[input].when);
    facts.push(cx.pool.ne(term, right));
    cx.decide(&facts) != SolverDecision::Unsat
}

/// Returns whether an answer in `test`, whose input classes are `word`, changes with the wrong update.
pub(super) fn tells(
    cx: &Ctx<'_>,
    found: &Abstraction,
    word: &[usize],
    test: &[Label],
    wrong: &WrongUpdate,
) -> bool {
    let mut state = found.initial;
    let mut stores = (found.start.values.clone(), found.start.values.clone());
    for (&input, label) in word.iter().zip(test) {
        let (Label::Input(gate, values), Some(outcome)) = (label, found.outcomes(state, input).first())
        else {
            return false;
        };
        let fields = field_values(cx, *gate, values);
        if !is_equal_in(cx, &outcome.said, &fields, &stores.0, &stores.1) {
            return true;
        }
        let Some(next) = after(cx, &stores.0, *gate, values, outcome) else { return false };
        let due = ((state, input) == (wrong.state, wrong.input)).then_some(wrong);
        let Some(own) = after_wrong(cx, &stores.1, &fields, outcome, due) else {
            return false;
        };
        stores = (next, own);
        state = outcome.target;
    }
    false
}

/// The store of the system after a step; `due` is the wrong update if it applies at this step.
fn after_wrong(
    cx: &Ctx<'_>,
    store: &Valuation,
    fields: &Valuation,
    outcome: &ClassOutcome,
    due: Option<&WrongUpdate>,
) -> Option<Valuation> {
    let value = |&(var, term): &(VarId, Term)| {
        let term = due.filter(|wrong| wrong.var == var).map_or(term, |wrong| wrong.term);
        Some((var, cx.pool.eval(term, &(fields, store)).ok()?))
    };
    outcome.store.iter().map(value).collect()
}

/// Returns values for `word` with which its last answer changes with the wrong update; `None` if none were found.
pub(super) fn telling(
    cx: &mut Ctx<'_>,
    found: &Abstraction,
    word: &[usize],
    wrong: &WrongUpdate,
) -> Option<Vec<Label>> {
    let sts = cx.sts;
    let mut right = Substitution::new();
    for (var, value) in found.start.values.iter() {
        right.set(var, cx.pool.value(value.clone()));
    }
    let mut own = right.clone();
    let (mut facts, mut copies, mut state) = (Vec::new(), Vec::new(), found.initial);
    for (step, &input) in word.iter().enumerate() {
        let outcome = found.outcomes(state, input).first()?;
        let class = &found.inputs[input];
        let number = FIRST_COPY + u32::try_from(step).ok()?;
        let vars: Vec<VarId> =
            sts.gates[class.gate].fields.iter().map(|&field| cx.pool.indexed(field, number)).collect();
        for (&field, &var) in sts.gates[class.gate].fields.iter().zip(&vars) {
            let copy = cx.pool.var(var);
            right.set(field, copy);
            own.set(field, copy);
        }
        facts.push(cx.pool.substitute(class.when, &right));
        if step + 1 == word.len() {
            facts.push(last_differs(cx, outcome, &right, &own));
        }
        let is_due = (state, input) == (wrong.state, wrong.input);
        let (mut next, mut next_own) = (Substitution::new(), Substitution::new());
        for &(var, term) in &outcome.store {
            next.set(var, cx.pool.substitute(term, &right));
            let term = if is_due && var == wrong.var { wrong.term } else { term };
            next_own.set(var, cx.pool.substitute(term, &own));
        }
        (right, own, state) = (next, next_own, outcome.target);
        copies.push((class.gate, vars));
    }
    let SolverAnswer::Sat(valuation) = cx.check(&facts) else { return None };
    let value = |var| {
        valuation.get(var).cloned().unwrap_or_else(|| cx.pool.default_value(cx.pool.var_info(var).sort))
    };
    let label =
        |(gate, vars): (GateId, Vec<VarId>)| Label::Input(gate, vars.into_iter().map(value).collect());
    Some(copies.into_iter().map(label).collect())
}

/// The condition that the answer differs between two stores.
fn last_differs(cx: &mut Ctx<'_>, outcome: &ClassOutcome, right: &Substitution, own: &Substitution) -> Term {
    let mut sides = [outcome.said.clone(), outcome.said.clone()];
    for (said, names) in sides.iter_mut().zip([right, own]) {
        for message in said {
            message.values.iter_mut().for_each(|term| *term = cx.pool.substitute(*term, names));
        }
    }
    difference(cx, &sides[0], &sides[1])
}
