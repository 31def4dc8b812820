//! Hypotheses as they are drawn while they are learned, and counterexamples as they are shown.
//!
//! States of a machine keep their numbers from one hypothesis to the next, since a learner only ever adds some; so a
//! number says which state it is. Locations of a machine with variables do not: there a state is known by the first of
//! the shortest ways to it.

use std::collections::VecDeque;

use ioxide_fsm::mealy::{MachineNames, Mealy};
use ioxide_model::index::Idx;

use crate::learner::UnexpectedAnswer;
use crate::naming::{NamedMove, machine_moves, state_names};
use crate::several::{AnswerWay, SeveralDraft};

/// A hypothesis to draw; the first state is initial.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HypothesisDrawing {
    /// The number of the hypothesis.
    pub number: usize,
    /// Its states.
    pub states: Vec<DrawnState>,
    /// Its transitions.
    pub moves: Vec<DrawnMove>,
}

/// A state of a hypothesis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnState {
    /// An identifier that stays the same from one hypothesis to the next.
    pub key: String,
    /// Its name.
    pub name: String,
    /// The variables that are live in the state.
    pub variables: Vec<String>,
}

/// A transition of a hypothesis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DrawnMove {
    /// The position of the source state.
    pub from: usize,
    /// The position of the target state.
    pub to: usize,
    /// The input and the output.
    pub text: String,
    /// The guard; may be empty.
    pub guard: String,
    /// The updates of variables; may be empty.
    pub updates: String,
}

/// A trace on which system and hypothesis differ in the last output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counterexample {
    /// The inputs with the outputs of the system.
    pub steps: Vec<(String, String)>,
    /// The output of the hypothesis in place of the last one.
    pub believed: String,
}

/// Returns the drawing of a machine.
#[must_use]
pub fn draw_machine(number: usize, machine: &Mealy, names: &MachineNames) -> HypothesisDrawing {
    let mut moves = Vec::new();
    for state in machine.states() {
        for input in machine.inputs() {
            let Some(edge) = machine.edge(state, input) else { continue };
            let text = format!("{} / {}", names.inputs[input], names.outputs[edge.output]);
            moves.push(DrawnMove {
                from: state.index(),
                to: edge.next.index(),
                text,
                ..DrawnMove::default()
            });
        }
    }
    let states = state_names(machine.n_states(), &machine_moves(machine), names.outputs.as_slice());
    HypothesisDrawing { number, states: number_states(states), moves }
}

/// Returns the drawing of a machine that answers in several ways. Its states are others than those of the machines
/// before it, but for the first.
#[must_use]
pub fn draw_choices(number: usize, draft: &SeveralDraft, names: &MachineNames) -> HypothesisDrawing {
    let arrows: Vec<NamedMove> = draft.ways.iter().map(|way| (way.from, way.output, way.to)).collect();
    let draw = |way: &AnswerWay| {
        let seen = if way.seen == 1 { "once".into() } else { format!("{} times", way.seen) };
        let text = format!("{} / {} ({seen})", names.inputs[way.input], names.outputs[way.output]);
        DrawnMove { from: way.from, to: way.to, text, ..DrawnMove::default() }
    };
    let states = state_names(draft.n_states, &arrows, names.outputs.as_slice());
    let mut states = number_states(states);
    states.iter_mut().skip(1).for_each(|state| state.key.insert_str(0, "draft "));
    HypothesisDrawing { number, states, moves: draft.ways.iter().map(draw).collect() }
}

fn number_states(names: Vec<String>) -> Vec<DrawnState> {
    let state = |(at, name): (usize, String)| DrawnState { key: at.to_string(), name, variables: Vec::new() };
    names.into_iter().enumerate().map(state).collect()
}

/// Returns the counterexample that refuted a machine.
#[must_use]
pub fn show_surprise(found: &UnexpectedAnswer, names: &MachineNames) -> Counterexample {
    let step = |&(input, output): &(_, _)| (names.inputs[input].clone(), names.outputs[output].clone());
    Counterexample {
        steps: found.seen.iter().map(step).collect(),
        believed: names.outputs[found.believed].clone(),
    }
}

/// Gives every state the first of the shortest ways to it as its key.
#[must_use]
pub fn key_by_ways(mut drawing: HypothesisDrawing) -> HypothesisDrawing {
    let mut ways: Vec<Option<String>> = vec![None; drawing.states.len()];
    if let Some(first) = ways.first_mut() {
        *first = Some(String::new());
    }
    // Breadth first, so that the way to a state is a shortest one. Numbers of states change from machine to machine,
    // the ways mostly do not, so a page can tell which state stayed.
    let mut queue = VecDeque::from([0]);
    while let Some(at) = queue.pop_front() {
        for it in drawing.moves.iter().filter(|it| it.from == at) {
            let way = ways[at].clone().unwrap_or_default();
            let target = &mut ways[it.to];
            if target.is_none() {
                *target = Some(format!("{way}\n{} {}", it.text, it.guard));
                queue.push_back(it.to);
            }
        }
    }
    for (state, way) in drawing.states.iter_mut().zip(ways) {
        // A state that nothing leads to is known by its name.
        state.key = way.unwrap_or_else(|| state.name.clone());
    }
    drawing
}
