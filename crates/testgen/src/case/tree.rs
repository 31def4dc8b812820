//! An adaptive test as a case: the same arcs and verdicts, so that whatever writes cases writes it too.
//!
//! Inputs are sent by R1, allowed outputs are observed by R2 or, where the test ends, R3, allowed silence by R9;
//! everything else is FAIL by R5 and R10. A run without a failure ends with PASS: nothing distinguishes the system from
//! one that conforms.

use ioxide_model::label::Label;
use ioxide_model::number::Rational;
use ioxide_model::sort::Sort;
use ioxide_model::sts::{GateId, GateKind};
use ioxide_model::term::{Term, VarId};
use ioxide_model::value::Value;
use ioxide_symex::Ctx;

use super::{ArcTarget, CaseArc, CaseRule, CaseState, CaseStimulus, CaseVerdict, SendTime, TestCase};
use crate::conform::explicit::{AdaptiveTest, TestNode};

/// The case of an adaptive test of the system of `cx`, which has no clocks.
pub fn of_adaptive_test(cx: &mut Ctx<'_>, test: &AdaptiveTest) -> TestCase {
    let tm = cx.pool.declare("TM", Sort::Real);
    let states = (1..).zip(&test.nodes).map(|(n, node)| make_state(cx, n, node)).collect();
    let (path, lints) = (Vec::new(), Vec::new());
    TestCase { path, states, tm, timeout: None, sending: SendTime::Soonest, is_timed: false, lints }
}

fn make_state(cx: &mut Ctx<'_>, n: u32, node: &TestNode) -> CaseState {
    let delay = cx.pool.indexed_var(cx.delay, n);
    let mut arcs = Vec::new();
    if let Some((label, next)) = &node.send {
        let mut arc = labelled_arc(cx, n, label, CaseRule::R1, target(*next));
        if let Label::Input(_, values) = label {
            // Always valid: there are no clocks, and the values were fixed when the test was made.
            arc.witness = Some(CaseStimulus { delay: Rational::ZERO, values: values.clone(), always: true });
        }
        arcs.push(arc);
    }
    for (label, next) in &node.allowed {
        let rule = match (label, next) {
            (Label::Quiescence, _) => CaseRule::R9,
            (_, Some(_)) => CaseRule::R2,
            (_, None) => CaseRule::R3,
        };
        arcs.push(labelled_arc(cx, n, label, rule, target(*next)));
    }
    arcs.extend(forbidden(cx, n, node));
    CaseState { loc: None, delay, arcs }
}

/// Returns the state with this number as a target; pass if there is none.
fn target(next: Option<usize>) -> ArcTarget {
    next.map_or(ArcTarget::Verdict(CaseVerdict::Pass), ArcTarget::State)
}

/// Returns the arcs that fail: outputs that `node` does not allow, and silence where it neither sends nor allows
/// silence.
fn forbidden(cx: &mut Ctx<'_>, n: u32, node: &TestNode) -> Vec<CaseArc> {
    let outputs: Vec<GateId> = cx
        .sts
        .gates
        .iter_enumerated()
        .filter(|(_, gate)| gate.kind == GateKind::Output)
        .map(|(id, _)| id)
        .collect();
    let mut arcs = Vec::new();
    for gate in outputs {
        let fields = fields(cx, n, gate);
        let mut allowed = Vec::new();
        for (label, _) in &node.allowed {
            if let Label::Output(other, values) = label
                && *other == gate
            {
                allowed.push(equals_values(cx, &fields, values));
            }
        }
        let some = cx.pool.or(allowed);
        let guard = cx.pool.not(some);
        // An allowed message without fields leaves nothing to forbid.
        if guard != cx.pool.ff() {
            let target = ArcTarget::Verdict(CaseVerdict::FailOut);
            arcs.push(CaseArc {
                rule: CaseRule::R5,
                gate: Some(gate),
                fields,
                switch: None,
                guard,
                target,
                witness: None,
                doubt: None,
            });
        }
    }
    let is_quiet = node.allowed.iter().any(|(label, _)| *label == Label::Quiescence);
    // Where the test sends, it does not wait for silence, so silence is not judged there.
    if !is_quiet && node.send.is_none() {
        arcs.push(labelled_arc(
            cx,
            n,
            &Label::Quiescence,
            CaseRule::R10,
            ArcTarget::Verdict(CaseVerdict::FailDur),
        ));
    }
    arcs
}

/// The arc along one label.
fn labelled_arc(cx: &mut Ctx<'_>, n: u32, label: &Label, rule: CaseRule, target: ArcTarget) -> CaseArc {
    let (gate, fields, guard) = match label {
        Label::Quiescence | Label::Delay(_) => (None, Vec::new(), cx.pool.tt()),
        Label::Input(gate, values) | Label::Output(gate, values) => {
            let fields = fields(cx, n, *gate);
            let guard = equals_values(cx, &fields, values);
            (Some(*gate), fields, guard)
        }
    };
    CaseArc { rule, gate, fields, switch: None, guard, target, witness: None, doubt: None }
}

/// The variables of the fields of message number `n`.
fn fields(cx: &mut Ctx<'_>, n: u32, gate: GateId) -> Vec<VarId> {
    let bases = cx.sts.gates[gate].fields.clone();
    bases.into_iter().map(|field| cx.pool.indexed_var(field, n)).collect()
}

fn equals_values(cx: &mut Ctx<'_>, fields: &[VarId], values: &[Value]) -> Term {
    let mut facts = Vec::with_capacity(fields.len());
    for (&field, value) in fields.iter().zip(values) {
        let (field, value) = (cx.pool.var(field), cx.pool.value(value.clone()));
        facts.push(cx.pool.eq(field, value));
    }
    cx.pool.and(facts)
}
