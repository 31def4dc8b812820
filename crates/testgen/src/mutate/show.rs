//! Switches and changes as the modelling language writes them, for diffs people read.

use ioxide_model::sts::{GateKind, Model, Switch};
use ioxide_model::term::{Term, VarId};

use super::{Edit, Mutant, MutationChange, MutationOperator};

impl Mutant {
    /// Returns the name, and the switches before and after, as people compare them.
    #[must_use]
    pub fn show_diff(&self, model: &Model) -> String {
        let mut text = format!("{}\n", self.id);
        for edit in &self.edits {
            text.push_str(&format!("  - {}\n", edit.show_before(model)));
            match edit.operator {
                MutationOperator::Delete => text.push_str("  + (left out)\n"),
                _ => text.push_str(&format!("  + {}\n", edit.show_after(model))),
            }
        }
        text
    }
}

impl Edit {
    /// Returns the text of the switch or initial value that the edit changes, before it.
    #[must_use]
    pub fn show_before(&self, model: &Model) -> String {
        match &self.change {
            MutationChange::Switch(id, _) => show_switch(model, &model.sts.switches[*id]),
            MutationChange::Initial(var, _) => {
                let declared = model.sts.vars.iter().find(|it| it.var == *var);
                show_initial(model, *var, declared.and_then(|it| it.init))
            }
            MutationChange::Behind(change) => change.before.clone(),
        }
    }

    /// Returns the text of the switch or initial value that the edit changes, after it.
    #[must_use]
    pub fn show_after(&self, model: &Model) -> String {
        match &self.change {
            MutationChange::Switch(_, after) => show_switch(model, after),
            MutationChange::Initial(var, value) => show_initial(model, *var, Some(*value)),
            MutationChange::Behind(change) => change.after.clone(),
        }
    }
}

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
