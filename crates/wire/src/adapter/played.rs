//! A simulated model that several clients use: one thread plays it, one operation at a time.
//!
//! *Promises.* An operation is done as a whole, its answers included, between its call and its return. What the model
//! sends is given to the client whose input it follows.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use ioxide_model::label::Label;

use super::model::ModelAdapter;
use super::shared::{ClientConnector, SystemControl};
use super::{Adapter, AdapterError, ArrivedOutput, Observation, SentInput};

/// The greatest number of messages that follow one input. Chosen by feel: a model that sends more sends without end.
const MAX_OUTPUTS: usize = 100;

/// A task of the thread that plays the model.
enum PlayerTask {
    Reset(Sender<Result<(), AdapterError>>),
    /// Takes an input and returns what follows it.
    Input(Label, Sender<Result<Vec<ArrivedOutput>, AdapterError>>),
}

/// The tasks that wait for the thread that plays the model.
pub struct PlayerTasks(Receiver<PlayerTask>);

/// The control over a played model.
pub struct PlayedControl(Sender<PlayerTask>);

/// The connections of clients to a played model.
pub struct PlayedConnector(Sender<PlayerTask>);

/// Returns the control over a model, the way of clients to it, and their tasks for the thread that plays it.
#[must_use]
pub fn share_played() -> (PlayedControl, PlayedConnector, PlayerTasks) {
    let (tasks, received) = channel();
    (PlayedControl(tasks.clone()), PlayedConnector(tasks), PlayerTasks(received))
}

impl PlayerTasks {
    /// Does the tasks with `model` until nobody can give one any more.
    pub fn serve(self, model: &mut ModelAdapter<'_>) {
        // Whoever asked may have gone; the model goes on all the same.
        for task in self.0 {
            match task {
                PlayerTask::Reset(reply) => drop(reply.send(model.reset())),
                PlayerTask::Input(input, reply) => drop(reply.send(take_input(model, &input))),
            }
        }
    }
}

fn take_input(model: &mut ModelAdapter<'_>, input: &Label) -> Result<Vec<ArrivedOutput>, AdapterError> {
    model.send(input)?;
    let mut outputs = Vec::new();
    while outputs.len() < MAX_OUTPUTS {
        match model.observe(Duration::ZERO)? {
            Observation::Output(output) => outputs.push(output),
            Observation::Quiet => break,
        }
    }
    Ok(outputs)
}

fn player_error() -> AdapterError {
    AdapterError::Broken("the model is not simulated any more".into())
}

impl SystemControl for PlayedControl {
    fn reset(&mut self) -> Result<(), AdapterError> {
        let (reply, answer) = channel();
        self.0.send(PlayerTask::Reset(reply)).map_err(|_| player_error())?;
        answer.recv().map_err(|_| player_error())?
    }
}

impl ClientConnector for PlayedConnector {
    fn connect(&self) -> Result<Box<dyn Adapter>, AdapterError> {
        Ok(Box::new(PlayedClient { tasks: self.0.clone(), asked: None, heard: VecDeque::new() }))
    }
}

/// A client of a played model.
struct PlayedClient {
    tasks: Sender<PlayerTask>,
    /// The answer to the last input, until it has come.
    asked: Option<Receiver<Result<Vec<ArrivedOutput>, AdapterError>>>,
    heard: VecDeque<ArrivedOutput>,
}

impl PlayedClient {
    /// Returns the next message, if it comes in time.
    fn next_output(&mut self, wait: Duration) -> Result<Option<ArrivedOutput>, AdapterError> {
        if let Some(asked) = &self.asked {
            match asked.recv_timeout(wait) {
                Ok(outputs) => {
                    self.asked = None;
                    self.heard.extend(outputs?);
                }
                Err(RecvTimeoutError::Timeout) => (),
                Err(RecvTimeoutError::Disconnected) => return Err(player_error()),
            }
        }
        Ok(self.heard.pop_front())
    }
}

impl Adapter for PlayedClient {
    /// Does nothing: a client finds the model as it is.
    fn reset(&mut self) -> Result<(), AdapterError> {
        Ok(())
    }

    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError> {
        let (reply, answer) = channel();
        self.tasks.send(PlayerTask::Input(input.clone(), reply)).map_err(|_| player_error())?;
        self.asked = Some(answer);
        Ok(SentInput::default())
    }

    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError> {
        self.next_output(Duration::ZERO)
    }

    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError> {
        Ok(self.next_output(patience)?.map_or(Observation::Quiet, Observation::Output))
    }

    fn knows_silence(&self) -> bool {
        self.asked.is_none() && self.heard.is_empty()
    }
}
