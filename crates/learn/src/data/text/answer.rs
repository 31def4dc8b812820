//! The messages of an answer: known values, and values that the system makes up.
//!
//! A value that is made up is in a field without a given value. A guard demands only that it differ from the values
//! that were made up before and are still known, or that it is compared with. It is stored when the message is emitted,
//! so it is available for later messages only.

use ioxide_model::index::Idx;
use ioxide_model::label::source_message_name;
use ioxide_model::name::source_name;
use ioxide_model::value::Value;

use super::{ModelTextWriter, ValueKind};
use crate::register::guards::{GuardedAnswerValue, GuardedBranch, Operand};

/// Variables that are set to a value, by its text.
type Updates = Vec<(String, String)>;

/// A message on its way to a text.
#[derive(Default)]
struct AnswerMessage {
    /// The fields with a known value.
    fields: Vec<String>,
    /// The conditions on the other fields.
    guard: Vec<String>,
    /// The assignments when the message is emitted.
    updates: Vec<String>,
}

/// The values made up in an answer so far, and the field or variable that holds each.
#[derive(Default)]
struct MadeUp {
    /// In a field of the message that is written.
    here: Vec<(Operand, String)>,
    /// In a variable, once an earlier message has come.
    kept: Vec<(Operand, String)>,
}

impl ModelTextWriter<'_, '_> {
    /// Returns the messages of an answer; `updates` also keep values that are overwritten before the answer, and those
    /// of `late` are stored by the message that makes them up.
    pub(super) fn write_answer(
        &mut self,
        location: usize,
        branch: &GuardedBranch,
        updates: &mut Updates,
        late: &[(String, Operand)],
    ) -> Vec<String> {
        let model = &self.text.messages.model;
        let mut changed: Vec<String> = updates.iter().map(|(name, _)| name.clone()).collect();
        let mut made = MadeUp::default();
        let mut told = branch.told.iter().copied();
        let mut texts = Vec::new();
        for (gate, fixed) in &self.text.seen_answers.shapes[branch.shape.index()] {
            let mut message = AnswerMessage::default();
            for (&field, value) in model.sts.gates[*gate].fields.iter().zip(fixed) {
                let info = model.pool.var_info(field);
                let is_text = ValueKind::of_sort(info.sort) == Some(ValueKind::Text);
                let value = match (value, value.is_none().then(|| told.next()).flatten()) {
                    (Some(value), _) => self.value_text(value),
                    (None, Some(GuardedAnswerValue::Literal(at))) => self.write_literal(at),
                    (None, Some(GuardedAnswerValue::Operand(operand)))
                        if self.text.is_made(branch.gate, operand) =>
                    {
                        match self.write_made_value(
                            branch,
                            operand,
                            (&source_name(&info.name), is_text),
                            late,
                            &mut made,
                            &mut message,
                        ) {
                            Some(value) => value,
                            None => continue,
                        }
                    }
                    (None, Some(GuardedAnswerValue::Operand(operand))) => {
                        let value = self.write_operand(location, branch.gate, operand);
                        match operand {
                            Operand::Constant(_) => value,
                            // The variable still has the value that it had before the input; otherwise a copy is
                            // kept.
                            Operand::Register(_) if !changed.contains(&value) => value,
                            Operand::Register(_) | Operand::Field(_) => {
                                self.store_value(updates, is_text, value)
                            }
                        }
                    }
                    (None, None) => continue,
                };
                message.fields.push(format!("{}: {value}", source_name(&info.name)));
            }
            // From the next message on, what was stored here has its new value.
            changed.extend(late.iter().filter(|(_, it)| made.has_here(*it)).map(|(name, _)| name.clone()));
            made.here.clear();
            texts.push(message.message_text(&source_message_name(&model.sts, *gate)));
        }
        texts
    }

    /// Returns the variable that holds a made-up value since an earlier message; `None` if this message makes it up or
    /// repeats it, which becomes a condition on the field.
    fn write_made_value(
        &mut self,
        branch: &GuardedBranch,
        operand: Operand,
        (field, is_text): (&str, bool),
        late: &[(String, Operand)],
        made: &mut MadeUp,
        message: &mut AnswerMessage,
    ) -> Option<String> {
        if let Some((_, first)) = made.here.iter().find(|(it, _)| *it == operand) {
            message.guard.push(format!("{field} == {first}"));
            return None;
        }
        if let Some((_, kept)) = made.kept.iter().find(|(it, _)| *it == operand) {
            return Some(kept.clone());
        }
        made.here.push((operand, field.to_owned()));
        let mut stored: Vec<String> =
            late.iter().filter(|(_, it)| *it == operand).map(|(name, _)| name.clone()).collect();
        let n_said = branch.told.iter().filter(|it| **it == GuardedAnswerValue::Operand(operand)).count();
        // Emitted more than once and stored nowhere: a variable of its own carries it to the later messages.
        if n_said > 1 && stored.is_empty() {
            let name = format!("made_{}", if is_text { "text_" } else { "" });
            stored.push(format!("{name}{}", made.kept.len() + 1));
            self.said.insert(stored[0].clone(), is_text);
        }
        made.kept.extend(stored.first().map(|name| (operand, name.clone())));
        let known = self.variables[branch.target].iter().zip(&branch.registers).enumerate();
        for (register, ((kind, name), held)) in known {
            // A value that a later message makes up cannot be compared with yet.
            let is_later =
                self.text.is_made(branch.gate, *held) && !made.has_here(*held) && !made.has_kept(*held);
            let is_like = *kind == is_text
                && (!self.given[branch.target][register] || self.is_compared(branch, operand, register));
            if *held != operand && is_like && !is_later {
                let value = made.here.iter().find(|(it, _)| it == held).map_or(name, |(_, field)| field);
                message.guard.push(format!("{field} != {value}"));
            }
        }
        message.updates.extend(stored.iter().map(|name| format!("{name} = {field}")));
        None
    }

    /// Returns whether a guard after `branch` compares `register` with a register that holds `operand`; then the two
    /// must differ.
    fn is_compared(&self, branch: &GuardedBranch, operand: Operand, register: usize) -> bool {
        let holds = |it: Operand| match it {
            Operand::Register(at) => branch.registers.get(at) == Some(&operand),
            Operand::Field(_) | Operand::Constant(_) => false,
        };
        let it = Operand::Register(register);
        let there = &self.text.machine.locations[branch.target].branches;
        let mut guards = there.iter().flat_map(|branch| &branch.guard);
        guards.any(|guard| guard.left == it && holds(guard.right) || guard.right == it && holds(guard.left))
    }

    fn write_literal(&self, at: i64) -> String {
        let value = usize::try_from(at).ok().and_then(|at| self.text.seen_answers.literals.get(at));
        value.map_or_else(|| "0".into(), |value: &Value| self.value_text(value))
    }

    /// Returns a variable that has `value` when the answer is given.
    fn store_value(&mut self, updates: &mut Updates, is_text: bool, value: String) -> String {
        let base = if is_text { "said_text" } else { "said" };
        let used = updates.iter().filter(|(name, _)| name.starts_with("said")).count();
        let name = if used == 0 { base.to_owned() } else { format!("{base}_{}", used + 1) };
        updates.push((name.clone(), value));
        self.said.insert(name.clone(), is_text);
        name
    }
}

impl MadeUp {
    fn has_here(&self, operand: Operand) -> bool {
        self.here.iter().any(|(it, _)| *it == operand)
    }

    fn has_kept(&self, operand: Operand) -> bool {
        self.kept.iter().any(|(it, _)| *it == operand)
    }
}

impl AnswerMessage {
    /// Returns the message as it is written after `emit`.
    fn message_text(&self, name: &str) -> String {
        let part = |all: &[String], before: &str, between: &str, after: &str| {
            if all.is_empty() { String::new() } else { format!("{before}{}{after}", all.join(between)) }
        };
        let fields = part(&self.fields, "(", ", ", ")");
        let guard = part(&self.guard, " when ", " && ", "");
        format!("{name}{fields}{guard}{}", part(&self.updates, " { ", ", ", " }"))
    }
}
