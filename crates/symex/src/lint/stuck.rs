//! Lint for states in which nothing can happen any more, whatever is sent.
//!
//! A state without transitions is an end that somebody wrote. A state with transitions of which none can be taken is a
//! mistake; in a system of parts it is the classical deadlock, parts that wait for each other.
//!
//! In a model with clocks, a state is stuck only if it is so when it is entered: what can be missed by waiting is a
//! deadline. If another time of entry would leave a transition, it is a timelock. A state that is only entered because
//! a deadline was missed before is not examined: the model forbids that silence. Systems of parts with clocks are not
//! examined at all.
//!
//! A finding is shown by a state that the exploration reached, so it holds whether or not the exploration is complete.
//! Only the first such state of each location is reported: states are in order of discovery, so its path is shortest.

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::compose::{Composition, PartSystem};
use ioxide_model::diag::Diagnostic;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::LocId;
use ioxide_model::term::Term;
use ioxide_model::value::Value;

use super::Findings;
use super::part_chart::draw_parts;
use super::property::run_text;
use crate::concrete_run::{ConcreteRun, find_concrete_run};
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::graph::ExploredId;
use crate::quiescence::can_react;
use crate::state::SymState;

/// Reports reachable states with transitions none of which can be taken.
pub(super) fn report_stuck_states(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    // Clocks of several parts: which waits are allowed is not decided part by part, so nothing is said.
    if cx.sts.is_timed() && cx.sts.composition.is_some() {
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
        let stuck = stuck_condition(cx, state.loc);
        let here = cx.pool.substitute(stuck, &state.store.substitution(cx.sts));
        let mut facts = state.path.facts().to_vec();
        facts.push(here);
        if findings.is_shown_satisfiable(cx, &facts) {
            let run = find_concrete_run(cx, &graph.path_to(node), stuck);
            // In a timed model, no run means that a deadline was missed on the way.
            if run.is_some() || !cx.sts.is_timed() {
                reported.insert(state.loc);
                let finding = stuck_finding(cx, exploration, node, run.as_ref(), findings);
                findings.push(finding);
            }
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

/// Returns the condition that no transition of `loc` can be taken, now or later.
fn stuck_condition(cx: &mut Ctx<'_>, loc: LocId) -> Term {
    let sts = cx.sts;
    let mut possible = Vec::new();
    for (_, switch) in sts.switches_from(loc) {
        possible.push(can_react(cx, switch));
    }
    let possible = cx.pool.or(possible);
    cx.pool.not(possible)
}

/// Returns whether a transition of `state` could be taken if the clocks had other values.
fn waits_for_another_time(cx: &mut Ctx<'_>, state: &SymState, findings: &mut Findings) -> bool {
    let sts = cx.sts;
    let mut names = state.store.substitution(sts);
    let zero = cx.pool.number(Rational::ZERO, Sort::Real);
    let mut facts = state.path.facts().to_vec();
    for clock in &sts.clocks {
        // A number that no path has: a clock of an unknown value.
        let other = cx.pool.indexed_var(clock.var, u32::MAX);
        let other = cx.pool.var(other);
        facts.push(cx.pool.le(zero, other));
        names.set(clock.var, other);
    }
    let guards: Vec<Term> = sts.switches_from(state.loc).map(|(_, switch)| switch.guard).collect();
    let some = cx.pool.or(guards);
    facts.push(cx.pool.substitute(some, &names));
    sts.is_timed() && findings.is_shown_satisfiable(cx, &facts)
}

fn stuck_finding(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    node: ExploredId,
    run: Option<&ConcreteRun>,
    findings: &mut Findings,
) -> Diagnostic {
    let sts = cx.sts;
    let state = &exploration.graph.nodes[node];
    let path = exploration.graph.path_to(node);
    let labels: Vec<String> = path.iter().map(|id| sts.switches[*id].label.to_string()).collect();
    let way =
        if labels.is_empty() { "at the start".to_owned() } else { format!("after {}", labels.join(", ")) };
    let is_late = waits_for_another_time(cx, state, findings);
    let span = sts.locations[state.loc].span;
    let Some(composition) = &sts.composition else {
        let place = &sts.locations[state.loc].name;
        if is_late {
            let text =
                format!("`{place}` can be entered when it is too late for all of its transitions, {way}");
            let mut finding = Diagnostic::new(Code::Timelock, span, text);
            if let Some(run) = run {
                finding = finding.note(run_text(run));
            }
            return finding
                .note("then no transition of the state can be taken any more, now or later")
                .help("reset the clock on the way, or add what happens when it is too late");
        }
        let text = format!("in `{place}` nothing can happen any more, {way}");
        return Diagnostic::new(Code::StuckState, span, text)
            .note(format!("no guard of its transitions can hold: {}", state.value_texts(cx).join(", ")))
            .help("add a transition, or leave for a state without transitions if this is the end");
    };
    let waiting: Vec<String> =
        parts_that_go_on(cx, composition, state).map(|part| format!("`{}`", part.name)).collect();
    let code = if is_late { Code::Timelock } else { Code::StuckState };
    let text = format!("the parts can wait for each other for ever, {way}");
    Diagnostic::new(code, span, text)
        .note(draw_parts(sts, composition, state, &path, cx))
        .note(format!("waiting: {}", waiting.join(", ")))
        .help("a state of a part without transitions is taken for its end")
}
