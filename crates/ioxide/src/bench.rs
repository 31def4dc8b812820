//! A system in this process as an adapter.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};
use ioxide_record::value::{WireMessage, label_from_json};
use ioxide_wire::adapter::{
    Adapter, AdapterError, ArrivedOutput, Observation, SentInput, StartProblem, VirtualDelay,
};
use serde_json::{Map, Value as Json};

use crate::panics::{CaughtPanic, catch};
use crate::system::{GivenInput, InProcess, Outputs, TestMistake};

/// The reason why a run has no system.
#[derive(Clone)]
enum AbsentSystem {
    /// It was never made.
    Ended(String),
    /// It panicked: the message, and the place.
    Panicked(String, String),
    /// The test made a mistake while the system handled something, so its state is unknown.
    Abandoned(String),
}

impl AbsentSystem {
    /// Returns the reason that a panic gives.
    fn after_panic(panic: CaughtPanic) -> Self {
        match panic.payload.downcast::<TestMistake>() {
            Ok(mistake) => Self::Abandoned(mistake.0),
            Err(payload) => Self::Panicked(format!("it panicked: {}", words(&*payload)), panic.place),
        }
    }

    /// Returns the error that a run reports instead of an answer of the system.
    fn error(&self) -> AdapterError {
        match self {
            Self::Ended(status) => AdapterError::Ended { status: status.clone() },
            Self::Panicked(text, place) => {
                AdapterError::Exception { text: text.clone(), traceback: place.clone() }
            }
            Self::Abandoned(mistake) => AdapterError::Mistake(mistake.clone()),
        }
    }
}

/// A factory that makes a new system for every run.
pub(crate) struct LocalFactory<S, F> {
    model: Arc<Model>,
    make: F,
    /// The system of the current run, or the reason why there is none.
    system: Result<S, AbsentSystem>,
    said: VecDeque<ArrivedOutput>,
}

impl<S: InProcess, F: FnMut() -> S> LocalFactory<S, F> {
    /// Makes a factory without a system: the first reset calls `make`.
    pub(crate) fn new(model: Arc<Model>, make: F) -> Self {
        Self {
            model,
            make,
            system: Err(AbsentSystem::Ended("it was never made".into())),
            said: VecDeque::new(),
        }
    }

    /// Lets the system act and queues its outputs; a panic ends the system until the next reset.
    fn with<T>(&mut self, act: impl FnOnce(&mut S, &Model, &mut Outputs) -> T) -> Result<T, AdapterError> {
        let system = self.system.as_mut().map_err(|absent| absent.error())?;
        let mut outputs = Outputs::default();
        let done = catch(|| act(system, &self.model, &mut outputs));
        for (name, fields) in outputs.said {
            let label = label_of(&self.model, name, fields)?;
            self.said.push_back(label.into());
        }
        done.map_err(|panic| {
            let absent = AbsentSystem::after_panic(panic);
            let error = absent.error();
            self.system = Err(absent);
            error
        })
    }
}

/// Returns the message of a panic, or "without a word" if its payload is not text.
pub(crate) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a word".into())
}

/// Returns the output that a system said.
///
/// # Errors
/// If the model has no such output, or its fields do not fit.
pub(crate) fn label_of(model: &Model, name: String, fields: Json) -> Result<Label, AdapterError> {
    let line = format!("{name} {fields}");
    let unreadable = |reason: String| AdapterError::Unreadable { line: line.clone(), reason };
    let args = match fields {
        Json::Object(args) => args,
        Json::Null => Map::new(),
        _ => return Err(unreadable("the fields of an output are an object, or `()`".into())),
    };
    let is_said = |kind| matches!(kind, GateKind::Output | GateKind::Observed);
    let label = label_from_json(model, &WireMessage { label: name, args }, is_said);
    label.map_err(|error| unreadable(error.to_string()))
}

impl<S: InProcess, F: FnMut() -> S> Adapter for LocalFactory<S, F> {
    fn reset(&mut self) -> Result<(), AdapterError> {
        self.said.clear();
        let made = catch(&mut self.make);
        let made = made.map_err(|panic| AdapterError::Start {
            what: "the system".into(),
            reason: StartProblem::NotReady(format!("it panicked: {}", words(&*panic.payload))),
        })?;
        self.system = Ok(made);
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        // What was said before the input was taken came before it.
        let earlier: Vec<ArrivedOutput> = self.said.drain(..).collect();
        let taken = self.with(|system, model, outputs| system.take(&GivenInput::new(model, input), outputs));
        match taken {
            // It has the input; that it broke down is seen when somebody listens.
            Err(AdapterError::Ended { .. } | AdapterError::Exception { .. }) | Ok(()) => {
                Ok(SentInput { earlier, ..SentInput::default() })
            }
            Err(other) => Err(other),
        }
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        if self.said.is_empty() && self.system.is_ok() {
            self.with(|system, _, outputs| system.look(outputs))?;
        }
        Ok(self.said.pop_front())
    }

    /// Returns the next output, or quiescence at once if there is none: a system in this process has no output under
    /// way.
    fn observe(&mut self, _patience: Duration) -> Result<Observation, AdapterError> {
        if self.said.is_empty() {
            self.with(|system, _, outputs| system.look(outputs))?;
        }
        Ok(self.said.pop_front().into())
    }

    fn is_synchronous(&self) -> bool {
        true
    }

    fn has_virtual_time(&self) -> bool {
        true
    }

    fn advance(&mut self, until: Duration) -> Result<VirtualDelay, AdapterError> {
        let mut now = until;
        if self.said.is_empty() {
            now = self.with(|system, _, outputs| system.pass(until, outputs))?.min(until);
        }
        Ok(VirtualDelay { now, message: self.said.pop_front() })
    }
}
