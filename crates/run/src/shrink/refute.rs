//! Candidates that cannot fail according to the model: no run is spent on them.

use std::collections::VecDeque;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Sts};
use ioxide_model::trace::Trace;
use ioxide_symex::{Ctx, Monitor};
use ioxide_testgen::tester::replay::PlannedMove;

/// Returns whether the model does not take the last input of `plan`, if the system replies as it did in the run with
/// `trace`. Other inputs that it does not take are skipped, as the run skips them.
///
/// An answer of the system that the model does not allow after these moves, or that was not recorded, ends the
/// question.
pub(super) fn is_refuted(cx: &mut Ctx<'_>, trace: &Trace, plan: &[PlannedMove]) -> bool {
    let mut monitor = Monitor::new(cx);
    let mut replies = replies_after(cx.sts, trace, None);
    let last = plan.iter().rposition(|planned| planned.input().is_some());
    for (at, planned) in plan.iter().enumerate() {
        let label = match planned.input() {
            Some(input) => {
                // An output that is not looked for still comes before the next input.
                while !monitor.accepts(cx, &input.label) {
                    let Some(label) = replies.pop_front() else { break };
                    if monitor.observe(cx, &label).is_err() {
                        return false;
                    }
                }
                replies = replies_after(cx.sts, trace, Some(input.number));
                if !monitor.accepts(cx, &input.label) {
                    if Some(at) == last {
                        return monitor.count_doubts() == 0;
                    }
                    replies.clear();
                    continue;
                }
                input.label.clone()
            }
            None => match replies.pop_front() {
                Some(label) => label,
                // A look after an input that was skipped sees silence or nothing new.
                None => continue,
            },
        };
        if monitor.observe(cx, &label).is_err() {
            return false;
        }
    }
    false
}

/// Returns the observations of `trace` after its input `number`, or before its first input, up to the next input.
fn replies_after(sts: &Sts, trace: &Trace, number: Option<usize>) -> VecDeque<Label> {
    let is_ours =
        |label: &Label| matches!(label, Label::Input(gate, _) if sts.gates[*gate].kind == GateKind::Input);
    let start = match number {
        None => 0,
        Some(number) => {
            let inputs = trace.labels.iter().enumerate().filter(|(_, label)| is_ours(label));
            inputs.map(|(at, _)| at + 1).nth(number).unwrap_or(trace.len())
        }
    };
    trace.labels[start..].iter().take_while(|label| !is_ours(label)).cloned().collect()
}
