//! Lint for pairs of switches that one message can take in one state.

use std::collections::BTreeMap;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sts::{GateId, GateKind, LocId, Sts, Switch, SwitchId};

use super::Findings;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::graph::ExploredId;
use crate::quiescence::after_waiting;

/// Reports switches of one location and gate that overlap in a reachable state and differ in effect.
pub(super) fn report_overlaps(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    let sts = cx.sts;
    for rivals in rival_groups(sts) {
        for (at, &a) in rivals.iter().enumerate() {
            // There may be very many pairs.
            if cx.halt_reason().is_some() {
                return;
            }
            for &b in &rivals[at + 1..] {
                let (first, second) = (&sts.switches[a], &sts.switches[b]);
                if same_effect(first, second) {
                    continue;
                }
                if let Some(node) = shared_state(cx, exploration, a, b, findings) {
                    report_overlap(cx, exploration, (first, second), node, findings);
                }
            }
        }
    }
}

/// Returns the groups of switches that one message could take, location by location.
fn rival_groups(sts: &Sts) -> impl Iterator<Item = Vec<SwitchId>> {
    let mut by_place: BTreeMap<(LocId, GateId), Vec<SwitchId>> = BTreeMap::new();
    for (id, switch) in sts.switches.iter_enumerated() {
        by_place.entry((switch.source, switch.gate)).or_default().push(id);
    }
    by_place.into_values()
}

fn same_effect(a: &Switch, b: &Switch) -> bool {
    a.target == b.target && a.update == b.update && a.resets == b.resets
}

/// Returns a reachable state in which one message can take both switches.
fn shared_state(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    a: SwitchId,
    b: SwitchId,
    findings: &mut Findings,
) -> Option<ExploredId> {
    let sts = cx.sts;
    let both = cx.pool.and([sts.switches[a].guard, sts.switches[b].guard]);
    let both = after_waiting(cx, both);
    if sts.kind_of(&sts.switches[a]) == GateKind::Internal || !findings.is_shown_satisfiable(cx, &[both]) {
        return None;
    }
    let here =
        exploration.graph.nodes.iter_enumerated().filter(|(_, state)| state.loc == sts.switches[a].source);
    for (node, state) in here {
        let overlap = cx.pool.substitute(both, &state.store.substitution(sts));
        let mut facts = state.path.facts().to_vec();
        facts.push(overlap);
        if findings.is_shown_satisfiable(cx, &facts) {
            return Some(node);
        }
    }
    None
}

fn report_overlap(
    cx: &Ctx<'_>,
    exploration: &Exploration,
    (first, second): (&Switch, &Switch),
    node: ExploredId,
    findings: &mut Findings,
) {
    let gate = &cx.sts.gates[first.gate];
    let code = if gate.kind == GateKind::Output { Code::OverlappingOutputs } else { Code::OverlappingInputs };
    let text = format!(
        "nondeterministic here: one `{}` can take `{}` or `{}`",
        gate.name, first.label, second.label
    );
    let way: Vec<String> =
        exploration.graph.path_to(node).iter().map(|id| cx.sts.switches[*id].label.to_string()).collect();
    let note = if way.is_empty() {
        "it can happen in the initial state".to_owned()
    } else {
        format!("it can happen after {}", way.join(", "))
    };
    let finding = Diagnostic::new(code, second.span, text)
        .label(first.span, format!("`{}` is enabled for the same values", first.label))
        .note(note);
    findings.push(finding);
}
