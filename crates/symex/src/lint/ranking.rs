//! Termination: steps of the system alone that cannot repeat for ever while an answer is owed.
//!
//! A measure is a number of the state with a least value that no step of a loop increases. A step that decreases it
//! happens finitely often and is left out; what is left is examined again, until there is no loop.

use ioxide_model::index::Idx;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateKind, Switch, SwitchId};
use ioxide_model::term::Term;
use ioxide_smt::solver::SolverDecision;

use super::response::ObservedSystem;
use crate::cx::Ctx;
use crate::induction::{Invariants, measures, step_from_anywhere};

/// A cycle of a graph.
pub(super) struct SwitchCycle {
    /// The node where it begins.
    pub start: usize,
    /// The switches on it.
    pub switches: Vec<SwitchId>,
}

/// Returns a cycle in the graph with these edges, if there is one; the first found from the smallest node.
pub(super) fn find_cycle(edges: &[(usize, usize, SwitchId)], n_nodes: usize) -> Option<SwitchCycle> {
    let mut next: Vec<Vec<(usize, SwitchId)>> = vec![Vec::new(); n_nodes];
    for &(from, to, switch) in edges {
        next[from].push((to, switch));
    }
    let mut is_done = vec![false; n_nodes];
    let mut position: Vec<Option<usize>> = vec![None; n_nodes];
    for start in 0..n_nodes {
        if is_done[start] || next[start].is_empty() {
            continue;
        }
        // Depth first with an explicit stack: the node, its next edge, and the switch that led to it.
        let mut trail: Vec<(usize, usize, Option<SwitchId>)> = vec![(start, 0, None)];
        position[start] = Some(0);
        while let Some(&mut (node, ref mut edge, _)) = trail.last_mut() {
            let Some(&(to, switch)) = next[node].get(*edge) else {
                is_done[node] = true;
                position[node] = None;
                trail.pop();
                continue;
            };
            *edge += 1;
            // The target is on the trail: the trail from there on is the cycle.
            if let Some(at) = position[to] {
                let mut switches: Vec<SwitchId> =
                    trail[at + 1..].iter().filter_map(|entry| entry.2).collect();
                switches.push(switch);
                return Some(SwitchCycle { start: to, switches });
            }
            if !is_done[to] {
                position[to] = Some(trail.len());
                trail.push((to, 0, Some(switch)));
            }
        }
    }
    None
}

/// Returns whether the steps of the system alone cannot repeat for ever while an answer is owed.
pub(super) fn always_ends(cx: &mut Ctx<'_>, observed: &ObservedSystem, invariants: &Invariants) -> bool {
    let sts = cx.sts;
    let is_own = |switch: &Switch| {
        matches!(sts.kind_of(switch), GateKind::Output | GateKind::Internal)
            && !switch.update.iter().any(|&(var, value)| var == observed.pending && cx.pool.is_false(value))
    };
    let own = sts.switches.iter_enumerated().filter(|(_, switch)| is_own(switch));
    let mut left: Vec<SwitchId> = own.map(|(id, _)| id).collect();
    let pending = cx.pool.var(observed.pending);
    left.retain(|&id| {
        // A step that cannot be taken while an answer is owed is part of no loop.
        let facts = step_facts(cx, id, pending, invariants);
        !matches!(cx.decide(&facts), SolverDecision::Unsat)
    });
    let measures = measures(cx);
    loop {
        // A step on no loop of the steps that are left is taken finitely often, whatever it does.
        left = on_cycles(cx, &left);
        if left.is_empty() {
            return true;
        }
        // A lexicographic argument: once the steps that decrease one measure are gone, the others need not keep it.
        // Every turn removes a step, so the loop ends.
        let decreasing = measures.iter().find_map(|&measure| {
            let fewer = steps_that_decrease(cx, &left, measure, pending, invariants)?;
            (!fewer.is_empty()).then_some(fewer)
        });
        let Some(decreasing) = decreasing else { return false };
        left.retain(|id| !decreasing.contains(id));
    }
}

/// Returns the facts that a step is taken while an answer is owed, from a state that satisfies the invariants.
fn step_facts(cx: &mut Ctx<'_>, id: SwitchId, pending: Term, invariants: &Invariants) -> Vec<Term> {
    let next = step_from_anywhere(cx, id);
    let mut facts = next.path.facts().to_vec();
    facts.extend(invariants.of(cx.sts.switches[id].source));
    facts.push(pending);
    facts
}

/// Returns the switches in `left` that are part of a loop of them, by their locations.
fn on_cycles(cx: &Ctx<'_>, left: &[SwitchId]) -> Vec<SwitchId> {
    let ends = |id: SwitchId| (cx.sts.switches[id].source.index(), cx.sts.switches[id].target.index());
    let reaches = |from: usize, to: usize| {
        let mut seen = vec![false; cx.sts.locations.len()];
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            if at == to {
                return true;
            }
            if !std::mem::replace(&mut seen[at], true) {
                todo.extend(
                    left.iter().map(|&id| ends(id)).filter(|(source, _)| *source == at).map(|(_, to)| to),
                );
            }
        }
        false
    };
    left.iter().copied().filter(|&id| reaches(ends(id).1, ends(id).0)).collect()
}

/// Returns the switches that decrease `measure`, which has a least value where they do; `None` if some switch may
/// increase it.
fn steps_that_decrease(
    cx: &mut Ctx<'_>,
    left: &[SwitchId],
    measure: Term,
    pending: Term,
    invariants: &Invariants,
) -> Option<Vec<SwitchId>> {
    let mut decreasing = Vec::new();
    for &id in left {
        let next = step_from_anywhere(cx, id);
        let after = cx.pool.substitute(measure, &next.store.substitution(cx.sts));
        let mut facts = step_facts(cx, id, pending, invariants);
        let increases = cx.pool.lt(measure, after);
        if !is_excluded(cx, &mut facts, increases) {
            return None;
        }
        let stays = cx.pool.le(measure, after);
        let zero = cx.pool.number(Rational::ZERO, Sort::Int);
        let is_small = cx.pool.lt(measure, zero);
        // Strictly less, and from zero up: so it happens only finitely often before another step must have increased
        // the measure, and none does.
        if is_excluded(cx, &mut facts, stays) && is_excluded(cx, &mut facts, is_small) {
            decreasing.push(id);
        }
    }
    Some(decreasing)
}

/// Returns whether `facts` exclude `condition`; an open question counts as no.
fn is_excluded(cx: &mut Ctx<'_>, facts: &mut Vec<Term>, condition: Term) -> bool {
    facts.push(condition);
    let answer = cx.decide(facts);
    facts.pop();
    matches!(answer, SolverDecision::Unsat)
}
