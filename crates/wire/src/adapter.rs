//! Adapters: the system under test as the run sees it.
//!
//! *Promises.* A system that has ended, hung up or talks nonsense is an [`AdapterError`],
//! never silence: only a live connection on which nothing came for the whole patience is
//! [`Observation::Quiet`]. Trouble here is no verdict about the system.

#[cfg(feature = "external")]
mod channel;
pub mod check;
#[cfg(feature = "external")]
pub mod disturbed;
#[cfg(feature = "external")]
mod ended;
mod error;
#[cfg(feature = "external")]
mod error_stream;
#[cfg(feature = "external")]
mod frames;
#[cfg(feature = "external")]
mod guardian;
#[cfg(feature = "external")]
pub mod http;
mod interrupt;
#[cfg(feature = "external")]
pub mod managed;
#[cfg(feature = "external")]
mod message_time;
pub mod model;
pub mod notation;
pub mod played;
#[cfg(feature = "external")]
mod ports;
#[cfg(feature = "external")]
pub mod process;
#[cfg(feature = "external")]
mod promise;
#[cfg(feature = "external")]
pub mod proxy;
#[cfg(feature = "external")]
mod remote;
#[cfg(feature = "external")]
mod reset;
#[cfg(feature = "external")]
pub mod selftest;
#[cfg(feature = "external")]
pub mod server;
pub mod several;
pub mod shared;
#[cfg(feature = "external")]
mod source;
#[cfg(feature = "external")]
mod spec;
#[cfg(feature = "external")]
pub mod tcp;
#[cfg(all(feature = "external", unix))]
mod terminal;
#[cfg(all(test, feature = "external"))]
mod tests;
#[cfg(feature = "external")]
pub mod text;
#[cfg(feature = "external")]
pub mod tls;
#[cfg(feature = "external")]
mod udp;
#[cfg(feature = "external")]
mod unsolicited_log;
#[cfg(feature = "external")]
mod wire;

use std::sync::Arc;
use std::time::{Duration, Instant};

use ioxide_model::label::Label;
use ioxide_symex::{Arrival, ConnectionWiring};

use ioxide_record::event::{ConnectionRecord, HttpExchange};

pub use self::error::{
    AdapterError, AwaitedPart, MessageCut, RefusedReset, ResetMismatch, StartProblem, TokenProblem,
};
#[cfg(feature = "external")]
pub use self::error_stream::ErrorStreamHub;
#[cfg(feature = "external")]
pub use self::frames::{Framing, LengthField, LengthUnit};
pub use self::interrupt::Interrupt;
#[cfg(feature = "external")]
pub use self::message_time::MessageLimits;
pub use self::notation::WireNotation;
#[cfg(feature = "external")]
pub use self::ports::ListenAddress;
#[cfg(feature = "external")]
pub use self::remote::{ClockKind, ConnectionRole, RemoteConnection};
#[cfg(feature = "external")]
pub use self::reset::{HttpResetStep, ResetStep};
#[cfg(feature = "external")]
pub use self::spec::{BadSpec, SutSpec, host_and_port};
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

    /// Returns the notation of messages, for a program that repeats a run without ioxide; `None` if a run cannot be
    /// written down so: a system in this process, an encrypted adapter protocol.
    fn notation(&self) -> Option<Box<dyn WireNotation + '_>> {
        None
    }

    /// Returns the command that starts the system; `None` if it is started with the connection, or by others.
    fn start_command(&self) -> Option<String> {
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

    /// Returns whether quiescence is always certain when it is observed, and not only likely after some waiting.
    fn is_synchronous(&self) -> bool {
        false
    }

    /// Returns whether it is certain now that nothing comes before the next input: observing that costs no time.
    fn knows_silence(&self) -> bool {
        self.is_synchronous()
    }

    /// Returns whether nothing is expected before the next input: it is certain
    /// ([`knows_silence`](Self::knows_silence)), or the description of the system promises it. A promise saves waiting
    /// where silence is allowed; it proves nothing.
    fn expects_silence(&self) -> bool {
        self.knows_silence()
    }

    /// Returns the time limit of the first reply while the system is cold: it, or one of its connections, was started
    /// or connected to and has said nothing since. `None` once all of them have spoken, and where silence is certain.
    fn first_reply_limit(&self) -> Option<Duration> {
        None
    }

    /// Returns whether the system can come back to its initial state only by a new start, which is not its adapter's to
    /// make.
    fn needs_restart(&self) -> bool {
        false
    }

    /// Notes that the run ended because the system broke down or fell silent: the next reset starts everything again
    /// that was started here, since a system that hangs cannot be reset.
    fn note_breakdown(&mut self) {}

    /// Asks for a restart of the system in place of the next reset; returns false if it was not started here, or every
    /// reset restarts it anyway.
    fn restart_at_next_reset(&mut self) -> bool {
        false
    }

    /// Returns whether `input` must not be given before silence: it drops a connection and with it what is under way,
    /// or opens one although the system may not have noticed the end of the one before.
    fn needs_silence(&self, _input: &Label) -> bool {
        false
    }

    /// Returns whether an input can open a new connection after the system has closed the one it had.
    fn can_reconnect(&self) -> bool {
        false
    }

    /// Returns whether the end of the system would be seen: a connection or a stream to it is open. Where it is not, as
    /// for datagrams, silence says nothing about whether the system is there.
    fn is_connected(&self) -> bool {
        true
    }

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
        Err(AdapterError::Refused("the system does not announce when its next message is due".into()))
    }

    /// Returns how the system ended by itself since the last call, if no other method reported it: between two runs, or
    /// at a reset. It was started again.
    fn ended_by_itself(&mut self) -> Option<String> {
        None
    }

    /// Returns the messages since the last call that the system sent and the model does not see.
    fn take_unsolicited(&mut self) -> Vec<UnsolicitedMessage> {
        Vec::new()
    }

    /// Returns what the system wrote last outside the protocol: its error stream and its log.
    fn last_words(&self) -> String {
        String::new()
    }

    /// Returns the last requests by HTTP since the reset with their answers, without secrets; empty for other systems.
    fn exchanges(&self) -> Vec<HttpExchange> {
        Vec::new()
    }
}

/// A message of the system that the model does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsolicitedMessage {
    /// The message; the digits of a binary one.
    pub text: String,
    /// The answer that was sent; `None` if it was ignored, or the system did not take the answer.
    pub answer: Option<String>,
    /// The connection, where the system has several.
    pub connection: Option<String>,
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
