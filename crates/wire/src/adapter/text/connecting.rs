//! Inputs that open or close the connection, and the conversation that follows every connection.
//!
//! Whoever closes a connection loses what is under way on it, and nothing says when the system has noticed the end. So
//! the run waits for silence before a connection is dropped, and again before the next one is made
//! ([`Adapter::needs_silence`](crate::adapter::Adapter::needs_silence)). A connection that is closed in order is read
//! to its end, so nothing of it is lost.

use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_model::sts::{GateKind, Model};

use super::{ArrivedFrame, MessageFormat, StepsOf, TextAdapter, TextProtocol};
use crate::adapter::ports::PortState;
use crate::adapter::{AdapterError, AwaitedPart, Interrupt, StartProblem};
use crate::codec::{BadProtocol, ProtocolProblem, UnwritableMessage};

/// Messages kept of a connection that is being closed. Chosen by feel: it ends a system that never stops sending.
const MAX_LEFT: usize = 10_000;

/// An input that opens or closes the connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionInput {
    /// The input.
    pub name: String,
    /// True if it opens a connection before it sends anything.
    pub connects: bool,
    /// True if it sends a message.
    pub sends: bool,
    /// The way in which it closes the connection, after it has sent its message.
    pub disconnects: Option<Disconnection>,
}

/// A way to close a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disconnection {
    /// In order: the system is told that nothing more comes, and what it still sends is read until it closes too.
    Clean,
    /// At once, as if the client had crashed: TCP sends a reset, a process is killed.
    Abrupt,
}

/// The reason why there is no connection.
#[derive(Debug)]
pub(super) enum Absence {
    /// There was none yet.
    NotRunning,
    /// It was closed, or the run begins without one.
    Disconnected {
        /// True if no silence was observed since it was closed: the system may not have noticed yet.
        is_unsettled: bool,
    },
    /// The system ended it or refused it, for this reason, which was not reported yet.
    Failed(AdapterError),
}

impl TextProtocol {
    /// Checks that the messages described are those of the model.
    ///
    /// # Errors
    /// Returns the first mismatch, with its place.
    pub fn check(&self, model: &Model) -> Result<(), BadProtocol> {
        self.sending_model(model).and_then(|model| self.words.check(&model))
    }

    /// Returns the model without the inputs that only open or close the connection: they have no format.
    pub(super) fn sending_model(&self, model: &Model) -> Result<Model, BadProtocol> {
        let mut sending = model.clone();
        for input in &self.connection_inputs {
            let mut gates = sending.sts.gates.iter_mut();
            let gate = gates.find(|gate| *gate.name == *input.name && gate.kind == GateKind::Input);
            let Some(gate) = gate else {
                let name = input.name.clone();
                let problem = ProtocolProblem::NoMessage { direction: "input", name };
                return Err(BadProtocol { key: vec!["inputs".into(), input.name.clone()], problem });
            };
            if !input.sends {
                gate.kind = GateKind::Internal;
            }
        }
        Ok(sending)
    }

    /// Returns whether the connection is a part of the behaviour.
    pub(super) fn has_connection_inputs(&self) -> bool {
        !self.connection_inputs.is_empty() || self.starts_disconnected
    }

    /// Returns whether some input closes the connection abruptly.
    pub(super) fn is_abrupt(&self) -> bool {
        self.connection_inputs.iter().any(|input| input.disconnects == Some(Disconnection::Abrupt))
    }

    /// Returns whether an input opens a connection.
    pub(super) fn can_connect(&self) -> bool {
        self.connection_inputs.iter().any(|input| input.connects)
    }
}

impl MessageFormat {
    /// Returns whether it describes texts.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text(_))
    }
}

impl TextAdapter {
    /// Returns the effect of an input on the connection; `None` if it only sends a message.
    pub(super) fn connection_input(&self, input: &Label) -> Option<ConnectionInput> {
        let Label::Input(gate, _) = input else { return None };
        let name = &self.model.sts.gates[*gate].name;
        self.protocol.connection_inputs.iter().find(|other| *other.name == **name).cloned()
    }

    /// Returns whether nothing was heard since the connection was closed, so that the system may not have noticed.
    pub(super) fn is_unsettled(&self) -> bool {
        matches!(self.absence, Absence::Disconnected { is_unsettled: true })
    }

    /// Returns whether the connection is closed, and nothing of it is left to be read.
    pub(super) fn is_disconnected(&self) -> bool {
        let is_closed = matches!(self.absence, Absence::Disconnected { .. });
        self.live.is_none() && self.left.is_empty() && is_closed
    }

    /// Opens a connection in a run, and goes through the conversation that follows every connection. A system that was
    /// there and refuses it, or ends it at once, has closed it: that is seen next.
    pub(super) fn connect_in_run(&mut self) -> Result<(), AdapterError> {
        if self.live.is_some() {
            return Err(UnwritableMessage::Connected.into());
        }
        match self.open_connection() {
            Ok(live) => {
                self.live = Some(live);
                self.was_reached = true;
            }
            // A system that was there before and refuses now does so of its own accord: that is its behaviour, and no
            // trouble of ours.
            Err(AdapterError::Start { reason: reason @ StartProblem::System { .. }, .. })
                if self.was_reached =>
            {
                let refused = format!("it refused the connection ({reason})");
                self.absence = Absence::Failed(AdapterError::Broken(refused));
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        match self.take_steps(StepsOf::Connection) {
            Ok(()) => Ok(()),
            Err(
                error @ (AdapterError::Closed
                | AdapterError::Ended { .. }
                | AdapterError::Broken(_)
                | AdapterError::HalfMessage { .. }),
            ) => {
                self.live = None;
                self.absence = Absence::Failed(error);
                Ok(())
            }
            Err(AdapterError::ResetRefused(refused)) => {
                let reason = format!("after connecting: {refused}");
                Err(AdapterError::Unreadable { line: refused.answer.clone(), reason })
            }
            Err(AdapterError::Late { limit, .. }) => {
                Err(AdapterError::Late { awaited: AwaitedPart::Sent, limit })
            }
            Err(error) => Err(error),
        }
    }

    /// Closes the connection. What the system still sends on one that is closed in order is kept.
    pub(super) fn disconnect(&mut self, how: Disconnection) -> Result<(), AdapterError> {
        let Some(live) = self.live.take() else { return Ok(()) };
        self.absence = Absence::Disconnected { is_unsettled: true };
        match how {
            Disconnection::Abrupt => {
                // The last handle of the socket must be gone before the reset is sent.
                drop(live);
                self.link.abort();
                Ok(())
            }
            Disconnection::Clean => {
                // A process sees the end of its input when the writer is dropped, a socket is told by `end_writing`.
                let super::TextConnection { mut messages, writer, .. } = live;
                drop(writer);
                self.link.end_writing();
                let read = self.read_to_end(&mut messages);
                drop(messages);
                self.link.end();
                read
            }
        }
    }

    /// Reads what the system sends until it has closed its side of the connection, too.
    fn read_to_end(&mut self, messages: &mut super::MessageSource) -> Result<(), AdapterError> {
        if !self.link.is_connected() {
            return Ok(());
        }
        let deadline = Instant::now() + self.limit;
        while self.left.len() < MAX_LEFT {
            match messages.next_bytes(deadline) {
                Ok(Some(bytes)) => {
                    let (begun, at) = messages.arrival();
                    self.left.push_back(ArrivedFrame { bytes, begun, at });
                }
                Ok(None) => break,
                Err(AdapterError::Closed | AdapterError::Ended { .. } | AdapterError::Broken(_)) => {
                    return Ok(());
                }
                Err(AdapterError::Interrupted) => return Err(AdapterError::Interrupted),
                // Half a message at the end is one that cannot be read, and is reported as such.
                Err(error) => {
                    self.absence = Absence::Failed(error);
                    return Ok(());
                }
            }
        }
        Err(AdapterError::Late { awaited: AwaitedPart::ConnectionEnd, limit: self.limit })
    }

    /// Begins a run without a connection; fails if the system is certainly not there.
    pub(super) fn begin_disconnected(&mut self) -> Result<(), AdapterError> {
        self.link.end();
        match self.link.listen_state() {
            PortState::Closed => {
                let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
                return Err(AdapterError::Start { what: self.link.to_string(), reason: (&refused).into() });
            }
            PortState::Listening => self.was_reached = true,
            PortState::Unknown => (),
        }
        self.absence = Absence::Disconnected { is_unsettled: false };
        Ok(())
    }

    /// Waits while there is no connection, so that the system can notice that; fails if it is certainly gone.
    pub(super) fn wait_disconnected(&mut self, patience: Duration) -> Result<(), AdapterError> {
        if self.is_unsettled() {
            let deadline = Instant::now() + patience;
            while Instant::now() < deadline {
                self.interrupt.check()?;
                // There is no connection on which anything could arrive, so there is nothing to wait on.
                std::thread::sleep(Interrupt::next_wait(deadline));
            }
            self.absence = Absence::Disconnected { is_unsettled: false };
        }
        // A system that has gone is not silent, although nobody is connected to it.
        match self.link.listen_state() {
            PortState::Closed => {
                Err(AdapterError::Broken(format!("no server listens at {} any more", self.link)))
            }
            PortState::Listening | PortState::Unknown => Ok(()),
        }
    }

    /// Notes that the system ended the connection, if another one can be made in the same run.
    pub(super) fn note_closed(&mut self, error: &AdapterError) {
        let is_end =
            matches!(error, AdapterError::Closed | AdapterError::Ended { .. } | AdapterError::Broken(_));
        if is_end && self.protocol.can_connect() && self.live.is_some() {
            self.live = None;
            self.link.end();
            self.absence = Absence::Disconnected { is_unsettled: true };
        }
    }
}
