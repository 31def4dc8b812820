//! Lint for outputs that can be postponed for ever: the model owes them, and no run is ever too late.
//!
//! A state that owes an output may be silent as long as the output is still possible. If it remains possible for ever,
//! no silence is a failure. That is meant where a model says nothing about time; it is a mistake where the output of a
//! model with clocks waits for a time, `when c >= 2s`, and has no time at which it must be there.
//!
//! The condition is decided with the solver: the guard reads a clock, holds after some delay in a reachable state, and
//! then holds after every longer delay.

use std::collections::BTreeSet;

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateKind, Switch, SwitchId};
use ioxide_model::term::{Substitution, Term, VarId};
use ioxide_smt::solver::SolverDecision;

use super::Findings;
use super::property::run_text;
use crate::concrete_run::find_concrete_run;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::quiescence::can_react;
use crate::state::advance_substitution;

/// Reports outputs that wait for a time and have no last one.
pub(super) fn report_endless_delays(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    let sts = cx.sts;
    let clocks: Vec<VarId> = sts.clocks.iter().map(|clock| clock.var).collect();
    let mut reported: BTreeSet<SwitchId> = BTreeSet::new();
    for (id, switch) in sts.switches.iter_enumerated() {
        let reads_clock = cx.pool.free_vars(switch.guard).iter().any(|var| clocks.contains(var));
        if sts.kind_of(switch) != GateKind::Output || !reads_clock || !stays_possible(cx, switch) {
            continue;
        }
        // Possible after some delay, and not at once: an output whose value is a time waits for nothing.
        let (later, now) =
            (can_react(cx, switch), cx.pool.exists(&sts.gates[switch.gate].fields, switch.guard));
        let not_now = cx.pool.not(now);
        let possible = cx.pool.and([later, not_now]);
        for (node, state) in exploration.graph.nodes.iter_enumerated() {
            if state.loc != switch.source || reported.contains(&id) {
                continue;
            }
            let here = cx.pool.substitute(possible, &state.store.substitution(sts));
            let mut facts = state.path.facts().to_vec();
            facts.push(here);
            if !findings.is_shown_satisfiable(cx, &facts) {
                continue;
            }
            let Some(run) = find_concrete_run(cx, &exploration.graph.path_to(node), possible) else {
                continue;
            };
            reported.insert(id);
            let gate = &sts.gates[switch.gate].name;
            let text =
                format!("`{gate}` can be delayed for ever: `{}` has no upper time bound", switch.label);
            let mut finding = Diagnostic::new(Code::EndlessDelay, switch.span, text)
                .note("once possible it stays possible, so a system that never sends it does not fail")
                .help("say when it must be there at the latest: `when c >= 2s && c <= 3s`");
            if !run.steps.is_empty() {
                finding = finding.note(run_text(&run));
            }
            findings.push(finding);
        }
    }
}

/// Returns whether `switch`, once its guard holds, can be taken after every longer delay; an open question counts as
/// no.
fn stays_possible(cx: &mut Ctx<'_>, switch: &Switch) -> bool {
    let (sooner, later) =
        (cx.pool.indexed_var(cx.delay, u32::MAX), cx.pool.indexed_var(cx.delay, u32::MAX - 1));
    let (sooner, later) = (cx.pool.var(sooner), cx.pool.var(later));
    let (holds, then) = (guard_after(cx, switch.guard, sooner), guard_after(cx, switch.guard, later));
    let (is_later, fails) = (cx.pool.le(sooner, later), cx.pool.not(then));
    let mut facts = vec![holds, is_later, fails];
    // No clock shows a time before the start: `c != 0s` holds for ever once it holds.
    let zero = cx.pool.number(Rational::ZERO, Sort::Real);
    let times: Vec<Term> = cx.sts.clocks.iter().map(|clock| cx.pool.var(clock.var)).chain([sooner]).collect();
    facts.extend(times.into_iter().map(|time| cx.pool.le(zero, time)));
    matches!(cx.decide(&facts), SolverDecision::Unsat)
}

fn guard_after(cx: &mut Ctx<'_>, guard: Term, delay: Term) -> Term {
    let mut names = Substitution::new();
    advance_substitution(cx.pool, cx.sts, &mut names, delay);
    cx.pool.substitute(guard, &names)
}
