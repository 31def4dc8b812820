//! Lints for goals that the reachable states decide: `always` and `sometimes`.
//!
//! A violated `always` is shown by a path to the violation; an unmet `sometimes` is reported only if the exploration is
//! complete, for then it is proved.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::goal::{Goal, GoalKind};
use ioxide_model::term::{Term, VarId};

use super::Findings;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::graph::ExploredId;

/// Returns the variables that `always` and `sometimes` mention: they are live everywhere.
pub(super) fn goal_variables(cx: &Ctx<'_>) -> Vec<VarId> {
    cx.pool.free_vars_of(&goal_terms(cx))
}

/// Returns the formulas of `always` and `sometimes`.
pub(super) fn goal_terms(cx: &Ctx<'_>) -> Vec<Term> {
    let said = |goal: &Goal| match goal.kind {
        GoalKind::Always(term) | GoalKind::Sometimes(term) => Some(term),
        _ => None,
    };
    cx.sts.goals.iter().filter_map(said).collect()
}

/// Reports invariants that do not hold, and `sometimes` conditions that are never met.
pub(super) fn report_goals(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    let sts = cx.sts;
    for goal in &sts.goals {
        match goal.kind {
            GoalKind::Always(term) => {
                let broken = cx.pool.not(term);
                if let Some(node) = find_reachable(cx, exploration, broken, findings) {
                    findings.push(violation_finding(cx, exploration, goal, node));
                }
            }
            GoalKind::Sometimes(term) => {
                let found = find_reachable(cx, exploration, term, findings);
                if found.is_none() && exploration.is_complete() && findings.is_settled() {
                    let text = format!("`{}` never holds in any reachable state", cx.pool.show(term));
                    findings.push(Diagnostic::new(Code::SometimesNever, goal.span, text));
                }
            }
            _ => (),
        }
    }
}

/// Returns a reachable state in which `condition` can hold.
fn find_reachable(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    condition: Term,
    findings: &mut Findings,
) -> Option<ExploredId> {
    for (node, state) in exploration.graph.nodes.iter_enumerated() {
        let here = cx.pool.substitute(condition, &state.store.substitution(cx.sts));
        let mut facts = state.path.facts().to_vec();
        facts.push(here);
        if findings.is_shown_satisfiable(cx, &facts) {
            return Some(node);
        }
    }
    None
}

fn violation_finding(cx: &Ctx<'_>, exploration: &Exploration, goal: &Goal, node: ExploredId) -> Diagnostic {
    let way: Vec<String> =
        exploration.graph.path_to(node).iter().map(|id| cx.sts.switches[*id].label.to_string()).collect();
    let location = &cx.sts.locations[exploration.graph.nodes[node].loc].name;
    let note = if way.is_empty() {
        format!("it does not hold at the start, in `{location}`")
    } else {
        format!("it can be violated in `{location}`, after {}", way.join(", "))
    };
    Diagnostic::new(Code::AlwaysViolated, goal.span, format!("`{}` does not always hold", goal.name))
        .note(note)
}
