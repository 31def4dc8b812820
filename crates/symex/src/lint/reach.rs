//! Lints for guards that nothing satisfies, switches that nothing reaches, and messages that never occur.

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::sts::{GateKind, Sts, SwitchId};
use ioxide_smt::solver::SolverDecision;

use super::Findings;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::symmetry::Symmetry;

/// Reports guards that are false under every valuation.
pub(super) fn unsatisfiable_guards(cx: &mut Ctx<'_>, findings: &mut Findings) {
    let sts = cx.sts;
    for (_, switch) in sts.switches.iter_enumerated() {
        match cx.decide(&[switch.guard]) {
            SolverDecision::Sat => (),
            SolverDecision::Unknown(why) if cx.halt_reason().is_none() => findings.leave_open(why),
            SolverDecision::Unknown(_) => (),
            SolverDecision::Unsat => {
                let text = format!("`{}` can never be taken: its guard contradicts itself", switch.label);
                let finding = Diagnostic::new(Code::UnsatisfiableGuard, switch.span, text);
                findings.push(finding.note(format!("the guard is {}", cx.pool.show(switch.guard))));
            }
        }
    }
}

/// Reports switches and messages that no reachable state enables; nothing if the exploration is not complete.
pub(super) fn report_unreachable(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    symmetry: &Symmetry,
    findings: &mut Findings,
) {
    if !exploration.is_complete() {
        return;
    }
    let sts = cx.sts;
    let taken = symmetry.close_under_swaps(&exploration.taken_switches());
    let already: Vec<_> = findings.list.iter().map(|finding| finding.span).collect();
    for (id, switch) in sts.switches.iter_enumerated() {
        if taken.contains(&id) || already.contains(&switch.span) {
            continue;
        }
        let text = format!("`{}` is never enabled in any reachable state", switch.label);
        let finding = Diagnostic::new(Code::UnreachableSwitch, switch.span, text);
        findings.push(finding.note(format!(
            "all {} symbolic states were explored; the guard holds in none of them",
            exploration.stats.states
        )));
    }
    silent_gates(sts, &taken, findings);
}

/// Reports gates with switches none of which can be taken.
fn silent_gates(sts: &Sts, taken: &BTreeSet<SwitchId>, findings: &mut Findings) {
    for (gate, info) in sts.gates.iter_enumerated() {
        let mut switches =
            sts.switches.iter_enumerated().filter(|(_, switch)| switch.gate == gate).peekable();
        if switches.peek().is_none() || switches.any(|(id, _)| taken.contains(&id)) {
            continue;
        }
        let (code, text) = match info.kind {
            GateKind::Internal => continue,
            GateKind::Output => {
                (Code::OutputNeverPossible, format!("output `{}` can never happen", info.name))
            }
            GateKind::Input | GateKind::Observed => {
                (Code::NeverEnabledInput, format!("input `{}` is never enabled", info.name))
            }
        };
        findings.push(Diagnostic::new(code, info.span, text));
    }
}
