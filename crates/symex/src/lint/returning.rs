//! Lint for states from which the model cannot return to where it started.
//!
//! Many systems are idle at first, work, and are idle again. Where the model returns to its start from some states and
//! cannot from others, a transition is missing: a session that is never closed, a lock that is never released. Ends
//! that somebody wrote (states without transitions) and states that are [stuck](super::stuck) are reported there or
//! meant.
//!
//! The graph of an exploration that is complete has every step, so what has no path in it has none in the model. The
//! start is the place, whatever the values.
//!
//! A part of the model that is entered for ever and goes on serving, with inputs and outputs, is a phase: after the
//! registration, without the second client. Only a part in which nothing is ever sent again, or nothing is ever
//! received, although the model does so elsewhere, is reported.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::index::{Idx, IndexVec};
use ioxide_model::sts::GateKind;
use ioxide_model::value::Value;

use super::Findings;
use super::property::run_text;
use crate::concrete_run::find_concrete_run;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::graph::ExploredId;
use crate::state::SymState;

/// Reports the first reachable state from which neither the start nor an end can be reached.
pub(super) fn report_states_without_return(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    findings: &mut Findings,
) {
    if !exploration.is_complete() || exploration.stats.doubtful > 0 {
        return;
    }
    let graph = &exploration.graph;
    let first = &graph.nodes[ExploredId::new(0)];
    let is_home =
        |state: &SymState| state.loc == first.loc && part_places(cx, state) == part_places(cx, first);
    let home: IndexVec<ExploredId, bool> = graph.nodes.iter().map(is_home).collect();
    // A start that nothing leads back to is the beginning of a first phase, not a state to return to.
    if !graph.edges.iter().any(|edge| home[edge.to] && !home[edge.from]) {
        return;
    }
    let mut is_left = IndexVec::<ExploredId, bool>::from_elem(false, graph.nodes.len());
    graph.edges.iter().for_each(|edge| is_left[edge.from] = true);
    let mut returns: IndexVec<ExploredId, bool> = home;
    for node in graph.nodes.ids() {
        returns[node] |= !is_left[node];
    }
    close_backwards(exploration, &mut returns);
    let sends = reaches_kind(cx, exploration, |kind| kind == GateKind::Output);
    let receives = reaches_kind(cx, exploration, GateKind::is_input);
    for (node, state) in graph.nodes.iter_enumerated() {
        let is_mute = sends.as_ref().is_some_and(|sends| !sends[node]);
        let is_deaf = receives.as_ref().is_some_and(|receives| !receives[node]);
        if returns[node] || findings.halted.is_some() || !is_mute && !is_deaf {
            continue;
        }
        let tt = cx.pool.tt();
        let Some(run) = find_concrete_run(cx, &graph.path_to(node), tt) else { continue };
        let (start, place) = (first.location_text(cx), state.location_text(cx));
        let never = if is_mute { "sends" } else { "receives" };
        let text =
            format!("from `{place}` the model cannot return to `{start}`, and never {never} anything again");
        let finding = Diagnostic::new(Code::NoReturn, cx.sts.locations[state.loc].span, text)
            .note(run_text(&run))
            .note("from other states it returns, so a transition may be missing here")
            .help("a state that is an end has no transitions: then this is not reported");
        findings.push(finding);
        return;
    }
}

/// Returns the states from which a message of a kind can still come; `None` if no state has one.
fn reaches_kind(
    cx: &Ctx<'_>,
    exploration: &Exploration,
    is_kind: impl Fn(GateKind) -> bool,
) -> Option<IndexVec<ExploredId, bool>> {
    let mut marked = IndexVec::from_elem(false, exploration.graph.nodes.len());
    let edges = exploration.graph.edges.iter();
    for edge in edges.filter(|edge| is_kind(cx.sts.kind_of(&cx.sts.switches[edge.switch]))) {
        marked[edge.from] = true;
    }
    let occurs = marked.iter().any(|&is_marked| is_marked);
    close_backwards(exploration, &mut marked);
    occurs.then_some(marked)
}

/// Returns the places of the parts, as far as they are known.
fn part_places(cx: &Ctx<'_>, state: &SymState) -> Vec<Option<Value>> {
    let parts = cx.sts.composition.iter().flat_map(|composition| composition.parts.iter());
    parts.map(|part| cx.pool.as_value(state.store.get(cx.sts, part.control?)?).cloned()).collect()
}

/// Marks every state from which a marked one can be reached.
fn close_backwards(exploration: &Exploration, marked: &mut IndexVec<ExploredId, bool>) {
    let graph = &exploration.graph;
    let mut before: IndexVec<ExploredId, Vec<ExploredId>> =
        IndexVec::from_elem(Vec::new(), graph.nodes.len());
    for edge in &graph.edges {
        before[edge.to].push(edge.from);
    }
    let mut todo: Vec<ExploredId> = graph.nodes.ids().filter(|&node| marked[node]).collect();
    while let Some(node) = todo.pop() {
        for &from in &before[node] {
            if !std::mem::replace(&mut marked[from], true) {
                todo.push(from);
            }
        }
    }
}
