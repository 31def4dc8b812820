//! The values that the model expected, solved: `v == -996` instead of a formula that has no other solution.

use ioxide_model::sts::SwitchId;
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::solver::{SolverAnswer, SolverDecision};
use ioxide_symex::{Belief, Ctx, Forbidden, SwitchOffer};

/// The number of offers that are solved. Chosen by feel: more are not read, and each takes a few solver queries.
const MAX_SOLVED: usize = 16;

/// Returns the messages allowed instead of the forbidden one, in the same order. A field that can have one value only
/// is equated with it, so that the value can be shown.
pub(crate) fn solve_offers(cx: &mut Ctx<'_>, forbidden: &Forbidden) -> Vec<SwitchOffer> {
    // Facts about unknown values belong to one state. With several, an offer does not say whose it is; it is then
    // solved without them, which determines less but nothing wrong.
    let path = match &forbidden.before {
        Belief::Symbolic(states) => match &states[..] {
            [state] => state.path.facts().to_vec(),
            _ => Vec::new(),
        },
        Belief::Concrete(_) | Belief::Unspecified => Vec::new(),
    };
    let (head, rest) = forbidden.allowed.split_at(forbidden.allowed.len().min(MAX_SOLVED));
    let mut offers: Vec<SwitchOffer> = Vec::new();
    let mut known: Vec<(SwitchId, Term)> = Vec::new();
    for offer in head {
        let solved = SwitchOffer { when: solve_fields(cx, &path, offer), ..offer.clone() };
        // Two formulas may have the same solution.
        if !known.contains(&(solved.switch, solved.when)) {
            known.push((solved.switch, solved.when));
            offers.push(solved);
        }
    }
    offers.extend_from_slice(rest);
    offers
}

/// Returns the condition of an offer, equal to the original under the facts in `path`, with an equation for every field
/// that it determines.
fn solve_fields(cx: &mut Ctx<'_>, path: &[Term], offer: &SwitchOffer) -> Term {
    let sts = cx.sts;
    let fields = &sts.gates[offer.gate].fields;
    let conjuncts = cx.pool.conjuncts(offer.when);
    let is_given = |field: &VarId| conjuncts.iter().any(|&part| cx.pool.value_given(part, *field).is_some());
    if fields.iter().all(is_given) && conjuncts.len() == fields.len() {
        return offer.when;
    }
    let mut facts: Vec<Term> = path.iter().copied().chain([offer.when]).collect();
    let SolverAnswer::Sat(valuation) = cx.check(&facts) else { return offer.when };
    let mut solved: Vec<Term> = Vec::new();
    let mut values = Substitution::default();
    for &field in fields {
        let Some(value) = valuation.get(field).cloned() else { continue };
        let (variable, constant) = (cx.pool.var(field), cx.pool.value(value));
        let equation = cx.pool.eq(variable, constant);
        facts.push(cx.pool.not(equation));
        // Unknown is no proof that the value is the only one: the formula stays.
        if cx.decide(&facts) == SolverDecision::Unsat {
            solved.push(equation);
            values.set(field, constant);
        }
        facts.pop();
    }
    if solved.is_empty() {
        return offer.when;
    }
    for conjunct in conjuncts {
        let rest = cx.pool.substitute(conjunct, &values);
        if !is_implied(cx, path, rest) {
            solved.push(rest);
        }
    }
    cx.pool.and(solved)
}

/// Returns whether `fact` holds wherever the facts in `path` hold.
fn is_implied(cx: &mut Ctx<'_>, path: &[Term], fact: Term) -> bool {
    if cx.pool.is_true(fact) {
        return true;
    }
    let mut facts = path.to_vec();
    facts.push(cx.pool.not(fact));
    cx.decide(&facts) == SolverDecision::Unsat
}
