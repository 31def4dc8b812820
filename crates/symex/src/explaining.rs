//! The switches that an observed label may have taken.

use ioxide_model::concrete;
use ioxide_model::label::Label;
use ioxide_model::sts::SwitchId;

use crate::cx::Ctx;
use crate::monitor::Belief;
use crate::state::SymState;

/// Returns the switches that explain `label` in some state of `belief`, in order, each once.
///
/// If values are unknown, every switch of the right gate counts.
#[must_use]
pub fn explaining_switches(cx: &Ctx<'_>, belief: &Belief, label: &Label) -> Vec<SwitchId> {
    let mut found: Vec<SwitchId> = match (belief, label) {
        (Belief::Concrete(states), _) => {
            let from = |state| concrete::successors(cx.pool, cx.sts, state, label).unwrap_or_default();
            states.iter().flat_map(from).map(|successor| successor.switch).collect()
        }
        (Belief::Symbolic(states), Label::Input(gate, _) | Label::Output(gate, _)) => {
            let from = |state: &SymState| {
                let here = cx.sts.switches_from(state.loc).filter(|(_, switch)| switch.gate == *gate);
                here.map(|(id, _)| id).collect::<Vec<_>>()
            };
            states.iter().flat_map(from).collect()
        }
        (Belief::Symbolic(_) | Belief::Unspecified, _) => Vec::new(),
    };
    found.sort_unstable();
    found.dedup();
    found
}
