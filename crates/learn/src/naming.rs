//! Names for the states of a learned machine, where its outputs suggest them.
//!
//! A state that is always entered with one and the same output, and is the only such state, is named after it;
//! the first state is `start`; all others have numbers.

use ioxide_fsm::mealy::{Mealy, OutputId, StateId};
use ioxide_model::index::Idx;

/// A move as names need it: its source state, its output, its target state.
pub type NamedMove = (usize, OutputId, usize);

/// The moves of a machine.
#[must_use]
pub fn machine_moves(machine: &Mealy) -> Vec<NamedMove> {
    let moves = machine.states().flat_map(|from| machine.inputs().map(move |input| (from, input)));
    let arrow = |(from, input): (StateId, _)| {
        let edge = machine.edge(from, input)?;
        Some((from.index(), edge.output, edge.next.index()))
    };
    moves.filter_map(arrow).collect()
}

/// A name for each of `n_states` states, each an identifier and different from the others; the first is the initial
/// state.
#[must_use]
pub fn state_names(n_states: usize, arrows: &[NamedMove], output_names: &[String]) -> Vec<String> {
    let entered: Vec<Option<OutputId>> = (0..n_states).map(|state| entering_output(arrows, state)).collect();
    let name = |state: usize| {
        if state == 0 {
            return "start".to_owned();
        }
        let alike = |output: OutputId| entered.iter().filter(|&&other| other == Some(output)).count();
        let suggested = entered[state]
            .filter(|&output| alike(output) == 1)
            .and_then(|output| name_part(output_names.get(output.index())?));
        suggested.map_or_else(|| format!("s{state}"), |name| format!("after_{name}"))
    };
    let mut names: Vec<String> = Vec::new();
    for state in 0..n_states {
        let name = name(state);
        names.push(if names.contains(&name) { format!("s{state}") } else { name });
    }
    names
}

/// The one output with which `state` is entered from others.
fn entering_output(arrows: &[NamedMove], state: usize) -> Option<OutputId> {
    let mut outputs =
        arrows.iter().filter(|(from, _, to)| *to == state && *from != state).map(|(_, output, _)| *output);
    let first = outputs.next()?;
    outputs.all(|output| output == first).then_some(first)
}

/// The letters of a message name, as an identifier; `None` if there are none, or a digit comes first.
#[must_use]
pub fn identifier(text: &str) -> Option<String> {
    name_part(text).filter(|name| name.starts_with(|letter: char| letter.is_ascii_lowercase()))
}

/// The letters and digits of a message name, as a part of an identifier behind others; `None` if there are none.
#[must_use]
pub fn name_part(text: &str) -> Option<String> {
    let mut name = String::new();
    for letter in text.chars() {
        match letter {
            'a'..='z' | '0'..='9' => name.push(letter),
            'A'..='Z' => name.push(letter.to_ascii_lowercase()),
            _ if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            _ => (),
        }
    }
    let name = name.trim_matches('_').to_owned();
    (!name.is_empty()).then_some(name)
}
