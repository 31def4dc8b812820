//! The self-test of a system without an adapter: are its templates and patterns of use?
//!
//! For every input of the model: a reset, the input with plain values, and all that is said
//! after it must be an output of the model. Then all of it once more, backwards: a system that answers
//! otherwise than before may not have been reset. Where nothing is answered at all, the end of
//! the inputs may be wrong. Both are no more than reasons to look: a system may choose.

use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_record::value::{WireMessage, label_from_json};

use super::sample::args_of;
use super::{AllowedInputs, CheckState, KnownSystem, MAX_OUTPUTS, SelfTestCheck, SelfTestChecks, shown};
use crate::adapter::{Adapter, AdapterError, Observation};
use crate::protocol::{LabelInfo, MessageDirection};

/// Tries the system behind `adapter`, which listens for `patience` after every input.
#[must_use]
pub fn selftest_plain(
    adapter: &mut dyn Adapter,
    model: &Model,
    allowed: &AllowedInputs,
    patience: Duration,
) -> Vec<SelfTestCheck> {
    let mut trial =
        PlainSelfTest { adapter, model, allowed, patience, checks: SelfTestChecks::default(), resets: 0 };
    trial.run_checks();
    trial.checks.tried
}

/// A self-test under way.
struct PlainSelfTest<'t> {
    adapter: &'t mut dyn Adapter,
    model: &'t Model,
    allowed: &'t AllowedInputs,
    patience: Duration,
    checks: SelfTestChecks,
    resets: usize,
}

/// An input and what was answered.
struct TriedInput {
    input: Label,
    answers: Vec<(Label, Duration)>,
}

impl PlainSelfTest<'_> {
    /// Makes all checks; `None` if the system is of no more use.
    fn run_checks(&mut self) -> Option<()> {
        let model = self.model;
        let mut seen = Vec::new();
        for gate in model.sts.gates.iter().filter(|gate| gate.kind == GateKind::Input) {
            seen.extend(self.try_input(&gate.name)?);
        }
        reset(self.adapter, &mut self.checks, &mut self.resets)?;
        self.sum_up(&seen);
        self.repeat_inputs(&seen)
    }

    /// Tries the input called `name`; nothing if it cannot be tried, or was refused.
    fn try_input(&mut self, name: &str) -> Option<Option<TriedInput>> {
        reset(self.adapter, &mut self.checks, &mut self.resets)?;
        let check = format!("input {name}");
        let Some(label) = sample(self.model, self.allowed, name) else {
            self.checks.add(&check, CheckState::Skipped, "no value is known for its fields".into());
            return Some(None);
        };
        match input(self.adapter, &label, self.patience) {
            Err(AdapterError::Refused(reason)) => {
                self.checks.add(&check, CheckState::Ok, format!("refused: {reason}"));
                Some(None)
            }
            Err(error @ AdapterError::Unwritable(_)) => {
                self.checks.add(&check, CheckState::Failed, error.to_string());
                Some(None)
            }
            result => {
                let noted = |answers: &Vec<(Label, Duration)>| describe_answers(self.model, answers);
                let answers = self.checks.take(&check, result, noted)?;
                Some(Some(TriedInput { input: label, answers }))
            }
        }
    }

    /// Adds the check whether any input was answered, with the latency of the slowest first answer.
    fn sum_up(&mut self, seen: &[TriedInput]) {
        let times = seen.iter().filter_map(|one| one.answers.first()).map(|(_, took)| *took);
        let (state, note) = match times.max() {
            Some(slowest) => {
                let answered = seen.iter().filter(|one| !one.answers.is_empty()).count();
                let waited = shown(self.patience);
                let slowest = shown(slowest);
                let note = format!(
                    "{answered} of {} inputs, the slowest after {slowest}; silence is {waited}",
                    seen.len()
                );
                (CheckState::Ok, note)
            }
            None if seen.is_empty() => (CheckState::Skipped, "no input could be given".into()),
            None => {
                let note = "no input was answered: if one should be, check the end of the inputs (`input_end`), \
                            `framing` and `silence_ms`";
                (CheckState::Odd, note.to_owned())
            }
        };
        self.checks.add("answers", state, note);
    }

    /// Gives every input again, each after a reset; the system should answer as before.
    fn repeat_inputs(&mut self, seen: &[TriedInput]) -> Option<()> {
        // Backwards, as what one input does another may undo.
        for one in seen.iter().rev() {
            reset(self.adapter, &mut self.checks, &mut self.resets)?;
            let name = "same again";
            let answers = match input(self.adapter, &one.input, self.patience) {
                Ok(answers) => answers,
                Err(error) => return self.checks.take(name, Err(error), |()| String::new()),
            };
            let labels = |answers: &[(Label, Duration)]| -> Vec<Label> {
                answers.iter().map(|(label, _)| label.clone()).collect()
            };
            if labels(&answers) != labels(&one.answers) {
                let note = self.differs(one, &answers);
                self.checks.add(name, CheckState::Odd, note);
                return Some(());
            }
        }
        if !seen.is_empty() {
            self.checks.add(
                "same again",
                CheckState::Ok,
                "after a reset every input is answered as before".into(),
            );
        }
        Some(())
    }

    fn differs(&self, before: &TriedInput, now: &[(Label, Duration)]) -> String {
        let input = before.input.show(&self.model.pool, &self.model.sts);
        let shown = |answers: &[(Label, Duration)]| match answers {
            [] => "no answer".to_owned(),
            [(label, _), ..] => label.show(&self.model.pool, &self.model.sts),
        };
        format!(
            "{input} got {}, and after a reset {}: the reset does not reset, or the system chooses",
            shown(&before.answers),
            shown(now)
        )
    }
}

/// Resets the system; the first two resets and every failed one are noted. `None` if it failed.
fn reset(adapter: &mut dyn Adapter, checks: &mut SelfTestChecks, done: &mut usize) -> Option<()> {
    *done += 1;
    let start = Instant::now();
    match (adapter.reset(), *done) {
        (Ok(()), 3..) => Some(()),
        (result, n) => {
            let name = if n == 1 { "reset" } else { "reset again" };
            checks.take(name, result, |()| format!("after {}", shown(start.elapsed())))
        }
    }
}

fn sample(model: &Model, allowed: &AllowedInputs, name: &str) -> Option<Label> {
    let info = LabelInfo { label: name.to_owned(), direction: MessageDirection::Input, fields: Vec::new() };
    let message = WireMessage {
        label: name.to_owned(),
        args: args_of(&info, KnownSystem { model: Some(model), allowed })?,
    };
    label_from_json(model, &message, |kind| kind == GateKind::Input).ok()
}

/// Sends the input and returns the outputs up to the next quiescence, each with the time since the input.
fn input(
    adapter: &mut dyn Adapter,
    label: &Label,
    patience: Duration,
) -> Result<Vec<(Label, Duration)>, AdapterError> {
    let start = Instant::now();
    adapter.send(label)?;
    let mut answers = Vec::new();
    while answers.len() < MAX_OUTPUTS {
        match adapter.observe(patience)? {
            Observation::Output(output) => answers.push((output.label, start.elapsed())),
            Observation::Quiet => break,
        }
    }
    Ok(answers)
}

fn describe_answers(model: &Model, answers: &[(Label, Duration)]) -> String {
    match answers {
        [] => "no answer".into(),
        [(label, took), rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", then {} more", rest.len()) };
            format!("{} after {}{more}", label.show(&model.pool, &model.sts), shown(*took))
        }
    }
}
