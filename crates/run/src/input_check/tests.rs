use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use ioxide_model::sts::Model;
use ioxide_wire::adapter::{Adapter, ArrivedOutput, Observation, SentInput};

use super::*;
use crate::samples::{message, model, new_solver};

const ROOM: &str = "model Room { input leave input enter(n: int) input lift output welcome(n: int) output bye
    var who: int = 0
    state outside { entry: on enter when n > 40 { who = n } -> greeting }
    state greeting { greet: emit welcome(n: who) -> inside }
    state inside { exit: on leave -> parting }
    state parting { part: emit bye -> outside }
    state roof { fly: on lift -> roof } }";

/// The behaviour of a room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RoomKind {
    /// As the model says; an input that the model does not accept closes the connection.
    Strict,
    /// It says goodbye to those who enter.
    Confused,
    /// It says something that is not a message.
    Unreadable,
    /// A reset does not make people leave; those who are inside are not greeted again.
    Leaky,
}

/// A room that replies at once.
struct Room<'m> {
    model: &'m Model,
    kind: RoomKind,
    is_inside: bool,
    replies: VecDeque<Label>,
}

impl Adapter for Room<'_> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.replies.clear();
        self.is_inside &= self.kind == RoomKind::Leaky;
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let Label::Input(gate, values) = input else { panic!("{input:?}") };
        let is_entry = *self.model.sts.gates[*gate].name == *"enter";
        let bye = message(self.model, "bye", &[]);
        if !is_entry && !self.is_inside {
            return Err(AdapterError::Closed);
        }
        if is_entry && self.kind == RoomKind::Confused {
            self.replies.push_back(bye);
        } else if is_entry && !self.is_inside {
            let welcome = self.model.sts.gate_named("welcome").expect("the model has it");
            self.replies.push_back(Label::Output(welcome, values.clone()));
        } else if !is_entry {
            self.replies.push_back(bye);
        }
        self.is_inside = is_entry;
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        if self.kind == RoomKind::Unreadable && !self.replies.is_empty() {
            return Err(AdapterError::Unreadable { line: "?!".into(), reason: "no output matches".into() });
        }
        Ok(self.replies.pop_front().map(ArrivedOutput::from))
    }

    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.poll()?.into())
    }

    /// Nothing is waited for, so the tests do not depend on the machine.
    fn is_synchronous(&self) -> bool {
        true
    }
}

fn check(kind: RoomKind) -> (Model, InputChecks) {
    let spec = model(ROOM);
    let (mut own, mut solver) = (spec.clone(), new_solver());
    let mut room = Room { model: &spec, kind, is_inside: false, replies: VecDeque::new() };
    let stop = AtomicBool::new(false);
    let mut cx = Ctx::new(&mut own, &mut *solver);
    let mut setup = RunSetup { cx: &mut cx, adapter: &mut room, stop: &stop };
    let checks = check_inputs(&mut setup, &RunConfig::default(), &[]).expect("nothing is written");
    (spec, checks)
}

#[track_caller]
fn result<'c>(model: &Model, checks: &'c InputChecks, gate: &str) -> &'c InputResult {
    let gate = model.sts.gate_named(gate).expect("the model has it");
    &checks.inputs.iter().find(|check| check.gate == gate).expect("it was tried").result
}

/// `leave` closes the connection unless somebody is inside: the check must enter first, with a number that the guard
/// allows.
#[test]
fn an_input_is_sent_in_a_state_that_accepts_it() {
    let (model, checks) = check(RoomKind::Strict);
    let InputResult::Sent(leave) = result(&model, &checks, "leave") else { panic!("{checks:#?}") };
    assert_eq!((leave.inputs_before, &leave.replies[..]), (1, &[message(&model, "bye", &[])][..]));
    let InputResult::Sent(enter) = result(&model, &checks, "enter") else { panic!("{checks:#?}") };
    assert_eq!((enter.inputs_before, enter.replies.len()), (0, 1));
    assert!(checks.differing.is_none(), "{checks:#?}");
    let lift = result(&model, &checks, "lift");
    assert!(matches!(lift, InputResult::NoPath(WhyUnreached::Never(_))), "no state accepts it: {lift:?}");
}

#[test]
fn a_reply_that_the_model_forbids_is_told_apart_from_one_that_cannot_be_read() {
    let (model, checks) = check(RoomKind::Confused);
    let InputResult::Forbidden(why) = result(&model, &checks, "enter") else { panic!("{checks:#?}") };
    assert_eq!((why.observed.as_str(), why.allowed.len()), ("!bye", 1), "{why:?}");
    let (model, checks) = check(RoomKind::Unreadable);
    let enter = result(&model, &checks, "enter");
    assert!(matches!(enter, InputResult::Broken(Breakdown::Unreadable, _)), "{enter:?}");
}

#[test]
fn a_reset_that_leaves_something_behind_is_seen_the_second_time() {
    let (model, checks) = check(RoomKind::Leaky);
    let differing = checks.differing.clone().expect("the second entry is not greeted");
    let enter = model.sts.gate_named("enter").expect("the model has it");
    assert!(is_of(&differing.input, enter), "{differing:?}");
}
