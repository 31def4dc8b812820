//! Names of classes and answers, short and in the model's own words.
//!
//! A condition class is named by its location and the values its conditions fix, then the conditions that say more;
//! answers have the value of a term where the classes fix it, so that equal answers have equal names.

use ioxide_model::label::SILENCE;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::Ctx;

use super::react::OutputTerms;
use super::{Abstraction, ClassStep};

/// Names the classes and fixes the terms of answers.
pub(super) fn name_classes(cx: &mut Ctx<'_>, abstraction: &mut Abstraction) {
    for state in 0..abstraction.states.len() {
        let (loc, facts) = (abstraction.states[state].loc, abstraction.states[state].facts.clone());
        let short = shorten_facts(cx, &facts);
        let location = cx.sts.locations[loc].name.to_string();
        abstraction.states[state].name = with_conditions(cx, location, &short);
    }
    for input in 0..abstraction.inputs.len() {
        let (gate, when) = (abstraction.inputs[input].gate, abstraction.inputs[input].when);
        let conjuncts = cx.pool.conjuncts(when);
        let short = shorten_facts(cx, &conjuncts);
        let gate = cx.sts.gates[gate].name.to_string();
        abstraction.inputs[input].name = with_conditions(cx, gate, &short);
    }
    make_unique(abstraction.states.iter_mut().map(|state| &mut state.name));
    make_unique(abstraction.inputs.iter_mut().map(|input| &mut input.name));
    for state in 0..abstraction.states.len() {
        for input in 0..abstraction.inputs.len() {
            fix_answers(cx, abstraction, state, input);
        }
    }
}

fn with_conditions(cx: &Ctx<'_>, name: String, facts: &[Term]) -> String {
    let shown: Vec<String> = facts.iter().map(|&fact| cx.pool.show(fact).to_string()).collect();
    if shown.is_empty() { name } else { format!("{name} [{}]", shown.join(" && ")) }
}

/// Adds a number to names that occur before.
fn make_unique<'n>(names: impl Iterator<Item = &'n mut String>) {
    let mut seen = std::collections::BTreeMap::new();
    for name in names {
        let count = seen.entry(name.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            *name = format!("{name} #{count}");
        }
    }
}

/// Returns an equivalent condition with fewer facts: the values of variables that it fixes, then the facts that do not
/// follow.
fn shorten_facts(cx: &mut Ctx<'_>, facts: &[Term]) -> Vec<Term> {
    let mut known: Vec<Term> = fixed_equations(cx, facts);
    let mut rest: Vec<Term> = facts.to_vec();
    let mut at = 0;
    while at < rest.len() {
        let mut others = known.clone();
        others.extend(rest.iter().enumerate().filter(|&(i, _)| i != at).map(|(_, &fact)| fact));
        others.push(cx.pool.not(rest[at]));
        // A fact stays unless it is shown to follow: an open question makes a name longer, not wrong.
        match cx.decide(&others) {
            SolverDecision::Unsat => drop(rest.remove(at)),
            _ => at += 1,
        }
    }
    known.extend(rest);
    known
}

/// The equations `variable == value` that follow from `facts`.
fn fixed_equations(cx: &mut Ctx<'_>, facts: &[Term]) -> Vec<Term> {
    let vars: Vec<VarId> = cx.pool.free_vars_of(facts);
    let values = fixed_values(cx, facts);
    let mut found = Vec::new();
    for var in vars {
        let Some(value) = values.get(var) else { continue };
        let var = cx.pool.var(var);
        let equal = cx.pool.eq(var, value);
        if !facts.contains(&equal) {
            found.push(equal);
        }
    }
    found
}

/// The variables of `facts` that can have one value only, with that value.
pub(super) fn fixed_values(cx: &mut Ctx<'_>, facts: &[Term]) -> Substitution {
    let mut found = Substitution::new();
    // One solution gives the candidates. Each is kept only if no other value is possible.
    let SolverAnswer::Sat(valuation) = cx.check(facts) else { return found };
    for var in cx.pool.free_vars_of(facts) {
        let Some(value) = valuation.get(var).cloned() else { continue };
        let (term, value) = (cx.pool.var(var), cx.pool.value(value));
        let equal = cx.pool.eq(term, value);
        let mut others = facts.to_vec();
        others.push(cx.pool.not(equal));
        if cx.decide(&others) == SolverDecision::Unsat {
            found.set(var, value);
        }
    }
    found
}

/// Replaces terms of answers by their values where the classes fix them.
fn fix_answers(cx: &mut Ctx<'_>, abstraction: &mut Abstraction, state: usize, input: usize) {
    let mut facts = abstraction.states[state].facts.clone();
    facts.extend(cx.pool.conjuncts(abstraction.inputs[input].when));
    let ClassStep::Taken(outcomes) = &mut abstraction.steps[state][input] else { return };
    for outputs in outcomes.iter_mut().flat_map(|outcome| &mut outcome.outputs) {
        if !outputs.is_loose {
            outputs.values.iter_mut().for_each(|term| *term = constant(cx, &facts, *term));
        }
    }
}

/// The value of `term` under `facts` if there is only one, else the term.
fn constant(cx: &mut Ctx<'_>, facts: &[Term], term: Term) -> Term {
    if cx.pool.is_ground(term) {
        return term;
    }
    let SolverAnswer::Sat(mut valuation) = cx.check(facts) else { return term };
    // Variables that the facts leave open have no value in the solution. Any will do, because the result is
    // checked below.
    for var in cx.pool.free_vars(term) {
        if valuation.get(var).is_none() {
            valuation.set(var, cx.pool.default_value(cx.pool.var_info(var).sort));
        }
    }
    let Ok(value) = cx.pool.eval(term, &valuation) else { return term };
    let value = cx.pool.value(value);
    let equal = cx.pool.eq(term, value);
    let mut others = facts.to_vec();
    others.push(cx.pool.not(equal));
    if cx.decide(&others) == SolverDecision::Unsat { value } else { term }
}

/// Returns the name of an answer: its messages with terms, or silence.
pub(super) fn answer_name(cx: &Ctx<'_>, outputs: &[OutputTerms]) -> String {
    let message = |outputs: &OutputTerms| {
        let gate = &cx.sts.gates[outputs.gate];
        let field = |(&field, &term): (&VarId, &Term)| {
            format!("{}: {}", cx.pool.var_info(field).name, cx.pool.show(term))
        };
        let fields: Vec<String> = gate.fields.iter().zip(&outputs.values).map(field).collect();
        if fields.is_empty() {
            gate.name.to_string()
        } else {
            format!("{}({})", gate.name, fields.join(", "))
        }
    };
    match outputs {
        [] => SILENCE.to_owned(),
        _ => outputs.iter().map(message).collect::<Vec<_>>().join(", "),
    }
}
