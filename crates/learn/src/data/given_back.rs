//! The probe whether values that the system emits of its own accord can be given back as inputs.
//!
//! A value that is always the same after the same inputs looks like a constant in an answer. But the number of a
//! session that begins with 1 after every reset is one, too. So, when all else is learned, such a value is given to
//! every field that can hold it, right after it was said, and so is another value: if that makes a difference, the
//! field carries what the system makes up.

use ioxide_model::label::Label;
use ioxide_model::value::Value;

use super::made_values::{self, MadeField};
use super::system::PointPlan;
use super::value_system::GivenValueSystem;
use super::value_system::ValueSystem;
use super::values::ValueKind;
use crate::messages::DataRun;
use crate::observer::LearningEffort;
use crate::register::place::Theory;
use crate::system::CopyLost;
use crate::system::MessageSystem as _;
use crate::watch::{LearningEvent, LearningNote};

/// A field, a value that was emitted in it, and the run that led there.
type SaidValue = (MadeField, Value, DataRun);

impl ValueSystem<'_> {
    /// Gives back values that the system emitted of its own accord; returns whether a field was found whose values it
    /// makes up.
    pub fn probe_given_back<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<bool, E> {
        // Made-up values have no place in an order that could be chosen, so the two are never assumed together.
        if self.theory() == Theory::Order {
            return Ok(false);
        }
        let mut found = Vec::new();
        for (field, value, run) in self.find_unprobed() {
            // Before the questions, so that a field is not tried again if they are interrupted.
            self.probed.push(field);
            if self.makes_difference(plan, (field, &value), &run, asked)? {
                let model = &self.messages.model;
                let (name, value) = (made_values::field_text(model, field), model.pool.show_value(&value));
                let note = LearningNote::GivenBackMatters { field: name, value };
                asked.watcher.notify(LearningEvent::Noted(note));
                found.push(field);
            }
        }
        self.made.extend(&found);
        Ok(!found.is_empty())
    }

    /// Returns for every field that was not tried yet the first value that nobody had given when it was said.
    fn find_unprobed(&self) -> Vec<SaidValue> {
        let mut found: Vec<SaidValue> = Vec::new();
        for run in &self.runs {
            let mut at = 0;
            made_values::for_each_new(&self.messages.model, &self.constants, run, |_, new| {
                at += 1;
                for (field, value) in new {
                    let is_known = self.made.contains(field)
                        || self.probed.contains(field)
                        || found.iter().any(|(it, ..)| it == field);
                    if !is_known {
                        found.push((*field, value.clone(), run[..at].to_vec()));
                    }
                }
            });
        }
        found
    }

    /// Returns whether some input after `run` is answered otherwise with `value` than with a value that is not used
    /// elsewhere.
    fn makes_difference<E: From<CopyLost> + Send>(
        &mut self,
        plan: &PointPlan,
        (field, value): (MadeField, &Value),
        run: &DataRun,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<bool, E> {
        let Some(kind) = made_values::value_kind(&self.messages.model, field) else { return Ok(false) };
        for gate in 0..plan.gates.len() {
            for at in 0..plan.domain.kinds[gate].len() {
                let inputs = |value: &Value| input_with(plan, gate, at, value);
                let (Some(same), Some(other)) = (inputs(value), inputs(&unused_value(kind, value))) else {
                    continue;
                };
                // Only the messages are compared: the answer may have other made-up values each time.
                let with = self.messages_after(run, same, asked)?;
                let without = self.messages_after(run, other, asked)?;
                if with != without {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns the messages that `input` is answered with after the inputs of `run`.
    fn messages_after<E: From<CopyLost> + Send>(
        &mut self,
        run: &DataRun,
        input: Label,
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<Vec<String>, E> {
        let inputs: Vec<Label> = run.iter().map(|(input, _)| input.clone()).chain([input]).collect();
        let is_it = |run: &&DataRun| run.iter().map(|(input, _)| input).eq(&inputs);
        // The runs of earlier sessions answer, too.
        let known = self.runs.iter().find(is_it).and_then(|run| run.last()).map(|(_, said)| said.clone());
        let last = match known {
            Some(said) => said,
            None => self.ask_last_answer(&inputs, asked)?,
        };
        let gate = |label: &Label| match label {
            Label::Output(gate, _) => self.messages.model.sts.gates[*gate].name.to_string(),
            _ => String::new(),
        };
        Ok(last.iter().map(gate).collect())
    }

    fn ask_last_answer<E: From<CopyLost> + Send>(
        &mut self,
        inputs: &[Label],
        asked: &mut GivenValueSystem<'_, '_, E>,
    ) -> Result<Vec<Label>, E> {
        asked.kept.reset()?;
        let mut last = Vec::new();
        for input in inputs {
            last = asked.kept.send_input(input)?;
        }
        self.effort = self.effort.plus(LearningEffort { resets: 1, symbols: inputs.len() as u64 });
        self.runs.extend(asked.kept.take_remembered());
        Ok(last)
    }
}

/// Returns an input with `value` in its data field number `at` and unused values in the others; `None` if the field
/// cannot hold `value`.
fn input_with(plan: &PointPlan, gate: usize, at: usize, value: &Value) -> Option<Label> {
    let kinds = &plan.domain.kinds[gate];
    super::values::can_hold(*kinds.get(at)?, value).then_some(())?;
    let mut number = 0;
    let of = |fixed: &Option<Value>| {
        fixed.clone().or_else(|| {
            number += 1;
            let is_it = number - 1 == at;
            Some(if is_it { value.clone() } else { unused_value(kinds[number - 1], value) })
        })
    };
    let values = plan.gates[gate].fixed.iter().map(of).collect::<Option<Vec<Value>>>()?;
    Some(Label::Input(plan.gates[gate].gate, values))
}

/// Returns a value of this kind that is not used elsewhere and is not `value`.
fn unused_value(kind: ValueKind, value: &Value) -> Value {
    let choices = match kind {
        ValueKind::Text => [Value::str("nobody"), Value::str("no one")],
        ValueKind::Number(least, most) => {
            let first = least.or(most.map(|most| most.saturating_sub(1))).unwrap_or(777_777);
            [Value::int(first), Value::int(first.saturating_add(1))]
        }
    };
    choices.into_iter().find(|it| it != value).unwrap_or_else(|| value.clone())
}
