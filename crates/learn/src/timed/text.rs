//! A machine with time-outs as a model with two clocks: `since` the last message, and the `timer`.
//!
//! An answer comes within the tolerance; what comes by itself comes when the timer is at its delay, give or take the
//! tolerance. A move that starts the timer sets it back.

use std::fmt::Write as _;
use std::time::Duration;

use ioxide_fsm::mealy::{InputId, Mealy, MealyEdge, StateId};
use ioxide_model::index::Idx;

use super::TimedResult;
use crate::draft::{DraftError, DraftHead, OwedAnswers, format_draft, input_text, label_texts};
use crate::messages::Messages;
use crate::naming::{machine_moves, state_names};

impl TimedResult {
    /// Returns the machine as a model.
    ///
    /// # Errors
    /// If a name of the machine cannot be written in a model.
    pub fn write_model(&self, head: &DraftHead<'_>, messages: &Messages) -> Result<String, DraftError> {
        TimedText { result: self, machine: &self.learned.machine, messages }.write_model(head)
    }
}

/// A machine with time-outs on its way to a text.
struct TimedText<'t> {
    result: &'t TimedResult,
    /// The machine; its last input is to wait.
    machine: &'t Mealy,
    messages: &'t Messages,
}

impl TimedText<'_> {
    fn write_model(&self, head: &DraftHead<'_>) -> Result<String, DraftError> {
        let model = &self.messages.model;
        let said = |name: &String| name.split(" after ").next().unwrap_or(name).to_owned();
        let outputs: Vec<String> = self.result.seen.names.outputs.iter().map(said).collect();
        let states = state_names(self.machine.n_states(), &machine_moves(self.machine), &outputs);
        let mut owed = OwedAnswers::default();
        let mut body = String::new();
        if !self.messages.preamble.is_empty() {
            let first =
                owed.state_for(&self.write_soon(&label_texts(model, &self.messages.preamble)), &states[0]);
            body.push_str(&owed.take_state(&first));
        }
        for state in self.machine.states() {
            body.push_str(&self.write_state(state, &states, &mut owed));
        }
        let mut text = head.write(model)?;
        text.push_str(
            "/// Since the last message.\nclock since\n/// Since the timer was started.\nclock timer\n",
        );
        text.push_str(&body);
        text.push_str(&owed.remaining_states());
        text.push_str("}\n");
        format_draft(text)
    }

    /// Returns messages that come at once, one after the other.
    fn write_soon(&self, said: &[String]) -> Vec<String> {
        let most = self.result.settings.tolerance.as_millis();
        said.iter().map(|said| format!("{said} when since <= {most}ms {{ reset since }}")).collect()
    }

    fn write_state(&self, state: StateId, states: &[String], owed: &mut OwedAnswers) -> String {
        let mut text = format!("\nstate {} {{\n", states[state.index()]);
        let (wait, inputs) = (InputId::new(self.machine.n_inputs() - 1), self.machine.n_inputs() - 1);
        for input in (0..inputs).map(InputId::new) {
            let Some(edge) = self.machine.edge(state, input) else { continue };
            let target = self.state_owing(edge, 0, states, owed);
            let resets = self.write_resets(state, input);
            let message = input_text(self.messages, &self.result.seen.names.inputs[input]);
            let _ = writeln!(text, "on {message} {resets} -> {target}");
        }
        if let Some(edge) = self.machine.edge(state, wait)
            && let Some(after) = self.result.seen.delay(edge.output)
        {
            let said = label_texts(&self.messages.model, self.result.seen.labels(edge.output));
            let target = self.state_owing(edge, 1, states, owed);
            let resets = self.write_resets(state, wait);
            let (least, most) = self.delay_bounds(after);
            let first = said.first().map_or("", String::as_str);
            let _ = writeln!(
                text,
                "emit {first} when timer >= {least}ms && timer <= {most}ms {resets} -> {target}"
            );
        }
        text.push_str("}\n");
        text
    }

    fn delay_bounds(&self, after: Duration) -> (u128, u128) {
        let tolerance = self.result.settings.tolerance;
        (after.saturating_sub(tolerance).as_millis(), (after + tolerance).as_millis())
    }

    /// Returns the state a move leads to when all but the first `done` messages of its answer are still to be emitted.
    fn state_owing(&self, edge: MealyEdge, done: usize, states: &[String], owed: &mut OwedAnswers) -> String {
        let said = label_texts(&self.messages.model, self.result.seen.labels(edge.output));
        owed.state_for(&self.write_soon(&said[done.min(said.len())..]), &states[edge.next.index()])
    }

    fn write_resets(&self, state: StateId, input: InputId) -> &'static str {
        if self.result.starts.moves[state.index() * self.machine.n_inputs() + input.index()] {
            "{ reset since, reset timer }"
        } else {
            "{ reset since }"
        }
    }
}
