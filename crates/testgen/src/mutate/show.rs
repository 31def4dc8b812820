//! A switch as the modelling language writes it, for diffs people read.

use ioxide_model::sts::{GateKind, Model, Switch};
use ioxide_model::term::{Term, VarId};

/// The declaration of a variable with its value at start, without its sort.
#[must_use]
pub fn show_initial(model: &Model, var: VarId, value: Option<Term>) -> String {
    let name = &model.pool.var_info(var).name;
    value.map_or_else(|| format!("var {name}"), |value| format!("var {name} = {}", model.pool.show(value)))
}

/// Returns `switch` on one line: its source, label, message, guard, update and target.
#[must_use]
pub fn show_switch(model: &Model, switch: &Switch) -> String {
    let sts = &model.sts;
    let gate = &sts.gates[switch.gate];
    let verb = match gate.kind {
        GateKind::Internal => "internal".to_owned(),
        GateKind::Input | GateKind::Observed => format!("on {}", gate.name),
        GateKind::Output => format!("emit {}", gate.name),
    };
    let guard = if model.pool.is_true(switch.guard) {
        String::new()
    } else {
        format!(" when {}", model.pool.show(switch.guard))
    };
    let assignment =
        |(var, term): &(_, _)| format!("{} = {}", model.pool.var_info(*var).name, model.pool.show(*term));
    let reset = |clock: &_| format!("reset {}", model.pool.var_info(*clock).name);
    let update: Vec<String> =
        switch.update.iter().map(assignment).chain(switch.resets.iter().map(reset)).collect();
    let update = if update.is_empty() { String::new() } else { format!(" {{ {} }}", update.join(", ")) };
    let (source, target) = (&sts.locations[switch.source].name, &sts.locations[switch.target].name);
    format!("state {source}: {}: {verb}{guard}{update} -> {target}", switch.label)
}
