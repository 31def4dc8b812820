//! Machines as tables of transitions.

use ioxide_model::index::Idx;

use crate::mealy::{MachineNames, Mealy};
use crate::nfsm::Nfsm;

/// Returns the machine as a table (state, input, output, next state), a line each; the initial state first.
#[must_use]
pub fn write_table(machine: &Nfsm) -> String {
    let names = machine.names();
    let mut lines: Vec<(bool, String)> = Vec::new();
    for row in machine.transitions() {
        let (from, input, output, to) = row;
        let words = [&names.states[from], &names.inputs[input], &names.outputs[output], &names.states[to]];
        let words: Vec<String> = words.into_iter().map(|word| word.split_whitespace().collect()).collect();
        lines.push((from != machine.initial(), words.join(" ")));
    }
    lines.sort_by_key(|(is_other, _)| *is_other);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// Returns the transitions of `machine` in the names of its specification: `state input output next`; an output that
/// has no name there is `something-else`.
#[must_use]
pub fn list_transitions(machine: &Mealy, names: &MachineNames) -> Vec<String> {
    let machine = machine.reachable_part();
    let mut rows = Vec::new();
    for state in machine.states() {
        for input in machine.inputs() {
            let Some(edge) = machine.edge(state, input) else { continue };
            let output = if edge.output.index() < names.outputs.len() {
                names.outputs[edge.output].as_str()
            } else {
                "something-else"
            };
            rows.push(format!("{} {} {output} {}", state.index(), names.inputs[input], edge.next.index()));
        }
    }
    rows
}
