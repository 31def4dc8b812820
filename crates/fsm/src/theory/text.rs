//! The sets of a machine as a text for people.

use super::{ChoiceTheory, DeterministicTheory, KnownExistence};
use crate::mealy::{MachineNames, StateId, SuiteModel};
use crate::nfsm::Observable;
use crate::word::{Word, show_word};

impl DeterministicTheory {
    /// Returns the sets of `spec`, whose theory this is, line by line.
    #[must_use]
    pub fn describe(&self, spec: &SuiteModel) -> String {
        let names = spec.names();
        let mut text = describe_size(names, "deterministic, complete, connected, minimal");
        let cover = self.cover.iter().map(|(state, it)| (*state, show_or_nothing(names, it)));
        add_by_state(&mut text, names, "state cover", cover);
        text.push_str(&format!("characterising set:\n  {}\n", show_all(names, &self.characterising)));
        let identifiers = self.identifiers.iter_enumerated().map(|(state, it)| (state, show_all(names, it)));
        add_by_state(&mut text, names, "harmonised identifiers", identifiers);
        let preset = match &self.preset {
            KnownExistence::Found(it) => show_or_nothing(names, it),
            KnownExistence::Nowhere => "none, proved".to_owned(),
            KnownExistence::Unknown => "not known, the search was given up".to_owned(),
        };
        let adaptive = if self.is_adaptively_distinguishable { "exists" } else { "none, proved" };
        text.push_str(&format!("distinguishing word: {preset}\nadaptive distinguishing word: {adaptive}\n"));
        let fewest = self.fewest_symbols;
        text.push_str(&format!(
            "lower bound: every complete suite has at least {fewest} inputs, one per transition\n"
        ));
        text
    }
}

impl ChoiceTheory {
    /// Returns the sets of `model`, whose theory this is, line by line.
    #[must_use]
    pub fn describe(&self, model: &Observable) -> String {
        let names = model.names();
        let mut text = describe_size(names, "nondeterministic, observable");
        let cover = self.cover.iter().map(|(state, it)| (*state, show_or_nothing(names, it)));
        add_by_state(&mut text, names, "reached with any answers", cover);
        let (some, all) = (self.distinguishable.len(), self.pairs);
        text.push_str(&format!("distinguished with any answers: {some} of {all} pairs\n"));
        for (a, b, steps) in &self.distinguishable {
            text.push_str(&format!("  {} | {}  in {steps}\n", names.states[*a], names.states[*b]));
        }
        if !self.cases.is_empty() {
            text.push_str("adaptive characterising set (what follows an answer, in brackets):\n");
        }
        for case in &self.cases {
            text.push_str(&format!("  {}\n", case.show(names)));
        }
        let set: Vec<&str> = self.lower_bound.iter().map(|&state| names.states[state].as_str()).collect();
        let more = if self.is_largest { "" } else { "; there may be a larger set" };
        text.push_str(&format!(
            "lower bound: a system that passes has at least {} states ({}){more}\n",
            set.len(),
            set.join(", ")
        ));
        text
    }
}

fn show_or_nothing(names: &MachineNames, word: &Word) -> String {
    if word.is_empty() { "(nothing)".to_owned() } else { show_word(names, word) }
}

fn show_all(names: &MachineNames, all: &[Word]) -> String {
    all.iter().map(|it| show_or_nothing(names, it)).collect::<Vec<_>>().join(", ")
}

/// Adds a heading and a line for every state.
fn add_by_state<'a>(
    text: &mut String,
    names: &MachineNames,
    head: &str,
    all: impl Iterator<Item = (StateId, String)> + 'a,
) {
    text.push_str(&format!("{head}:\n"));
    let width = names.states.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (state, told) in all {
        text.push_str(&format!("  {:width$}  {told}\n", names.states[state]));
    }
}

fn describe_size(names: &MachineNames, kind: &str) -> String {
    let (states, inputs, outputs) = (names.states.len(), names.inputs.len(), names.outputs.len());
    format!("{states} states, {inputs} inputs, {outputs} outputs: {kind}\n")
}
