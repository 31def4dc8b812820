//! Lints for updates that may leave a range, and for divisors that may be zero.

use ioxide_model::code::Code;
use ioxide_model::diag::Diagnostic;
use ioxide_model::number::Rational;
use ioxide_model::sts::Switch;
use ioxide_model::term::{Term, TermNode, VarId};

use super::Findings;
use crate::cx::Ctx;
use crate::explore::Exploration;
use crate::quiescence::after_waiting;

/// Reports switches that the range of a variable disables although the guard as written holds.
pub(super) fn report_range_blocks(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    let sts = cx.sts;
    for (_, switch) in sts.switches.iter_enumerated() {
        let Some(check) = switch.range_check else { continue };
        // The guard as it was written, without the check that was joined to it.
        let written = cx.pool.conjuncts_beyond(switch.guard, check);
        let leaves = cx.pool.not(check);
        let question = cx.pool.and([written, leaves]);
        let question = after_waiting(cx, question);
        if can_hold(cx, exploration, switch, question, findings) {
            let text = format!("the update of `{}` may leave the range of its variable", switch.label);
            let finding = Diagnostic::new(Code::RangeMayBeLeft, switch.span, text)
                .note(format!("the transition is not enabled unless {}", cx.pool.show(check)))
                .help("exclude it in the guard, or widen the range");
            findings.push(finding);
        }
    }
}

/// Reports divisions by a term that can be zero when the switch is taken.
pub(super) fn report_divisors(cx: &mut Ctx<'_>, exploration: &Exploration, findings: &mut Findings) {
    for (switch, divisor, question) in zero_questions(cx) {
        if can_hold(cx, exploration, switch, question, findings) {
            let text =
                format!("`{}` may be zero where `{}` divides by it", cx.pool.show(divisor), switch.label);
            let finding = Diagnostic::new(Code::DivisorMayBeZero, switch.span, text)
                .note("division is total: `x / 0` is 0 and `x % 0` is x")
                .help("exclude zero in the guard if that is not meant");
            findings.push(finding);
        }
    }
}

/// Returns the divisors that are not constants, each with its switch and the condition that it is zero there, now or
/// after waiting: the guard of the switch may ask for a time.
pub(super) fn zero_questions<'s>(cx: &mut Ctx<'s>) -> Vec<(&'s Switch, Term, Term)> {
    let sts = cx.sts;
    let mut questions = Vec::new();
    for (_, switch) in sts.switches.iter_enumerated() {
        for divisor in divisors_of(cx, switch) {
            let zero = cx.pool.number(Rational::ZERO, cx.pool.sort(divisor));
            let is_zero = cx.pool.eq(divisor, zero);
            // A divisor in the guard is evaluated whether or not the guard holds.
            let guard =
                if in_guard(cx, switch, divisor) { is_zero } else { cx.pool.and([switch.guard, is_zero]) };
            questions.push((switch, divisor, after_waiting(cx, guard)));
        }
    }
    questions
}

/// Returns the variables that divisors depend on.
pub(super) fn divisor_variables(cx: &Ctx<'_>) -> Vec<VarId> {
    let switches = cx.sts.switches.iter_enumerated();
    let divisors: Vec<Term> = switches.flat_map(|(_, switch)| divisors_of(cx, switch)).collect();
    let read = cx.pool.free_vars_of(&divisors);
    cx.sts.vars.iter().map(|var| var.var).filter(|var| read.contains(var)).collect()
}

/// The divisors that are not constants, in the guard and the update of `switch`.
fn divisors_of(cx: &Ctx<'_>, switch: &Switch) -> Vec<Term> {
    let roots: Vec<Term> =
        std::iter::once(switch.guard).chain(switch.update.iter().map(|(_, term)| *term)).collect();
    let mut found = Vec::new();
    for sub in cx.pool.subterms(&roots, |_| true) {
        if let TermNode::Div(_, divisor) | TermNode::Rem(_, divisor) | TermNode::RealDiv(_, divisor) =
            *cx.pool.node(sub)
            && !cx.pool.is_ground(divisor)
            && !found.contains(&divisor)
        {
            found.push(divisor);
        }
    }
    found
}

fn in_guard(cx: &Ctx<'_>, switch: &Switch, divisor: Term) -> bool {
    cx.pool.subterms(&[switch.guard], |_| true).contains(&divisor)
}

/// Returns whether `question` can hold in a reachable state at the source of `switch`.
fn can_hold(
    cx: &mut Ctx<'_>,
    exploration: &Exploration,
    switch: &Switch,
    question: Term,
    findings: &mut Findings,
) -> bool {
    // Asked without any state first: what no values satisfy needs no walk through the states.
    if !findings.is_shown_satisfiable(cx, &[question]) {
        return false;
    }
    let here = exploration.graph.nodes.iter().filter(|state| state.loc == switch.source);
    for state in here {
        let here = cx.pool.substitute(question, &state.store.substitution(cx.sts));
        let mut facts = state.path.facts().to_vec();
        facts.push(here);
        if findings.is_shown_satisfiable(cx, &facts) {
            return true;
        }
    }
    false
}
