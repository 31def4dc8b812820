//! The self-test of a system without an adapter: are its templates and patterns of use?
//!
//! For every input of the model: a reset, the input with plain values, and all that is said
//! after it must be an output of the model.

use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};

use super::sample::args_of;
use super::{Check, Checks, MAX_OUTPUTS, State, shown};
use crate::adapter::{Adapter, AdapterError, Observation};
use crate::codec::{Message, label_from_json};
use crate::protocol::{Direction, LabelInfo};

/// Tries the system behind `adapter`, which listens for `patience` after every input.
#[must_use]
pub fn selftest_plain(adapter: &mut dyn Adapter, model: &Model, patience: Duration) -> Vec<Check> {
    let mut checks = Checks::default();
    let mut resets = 0;
    for gate in model.sts.gates.iter().filter(|gate| gate.kind == GateKind::Input) {
        if reset(adapter, &mut checks, &mut resets).is_none() {
            return checks.tried;
        }
        let name = format!("input {}", gate.name);
        let Some(label) = sample(model, &gate.name) else {
            checks.add(&name, State::Skipped, "no value is known for its fields".into());
            continue;
        };
        match input(adapter, &label, patience) {
            Err(AdapterError::Refused(reason)) => checks.add(&name, State::Ok, format!("refused: {reason}")),
            result => {
                let noted = |answers: &Vec<(Label, Duration)>| answered(model, answers);
                if checks.take(&name, result, noted).is_none() {
                    return checks.tried;
                }
            }
        }
    }
    reset(adapter, &mut checks, &mut resets);
    checks.tried
}

/// Resets the system; the first two are noted.
fn reset(adapter: &mut dyn Adapter, checks: &mut Checks, done: &mut usize) -> Option<()> {
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

fn sample(model: &Model, name: &str) -> Option<Label> {
    let info = LabelInfo { label: name.to_owned(), direction: Direction::Input, fields: Vec::new() };
    let message = Message { label: name.to_owned(), args: args_of(&info, Some(model))? };
    label_from_json(model, &message, |kind| kind == GateKind::Input).ok()
}

/// What was said after the input, and when.
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
            Observation::Output(output) => answers.push((output, start.elapsed())),
            Observation::Quiet => break,
        }
    }
    Ok(answers)
}

fn answered(model: &Model, answers: &[(Label, Duration)]) -> String {
    match answers {
        [] => "no answer".into(),
        [(label, took), rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(", then {} more", rest.len()) };
            format!("{} after {}{more}", label.show(&model.pool, &model.sts), shown(*took))
        }
    }
}
