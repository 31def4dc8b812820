//! Adapters: the system under test as the run sees it.
//!
//! *Promises.* A system that has ended, hung up or talks nonsense is an [`AdapterError`],
//! never silence: only a live connection on which nothing came for the whole patience is
//! [`Observation::Quiet`]. Trouble here is no verdict about the system.

mod channel;
mod ended;
mod frames;
mod guardian;
pub mod http;
mod interrupt;
pub mod managed;
mod message_time;
pub mod model;
mod ports;
pub mod process;
mod remote;
mod reset;
pub mod selftest;
pub mod server;
pub mod several;
mod source;
mod spec;
pub mod tcp;
#[cfg(test)]
mod tests;
pub mod text;
pub mod tls;
mod wire;

use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::trace::Breakdown;
use ioxide_symex::{Arrival, ConnectionWiring};

use crate::codec::UnwritableMessage;
use crate::event::ConnectionRecord;
use crate::player::PlayError;

pub use self::frames::{Framing, LengthField, LengthUnit};
pub use self::interrupt::Interrupt;
pub use self::message_time::MessageLimits;
pub use self::remote::{ClockKind, RemoteConnection};
pub use self::reset::{HttpResetStep, RefusedReset, ResetMismatch, ResetStep};
pub use self::spec::{BadSpec, SutSpec};
pub use crate::protocol::PartPlace;

/// The system under test.
pub trait Adapter {
    /// Brings the system to its initial state.
    ///
    /// # Errors
    /// If it cannot be started, reached or reset.
    fn reset(&mut self) -> Result<(), AdapterError>;

    /// Gives the system one input. Waits until the system confirms it or, where nothing confirms inputs
    /// ([`receipt`](Self::receipt)), until it is written; does not wait for an answer.
    ///
    /// # Errors
    /// If the input was not, or maybe not, taken.
    fn send(&mut self, input: &Label) -> Result<SentInput, AdapterError>;

    /// Returns a message that has arrived already; never waits.
    ///
    /// # Errors
    /// If the connection is of no more use.
    fn poll(&mut self) -> Result<Option<ArrivedOutput>, AdapterError>;

    /// Returns the next message, or [`Observation::Quiet`] once `patience` has passed.
    ///
    /// # Errors
    /// If the connection is of no more use.
    fn observe(&mut self, patience: Duration) -> Result<Observation, AdapterError>;

    /// Returns whether inputs are confirmed by the system or only written.
    fn receipt(&self) -> InputReceipt {
        InputReceipt::Confirmed
    }

    /// Returns the connection that every message comes by, where the system has several.
    fn wiring(&self) -> Option<Arc<ConnectionWiring>> {
        None
    }

    /// Returns the connections of a system that has several; empty for one connection.
    fn connections(&self) -> Vec<ConnectionRecord> {
        Vec::new()
    }

    /// Returns the time without outputs that counts as quiescence: `patience`, and longer while an answer is pending.
    fn awaits(&self, patience: Duration) -> Duration {
        patience
    }

    /// Makes the choices of the system those of `seed`, as if it had just been made, where they are ours to make.
    ///
    /// # Errors
    /// If it cannot begin again.
    fn reseed(&mut self, _seed: u64) -> Result<(), AdapterError> {
        Ok(())
    }

    /// Returns whether quiescence is certain when it is observed, and not only likely after some waiting.
    fn knows_silence(&self) -> bool {
        false
    }

    /// Returns the time limit of the first reply while the system is cold: it, or one of its connections, was started or
    /// connected to and has said nothing since. `None` once all of them have spoken, and where silence is certain.
    fn first_reply_limit(&self) -> Option<Duration> {
        None
    }

    /// Returns whether the system can come back to its initial state only by a new start, which is not its adapter's to
    /// make.
    fn needs_restart(&self) -> bool {
        false
    }

    /// Notes that the run ended because the system broke down or fell silent: the next reset starts everything again that
    /// was started here, since a system that hangs cannot be reset.
    fn note_breakdown(&mut self) {}

    /// Returns the exit status of a system that has ended, if it had one.
    fn exit_status(&mut self) -> Option<i32> {
        None
    }

    /// Returns whether time passes for the system only by [`advance`](Self::advance).
    fn has_virtual_time(&self) -> bool {
        false
    }

    /// Lets the time of the system pass up to `until` after its reset, or to its next message.
    ///
    /// # Errors
    /// If the system has no virtual time, or the connection is of no more use.
    fn advance(&mut self, _until: Duration) -> Result<VirtualDelay, AdapterError> {
        Err(AdapterError::Refused("the system has no virtual time".into()))
    }

    /// Returns whether the system says what is due in its virtual time, by [`foresee`](Self::foresee).
    fn has_foresight(&self) -> bool {
        false
    }

    /// Returns the instant of virtual time at which the system acts next, if it does: nothing happens before that
    /// unless it is given something.
    ///
    /// # Errors
    /// If the system does not say so, or the connection is of no more use.
    fn foresee(&mut self) -> Result<Option<Duration>, AdapterError> {
        Err(AdapterError::Refused("the system does not say what is due".into()))
    }

    /// Returns how the system ended by itself since the last call, if no other method reported it: between two runs, or
    /// at a reset. It was started again.
    fn ended_by_itself(&mut self) -> Option<String> {
        None
    }

    /// Returns what the system wrote last outside the protocol: its error stream and its log.
    fn last_words(&self) -> String {
        String::new()
    }
}

/// The knowledge about an input that was sent: confirmed by the system, or only written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputReceipt {
    /// The system has confirmed that it took the input.
    Confirmed,
    /// The bytes of the input are written; the system does not say when it takes them.
    Written,
}

/// An input that was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentInput {
    /// The outputs before the system confirmed the input, in order; it may have taken the input earlier.
    pub earlier: Vec<ArrivedOutput>,
    /// The input as it was on the wire, if the adapter keeps it.
    pub raw: Option<String>,
    /// The lane by which it was sent; inputs of different lanes may overtake each other.
    pub lane: u32,
}

/// Virtual time that has passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualDelay {
    /// The time since the reset.
    pub now: Duration,
    /// The output at that time; none if the delay passed without one.
    pub message: Option<ArrivedOutput>,
}

/// A message of the system (or, at an observed input, to it) as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivedOutput {
    /// The message.
    pub label: Label,
    /// The instant of its arrival; `None` if the adapter does not stamp messages.
    pub at: Option<Instant>,
    /// The arrival of its first byte, where that may be earlier; `None` if the adapter does not know it.
    pub begun: Option<Instant>,
    /// The bytes of the message as text, if the adapter keeps them.
    pub raw: Option<String>,
    /// The way by which it came, in relation to other messages under way.
    pub way: Arrival,
    /// True if it is the first message on its connection since the system was started or connected to.
    pub is_first: bool,
    /// True if the adapter knows that the system refused the input: an HTTP status 401, 403 or 407.
    pub is_refusal: bool,
}

impl ArrivedOutput {
    /// Returns the instants of its arrival; now where they are not known.
    #[must_use]
    pub fn times(&self) -> ArrivalTimes {
        let complete = self.at.unwrap_or_else(Instant::now);
        ArrivalTimes { begun: self.begun.unwrap_or(complete), complete }
    }
}

/// The instants at which a message arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalTimes {
    /// The arrival of its first byte: from then on there was no silence.
    pub begun: Instant,
    /// The arrival of its last byte.
    pub complete: Instant,
}

impl From<Instant> for ArrivalTimes {
    fn from(at: Instant) -> Self {
        Self { begun: at, complete: at }
    }
}

/// A message that arrived just now on the one way there is.
impl From<Label> for ArrivedOutput {
    fn from(label: Label) -> Self {
        let (way, is_first, is_refusal) = (Arrival::Direct, false, false);
        Self { label, at: None, begun: None, raw: None, way, is_first, is_refusal }
    }
}

/// An observation of the system: an output, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The output the system sent.
    Output(ArrivedOutput),
    /// No output came during the whole patience: quiescence.
    Quiet,
}

impl Observation {
    /// Returns the message alone; `None` for quiescence.
    #[must_use]
    pub fn label(self) -> Option<Label> {
        match self {
            Self::Output(arrived) => Some(arrived.label),
            Self::Quiet => None,
        }
    }
}

/// The message that has come, or silence if none has.
impl From<Option<ArrivedOutput>> for Observation {
    fn from(arrived: Option<ArrivedOutput>) -> Self {
        arrived.map_or(Self::Quiet, Self::Output)
    }
}

/// A failure to talk to the system; no verdict follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdapterError {
    /// The system could not be started or reached.
    #[error("cannot start `{what}`: {reason}")]
    Start {
        /// The command or address.
        what: String,
        /// The cause, for people.
        reason: String,
    },
    /// The connection to the system cannot be encrypted; another attempt would fail too.
    #[error("no TLS connection to `{what}`: {reason}")]
    Tls {
        /// The address.
        what: String,
        /// The cause and what to do about it, for people.
        reason: String,
    },
    /// The system did not answer in time.
    #[error("no `{awaited}` from the system within {} ms", .limit.as_millis())]
    Late {
        /// The part of the conversation that was awaited.
        awaited: AwaitedPart,
        /// The time limit that was exceeded.
        limit: Duration,
    },
    /// The system ended.
    #[error("the system ended: {status}")]
    Ended {
        /// The exit status of the process, or a text that says that the connection was closed.
        status: String,
    },
    /// The system closed the connection.
    #[error("the system closed the connection")]
    Closed,
    /// The system said something that is no message of the model.
    #[error("the system said something unreadable: {reason}; it wrote: {line}")]
    Unreadable {
        /// The text the system wrote, shortened if long.
        line: String,
        /// The reason why the text is no message of the model.
        reason: String,
    },
    /// The system said more than is read here; neither the system nor the tester is at fault.
    #[error("the system said more than is read: {reason}; it wrote: {line}")]
    TooLarge {
        /// The beginning of the text, or the length that the system announced.
        line: String,
        /// The limit that was exceeded, and the setting that raises it.
        reason: String,
    },
    /// A message was begun and not finished.
    #[error("half a message: {cut}; it wrote: {line}")]
    HalfMessage {
        /// The part that arrived, shortened if long.
        line: String,
        /// The reason why the rest is missing.
        cut: MessageCut,
    },
    /// The adapter wrote something that is no message of the protocol, or not in its turn.
    #[error("the system broke the protocol: {reason}; it wrote: {line}")]
    Protocol {
        /// The text or the kind of the message, shortened if long.
        line: String,
        /// The rule of the protocol that it breaks.
        reason: String,
    },
    /// The input was definitely not taken.
    #[error("the system refused: {0}")]
    Refused(String),
    /// The input was not sent: its values have no text in the protocol the system speaks. The system is as it was.
    #[error("cannot be written in this protocol: {0}")]
    Unwritable(#[from] UnwritableMessage),
    /// The input may have been taken or not.
    #[error("the system does not know whether it took the input: {0}")]
    Unknown(String),
    /// The connection behind the adapter is of no more use.
    #[error("the system is broken: {0}")]
    Broken(String),
    /// The code of the system raised an exception while it handled an input.
    #[error("the system raised an exception: {text}")]
    Exception {
        /// The exception, in a line.
        text: String,
        /// The calls that led to it; empty if the system does not say.
        traceback: String,
    },
    /// The code between the tester and the system is wrong: it asks an input for what it does not have, or cannot hold
    /// a value that the model allows.
    #[error("mistake in the adapter: {0}")]
    Mistake(String),
    /// The system answered its reset otherwise than it should, again and again, so it is not in its initial state.
    #[error("the system refused to be reset: {0}")]
    ResetRefused(Box<RefusedReset>),
    /// The system cannot go back to its initial state.
    #[error("the system cannot be reset")]
    NoReset,
    /// The wait was stopped by its [`Interrupt`].
    #[error("interrupted")]
    Interrupted,
    /// The model played as system cannot go on.
    #[error("the model played as system: {0}")]
    Play(#[from] PlayError),
}

/// A part of the conversation with a system that is awaited up to a time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum AwaitedPart {
    /// The connection, after it was asked for.
    #[error("connection")]
    Connection,
    /// The end of the negotiation of TLS.
    #[error("TLS handshake")]
    TlsHandshake,
    /// The first message of the adapter protocol.
    #[error("hello")]
    Hello,
    /// The confirmation of a reset.
    #[error("ready")]
    Ready,
    /// The confirmation of an input.
    #[error("sent")]
    Sent,
    /// The confirmation that virtual time has passed.
    #[error("advanced")]
    Advanced,
    /// The end of the connection after the last message.
    #[error("bye")]
    Bye,
    /// The answer to a request.
    #[error("answer")]
    Answer,
    /// The answer to a request that resets the system.
    #[error("answer to the reset")]
    ResetAnswer,
    /// The rest of a message that was begun.
    #[error("end of the message")]
    MessageEnd,
}

/// The reason why the rest of a message is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MessageCut {
    /// The connection is open, and no byte has come for this long.
    #[error("the rest of it did not come within {} ms", .0.as_millis())]
    Stopped(Duration),
    /// The system closed the connection.
    #[error("it closed the connection in the middle of it")]
    Closed,
}

impl From<ExitStatus> for AdapterError {
    fn from(status: ExitStatus) -> Self {
        Self::Ended { status: status.to_string() }
    }
}

impl AdapterError {
    /// Returns how the system broke down, if the error is its own doing and not trouble on the way to it.
    #[must_use]
    pub fn breakdown(&self) -> Option<Breakdown> {
        match self {
            Self::Ended { .. } => Some(Breakdown::Ended),
            Self::Closed | Self::Broken(_) => Some(Breakdown::Closed),
            Self::Unreadable { .. } => Some(Breakdown::Unreadable),
            Self::Exception { .. } => Some(Breakdown::Exception),
            Self::Late { awaited: AwaitedPart::Sent, .. } => Some(Breakdown::Hung),
            Self::Start { .. }
            | Self::Tls { .. }
            | Self::Late { .. }
            | Self::TooLarge { .. }
            | Self::HalfMessage { .. }
            | Self::Protocol { .. }
            | Self::Refused(_)
            | Self::Unwritable(_)
            | Self::Unknown(_)
            | Self::Mistake(_)
            | Self::ResetRefused(_)
            | Self::NoReset
            | Self::Interrupted
            | Self::Play(_) => None,
        }
    }

    /// Returns the error as one of a system that is spoken to without an adapter: a violation of the protocol and half
    /// a message are unreadable outputs.
    pub(crate) fn of_system(self) -> Self {
        match self {
            Self::Protocol { line, reason } => Self::Unreadable { line, reason },
            Self::HalfMessage { line, cut } => {
                Self::Unreadable { line, reason: format!("half a message: {cut}") }
            }
            other => other,
        }
    }
}
