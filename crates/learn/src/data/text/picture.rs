//! A register automaton as it is drawn while it is learned: locations with their variables, moves with guards.

use std::collections::BTreeMap;

use ioxide_fsm::mealy::InputId;
use ioxide_model::index::Idx;

use super::super::system::SeenAnswers;
use super::super::value_system::ValueSystem;
use super::super::values::FieldValues;
use super::{LearnedText, ModelTextWriter, OwedAnswers, WrittenEffects};
use crate::drawing::{Counterexample, DrawnMove, DrawnState, HypothesisDrawing, key_by_ways};
use crate::register::guards::{GuardedBranch, guard_machine};
use crate::register::learner::UnexpectedDataAnswer;
use crate::register::machine::RegisterMachine;

impl ValueSystem<'_> {
    /// Returns a hypothesis as it is drawn.
    pub fn draw_hypothesis(
        &self,
        number: usize,
        machine: &RegisterMachine,
        domain: &FieldValues,
        seen_answers: &SeenAnswers,
    ) -> HypothesisDrawing {
        let machine = &guard_machine(machine);
        LearnedText { machine, domain, gates: self.gates, seen_answers, messages: self.messages }.draw(number)
    }

    /// Returns the counterexample that refuted a hypothesis.
    pub fn show_surprise(
        &self,
        domain: &FieldValues,
        seen_answers: &SeenAnswers,
        found: &UnexpectedDataAnswer,
    ) -> Counterexample {
        let steps = self.show_steps(domain, seen_answers, &found.seen);
        // The same run with what was believed in the end: values have the same names in both.
        let mut believed = found.seen.clone();
        if let Some((_, last)) = believed.last_mut() {
            last.clone_from(&found.believed);
        }
        let believed = self.show_steps(domain, seen_answers, &believed).pop().map(|(_, answer)| answer);
        Counterexample { steps, believed: believed.unwrap_or_default() }
    }
}

impl LearnedText<'_> {
    /// Returns the machine as it is drawn.
    #[must_use]
    pub fn draw(&self, number: usize) -> HypothesisDrawing {
        let (variables, given) = (self.name_variables(), self.find_given_registers());
        let state = |(name, variables): (String, &Vec<super::Variable>)| DrawnState {
            key: String::new(),
            name,
            variables: variables.iter().map(|(_, name)| name.clone()).collect(),
        };
        let states = self.name_states().into_iter().zip(&variables).map(state).collect();
        let (owing, said) = (OwedAnswers::default(), Default::default());
        // A drawing declares no constants.
        let limits = BTreeMap::new();
        let mut writer = ModelTextWriter {
            text: self,
            variables: &variables,
            given: &given,
            limits: &limits,
            owing,
            said,
        };
        let mut moves = Vec::new();
        for location in 0..self.machine.locations.len() {
            for gate in 0..self.gates.len() {
                moves.extend(writer.draw_moves(location, InputId::new(gate)));
            }
        }
        key_by_ways(HypothesisDrawing { number, states, moves })
    }
}

impl ModelTextWriter<'_, '_> {
    /// Returns the moves of a location with an input: one for every effect.
    fn draw_moves(&mut self, location: usize, gate: InputId) -> Vec<DrawnMove> {
        let mut groups: Vec<(WrittenEffects, Vec<&GuardedBranch>)> = Vec::new();
        let branches = &self.text.machine.locations[location].branches;
        for branch in branches.iter().filter(|branch| branch.gate == gate) {
            let effects = self.describe_effects(location, branch);
            match groups.iter_mut().find(|(known, all)| *known == effects && all[0].target == branch.target) {
                Some((_, alike)) => alike.push(branch),
                None => groups.push((effects, vec![branch])),
            }
        }
        let draw = |at: usize| {
            let (effects, branches) = &groups[at];
            let guard = self.write_guard(location, gate, &groups, at);
            let updates: Vec<String> =
                effects.updates.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            DrawnMove {
                from: location,
                to: branches[0].target,
                text: format!("{} / {}", self.message_text(gate), effects.target),
                guard: guard.trim_start().trim_start_matches("when ").to_owned(),
                updates: updates.join(", "),
            }
        };
        (0..groups.len()).map(draw).collect()
    }

    /// Returns the assignments of a move and, in the place of the target, its answer; `δ` if it has none.
    fn describe_effects(&mut self, location: usize, branch: &GuardedBranch) -> WrittenEffects {
        let (mut updates, late) = self.stored_updates(location, branch);
        let answer = self.write_answer(location, branch, &mut updates, &late);
        let target = if answer.is_empty() { "δ".to_owned() } else { answer.join(", ") };
        WrittenEffects { updates, target }
    }
}
