//! Two models in one pool, so that their values can be compared.
//!
//! Terms stay with their pool, so those of the implementation are [imported](TermImport) into the pool
//! of the specification.

use ioxide_model::sts::{Clock, Gate, GateKind, Model, StateVar, Sts, Switch};
use ioxide_model::term::{DataClash, TermImport};

use super::PortMismatch;
use super::ports::counterpart;

/// Returns the system of `imp` with its terms in the pool of `spec`. Messages that only the implementation has are
/// added to the specification, which never uses them.
///
/// # Errors
/// If the models have different data types of one name, and messages have values of them.
pub fn join(spec: &mut Model, imp: &Model) -> Result<Sts, PortMismatch> {
    // Other types, such as the states of a model behind a channel, are nobody else's business.
    let messages = imp.sts.gates.iter().filter(|gate| gate.kind != GateKind::Internal);
    let sorts = messages.flat_map(|gate| &gate.fields).map(|&field| imp.pool.var_info(field).sort);
    let import = TermImport::sharing(&mut spec.pool, &imp.pool, sorts)
        .map_err(|DataClash(name)| PortMismatch(format!("the models have different types `{name}`")))?;
    let sts = SystemImport(import).system(&imp.sts);
    for gate in &sts.gates {
        let known = counterpart(&spec.sts, gate).is_some();
        // An input here and an output there is a mistake, which the comparison tells.
        let other = spec.sts.gate_named(&gate.name).map(|it| &spec.sts.gates[it]);
        let flipped = other.is_some_and(|other| counterpart(&sts, other).is_none());
        if gate.kind != GateKind::Internal && !known && !flipped {
            spec.sts.gates.push(gate.clone());
        }
    }
    Ok(sts)
}

/// Builds a system of one pool in another.
struct SystemImport<'p>(TermImport<'p>);

impl SystemImport<'_> {
    /// Returns the system with its variables and terms in the other pool.
    fn system(&mut self, sts: &Sts) -> Sts {
        let mut image = sts.clone();
        for var in &mut image.vars {
            *var = StateVar {
                var: self.0.var(var.var),
                init: var.init.map(|term| self.0.term(term)),
                span: var.span,
            };
        }
        for clock in &mut image.clocks {
            *clock = Clock { var: self.0.var(clock.var), span: clock.span };
        }
        for gate in image.gates.iter_mut() {
            let fields = gate.fields.iter().map(|&field| self.0.var(field)).collect();
            *gate = Gate { fields, ..gate.clone() };
        }
        for switch in image.switches.iter_mut() {
            *switch = self.switch(switch);
        }
        image.goals.clear();
        image
    }

    /// Returns a switch with its terms in the other pool.
    fn switch(&mut self, switch: &Switch) -> Switch {
        let update = switch.update.iter().map(|&(var, term)| (self.0.var(var), self.0.term(term))).collect();
        let resets = switch.resets.iter().map(|&clock| self.0.var(clock)).collect();
        let range_check = switch.range_check.map(|term| self.0.term(term));
        Switch { guard: self.0.term(switch.guard), update, resets, range_check, ..switch.clone() }
    }
}
