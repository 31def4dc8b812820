//! Lint for internal switches that can repeat for ever.

use std::collections::BTreeMap;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sts::{GateKind, SwitchId};

use super::Findings;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::graph::{ExploredEdge, ExploredId};

/// Reports cycles of internal steps in the explored graph.
pub(super) fn report_loops(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    let sts = cx.sts;
    let mut internal: BTreeMap<ExploredId, Vec<ExploredEdge>> = BTreeMap::new();
    for &edge in &exploration.graph.edges {
        if sts.kind_of(&sts.switches[edge.switch]) == GateKind::Internal {
            internal.entry(edge.from).or_default().push(edge);
        }
    }
    let Some(cycle) = find_cycle(&internal) else { return };
    let labels: Vec<String> = cycle.iter().map(|id| format!("`{}`", sts.switches[*id].label)).collect();
    let first = &sts.switches[cycle[0]];
    let text = format!("internal transitions can repeat for ever: {}", labels.join(", "));
    let mut finding = Diagnostic::new(Code::TauLoop, first.span, text)
        .note("a system that diverges is never quiescent and may never answer")
        .help("let an input, an output or a decreasing counter break the loop");
    for id in &cycle[1..] {
        finding = finding.label(sts.switches[*id].span, "and this one is part of the loop");
    }
    findings.push(finding);
}

/// Returns the switches on some cycle, if there is one; depth-first with an explicit stack.
fn find_cycle(edges: &BTreeMap<ExploredId, Vec<ExploredEdge>>) -> Option<Vec<SwitchId>> {
    let mut done: BTreeMap<ExploredId, bool> = BTreeMap::new();
    for &start in edges.keys() {
        if done.contains_key(&start) {
            continue;
        }
        done.insert(start, false);
        let mut trail: Vec<(ExploredId, usize, Option<SwitchId>)> = vec![(start, 0, None)];
        while let Some(&mut (node, ref mut next, _)) = trail.last_mut() {
            let Some(&edge) = edges.get(&node).and_then(|list| list.get(*next)) else {
                done.insert(node, true);
                trail.pop();
                continue;
            };
            *next += 1;
            match done.get(&edge.to) {
                Some(true) => (),
                Some(false) => return Some(closing_switches(&trail, edge)),
                None => {
                    done.insert(edge.to, false);
                    trail.push((edge.to, 0, Some(edge.switch)));
                }
            }
        }
    }
    None
}

/// Returns the switches from the state that `last` leads back to, up to `last` itself; sorted, each once.
fn closing_switches(trail: &[(ExploredId, usize, Option<SwitchId>)], last: ExploredEdge) -> Vec<SwitchId> {
    let start = trail.iter().position(|(node, ..)| *node == last.to).unwrap_or(0);
    let mut switches: Vec<SwitchId> = trail[start + 1..].iter().filter_map(|entry| entry.2).collect();
    switches.push(last.switch);
    switches.sort_unstable();
    switches.dedup();
    switches
}
