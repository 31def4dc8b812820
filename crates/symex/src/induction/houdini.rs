//! The largest set of candidates that holds at the start and that every switch preserves.
//!
//! Candidates that some switch breaks are dropped until none is broken. What is left holds in every reachable state, by
//! induction, because each candidate may assume all the others before the step.

use std::collections::{BTreeMap, BTreeSet};

use ioxide_model::index::IndexVec;
use ioxide_model::sts::{LocId, SwitchId};
use ioxide_model::term::Term;
use ioxide_model::valuation::Valuation;
use ioxide_smt::solver::{SolverAnswer, SolverDecision};

use super::atoms::StateSamples;
use super::sizes;
use crate::concrete_run::evaluate;
use crate::cx::Ctx;
use crate::state::{PathCondition, Store, SymState};
use crate::step::successor;

/// Candidates for invariants, by location.
pub(super) type Candidates = IndexVec<LocId, Vec<Term>>;

/// Returns the state after `id` from any state of its source, with the guard as its path.
pub(crate) fn step_from_anywhere(cx: &mut Ctx<'_>, id: SwitchId) -> SymState {
    let switch = &cx.sts.switches[id];
    let store = Store::identity(cx.pool, cx.sts);
    let state = SymState { loc: switch.source, store, path: PathCondition::default(), depth: 0 };
    successor(cx, &state, switch)
}

/// Keeps the candidates of the first location that hold in every initial state.
pub(super) fn retain_initial(cx: &mut Ctx<'_>, start: &SymState, candidates: &mut Candidates) {
    let names = start.store.substitution(cx.sts);
    let mut kept = Vec::new();
    for term in std::mem::take(&mut candidates[start.loc]) {
        let here = cx.pool.substitute(term, &names);
        let broken = cx.pool.not(here);
        let mut facts = start.path.facts().to_vec();
        facts.push(broken);
        if matches!(sizes::decide_by_sizes(cx, &facts), SolverDecision::Unsat) {
            kept.push(term);
        }
    }
    candidates[start.loc] = kept;
}

/// Drops the candidates that a reachable state breaks.
pub(super) fn retain_sampled(cx: &mut Ctx<'_>, samples: &StateSamples, candidates: &mut Candidates) {
    for (loc, states) in samples.iter_enumerated() {
        candidates[loc].retain(|&term| states.iter().all(|state| !is_false(cx, term, state)));
    }
}

/// Drops candidates until every switch preserves those that are left.
pub(super) fn retain_inductive(cx: &mut Ctx<'_>, candidates: &mut Candidates) {
    let steps: BTreeMap<SwitchId, SymState> = {
        let ids: Vec<SwitchId> = cx.sts.switches.iter_enumerated().map(|(id, _)| id).collect();
        ids.into_iter().map(|id| (id, step_from_anywhere(cx, id))).collect()
    };
    let mut todo: BTreeSet<SwitchId> = steps.keys().copied().collect();
    while let Some(id) = todo.pop_first() {
        if cx.halt_reason().is_some() {
            // What has not been shown to be preserved is no invariant.
            candidates.iter_mut().for_each(Vec::clear);
            return;
        }
        if drop_broken(cx, candidates, cx.sts.switches[id].source, &steps[&id]) {
            todo.extend(cx.sts.switches_from(steps[&id].loc).map(|(id, _)| id));
            // A switch that stays in its location assumes what was just dropped.
            todo.insert(id);
        }
    }
}

/// Drops the candidates that may not hold after the step `next` from `source`; returns whether there are some.
fn drop_broken(cx: &mut Ctx<'_>, candidates: &mut Candidates, source: LocId, next: &SymState) -> bool {
    let names = next.store.substitution(cx.sts);
    let mut facts = next.path.facts().to_vec();
    facts.extend(&candidates[source]);
    // What the step does not touch is still there.
    let mut open: Vec<(Term, Term)> = Vec::new();
    for &term in &candidates[next.loc] {
        let after = cx.pool.substitute(term, &names);
        if !cx.pool.is_true(after) && !facts.contains(&after) {
            open.push((term, after));
        }
    }
    // All at once, so that the same collection has the same size everywhere.
    let n_facts = facts.len();
    let mut all = facts;
    all.extend(open.iter().map(|(_, after)| *after));
    let sized = sizes::sized_terms(cx, &all);
    let mut facts = sized.terms[..n_facts].to_vec();
    facts.extend(sized.facts);
    open.iter_mut().zip(&sized.terms[n_facts..]).for_each(|((_, after), &image)| *after = image);
    let mut broken: BTreeSet<Term> = BTreeSet::new();
    while !open.is_empty() {
        let all = cx.pool.and(open.iter().map(|(_, after)| *after).collect::<Vec<_>>());
        let some_broken = cx.pool.not(all);
        facts.push(some_broken);
        let answer = cx.check(&facts);
        facts.pop();
        let before = open.len();
        match answer {
            SolverAnswer::Unsat => break,
            SolverAnswer::Sat(valuation) => {
                open.retain(|&(term, after)| {
                    let is_kept = !is_false(cx, after, &valuation);
                    if !is_kept {
                        broken.insert(term);
                    }
                    is_kept
                });
            }
            SolverAnswer::Unknown(_) => (),
        }
        if open.len() == before {
            drop_one_by_one(cx, &mut facts, &mut open, &mut broken);
            break;
        }
    }
    candidates[next.loc].retain(|term| !broken.contains(term));
    !broken.is_empty()
}

/// Asks about every candidate alone; those that are not shown to hold are broken.
fn drop_one_by_one(
    cx: &mut Ctx<'_>,
    facts: &mut Vec<Term>,
    open: &mut Vec<(Term, Term)>,
    broken: &mut BTreeSet<Term>,
) {
    for &(term, after) in open.iter() {
        let fails = cx.pool.not(after);
        facts.push(fails);
        if !matches!(cx.decide(facts), SolverDecision::Unsat) {
            broken.insert(term);
        }
        facts.pop();
    }
    open.clear();
}

/// Returns whether `term` is false under `values`; a term that cannot be evaluated is not.
fn is_false(cx: &Ctx<'_>, term: Term, values: &Valuation) -> bool {
    evaluate(cx, term, values).and_then(|value| value.as_bool()) == Some(false)
}
