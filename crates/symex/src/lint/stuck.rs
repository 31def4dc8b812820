//! Lint for states in which nothing can happen any more, whatever is sent.
//!
//! A state without transitions is an end that somebody wrote. A state with transitions of which none can be taken is a
//! mistake; in a system of parts it is the classical deadlock, parts that wait for each other.
//!
//! Models with clocks are not examined: their states include those after a deadline that no system may miss, where
//! nothing is possible by intent.
//!
//! A finding is shown by a state that the exploration reached, so it holds whether or not the exploration is complete.
//! Only the first such state of each location is reported: states are in order of discovery, so its path is shortest.

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::compose::{Composition, PartSystem};
use ioxide_model::diag::Diagnostic;
use ioxide_model::sts::LocId;
use ioxide_model::value::Value;

use super::Findings;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::graph::ExploredId;
use crate::quiescence::can_react;
use crate::state::SymState;

/// Reports reachable states with transitions none of which can be taken.
pub(super) fn report_stuck_states(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    if cx.sts.is_timed() {
        return;
    }
    let graph = &exploration.graph;
    let left: BTreeSet<ExploredId> = graph.edges.iter().map(|edge| edge.from).collect();
    let mut reported: BTreeSet<LocId> = BTreeSet::new();
    for (node, state) in graph.nodes.iter_enumerated() {
        if findings.halted.is_some() {
            return;
        }
        // One state without unknown values: a transition that leaves it can always be taken.
        let is_left = left.contains(&node) && is_concrete(cx, state);
        if is_left || reported.contains(&state.loc) || is_written_end(cx, state) {
            continue;
        }
        if can_be_stuck(cx, state, findings) {
            reported.insert(state.loc);
            findings.push(stuck_finding(cx, exploration, node));
        }
    }
}

fn is_concrete(cx: &Ctx<'_>, state: &SymState) -> bool {
    state.path.facts().is_empty() && state.store.terms().iter().all(|&term| cx.pool.as_value(term).is_some())
}

/// Returns whether the model has no transition from here: for a system, whether no part has one.
fn is_written_end(cx: &Ctx<'_>, state: &SymState) -> bool {
    match &cx.sts.composition {
        Some(composition) => parts_that_go_on(cx, composition, state).next().is_none(),
        None => cx.sts.switches_from(state.loc).next().is_none(),
    }
}

/// Returns the parts that have transitions where they are.
fn parts_that_go_on<'c>(
    cx: &Ctx<'_>,
    composition: &'c Composition,
    state: &SymState,
) -> impl Iterator<Item = &'c PartSystem> {
    composition.parts.iter().filter(|part| {
        let place = match part.control.and_then(|var| state.store.get(cx.sts, var)) {
            Some(term) => match cx.pool.as_value(term) {
                Some(Value::Data(value)) => value.ctor as usize,
                _ => return true,
            },
            None => 0,
        };
        // A channel has no places: it goes on only if others do.
        part.is_end.get(place) == Some(&false)
    })
}

/// Returns whether some values of `state` leave every transition disabled.
fn can_be_stuck(cx: &mut Ctx<'_>, state: &SymState, findings: &mut Findings) -> bool {
    let sts = cx.sts;
    let mut possible = Vec::new();
    for (_, switch) in sts.switches_from(state.loc) {
        possible.push(can_react(cx, switch));
    }
    let possible = cx.pool.or(possible);
    let stuck = cx.pool.not(possible);
    let here = cx.pool.substitute(stuck, &state.store.substitution(sts));
    let mut facts = state.path.facts().to_vec();
    facts.push(here);
    findings.is_shown_satisfiable(cx, &facts)
}

fn stuck_finding(cx: &Ctx<'_>, exploration: &Exploration, node: ExploredId) -> Diagnostic {
    let sts = cx.sts;
    let state = &exploration.graph.nodes[node];
    let path = exploration.graph.path_to(node);
    let labels: Vec<String> = path.iter().map(|id| sts.switches[*id].label.to_string()).collect();
    let way =
        if labels.is_empty() { "at the start".to_owned() } else { format!("after {}", labels.join(", ")) };
    let span = sts.locations[state.loc].span;
    let Some(composition) = &sts.composition else {
        let place = &sts.locations[state.loc].name;
        let text = format!("in `{place}` nothing can happen any more, {way}");
        return Diagnostic::new(Code::StuckState, span, text)
            .note(format!("no guard of its transitions can hold: {}", state.value_texts(cx).join(", ")))
            .help("add a transition, or leave for a state without transitions if this is the end");
    };
    let waiting: Vec<String> =
        parts_that_go_on(cx, composition, state).map(|part| format!("`{}`", part.name)).collect();
    let text = format!("the parts can wait for each other for ever, {way}");
    Diagnostic::new(Code::StuckState, span, text)
        .note(format!("then {}", state.location_text(cx)))
        .note(format!("waiting: {}", waiting.join(", ")))
        .help("a state of a part without transitions is taken for its end")
}
