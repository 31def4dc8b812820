//! Failures to talk to a system, by kind.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use thiserror::Error;

use ioxide_model::trace::Breakdown;
#[cfg(feature = "external")]
use ioxide_record::line::cut;
use ioxide_smt::solver::UnknownReason;

use crate::codec::UnwritableMessage;
use crate::player::PlayError;

/// A failure to talk to the system; no verdict follows from it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AdapterError {
    /// The system could not be started or reached.
    #[error("cannot {} `{what}`: {reason}", reason.verb())]
    Start {
        /// The command or address.
        what: String,
        /// The cause.
        #[source]
        reason: StartProblem,
    },
    /// The connection to the system cannot be encrypted; another attempt would fail too.
    #[error("no TLS connection to `{what}`: {reason}")]
    Tls {
        /// The address.
        what: String,
        /// The cause and what to do about it, for people.
        reason: String,
    },
    /// No access token was given for the requests.
    #[error("cannot fetch an access token from `{url}`: {problem}")]
    Token {
        /// The address that was asked.
        url: String,
        /// The cause.
        #[source]
        problem: TokenProblem,
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
    /// The system said something that is not a message of the model.
    #[error("the system sent an unreadable message: {reason}; it wrote: {line}")]
    Unreadable {
        /// The text the system wrote, shortened if long.
        line: String,
        /// The reason why the text is not a message of the model.
        reason: String,
    },
    /// The system said more than is read here; neither the system nor the tester is at fault.
    #[error("the system sent more than the limit: {reason}; it wrote: {line}")]
    TooLarge {
        /// The beginning of the text, or the length that the system announced.
        line: String,
        /// The limit that was exceeded, and the setting that raises it.
        reason: String,
    },
    /// A message was begun and not finished.
    #[error("incomplete message: {cut}; it wrote: {line}")]
    HalfMessage {
        /// The part that arrived, shortened if long.
        line: String,
        /// The reason why the rest is missing.
        cut: MessageCut,
    },
    /// The adapter wrote something that is not a message of the protocol, or not in its turn.
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
    #[error("the adapter raised an error while handling the input, which may have had an effect: {0}")]
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
    #[error("the adapter made an error: {0}")]
    Mistake(String),
    /// The system answered its reset otherwise than it should, again and again, so it is not in its initial state.
    #[error("the system refused to be reset: {0}")]
    ResetRefused(Box<RefusedReset>),
    /// The system cannot go back to its initial state.
    #[error("the system has no reset")]
    NoReset,
    /// The wait was stopped by its [`Interrupt`](super::Interrupt).
    #[error("interrupted")]
    Interrupted,
    /// The model played as system cannot go on.
    #[error("the simulated model: {0}")]
    Play(#[from] PlayError),
}

impl StartProblem {
    /// Returns what could not be done: a connection that is refused is no program that cannot be started.
    fn verb(&self) -> &'static str {
        let is_connection = matches!(
            self,
            Self::System {
                kind: io::ErrorKind::ConnectionRefused
                    | io::ErrorKind::ConnectionReset
                    | io::ErrorKind::TimedOut
                    | io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkUnreachable,
                ..
            }
        );
        if is_connection { "connect to" } else { "start" }
    }
}

/// The reason why a system could not be started or reached.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartProblem {
    /// The operating system could not run the command or make the connection.
    #[error("{text}")]
    System {
        /// The kind of its error.
        kind: io::ErrorKind,
        /// The error, for people.
        text: String,
    },
    /// The system did not come to the state in which it can be tested: it ended, was not ready in time, or its port is
    /// in use.
    #[error("{0}")]
    NotReady(String),
    /// The description of the system cannot be read or does not fit the model: another attempt would fail too.
    #[error("{0}")]
    Description(String),
}

/// The reason why no token was given.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TokenProblem {
    /// The server refused, or wants to be asked elsewhere.
    #[error("the answer has status {status}{}{text}", if .text.is_empty() { "" } else { ": " })]
    Refused {
        /// The status of its answer.
        status: u16,
        /// The error that its answer names, without secrets; empty if it names none.
        text: String,
    },
    /// The answer has no token in it.
    #[error("the answer is not a JSON object with the member `access_token`")]
    NoToken,
    /// The answer did not come in time.
    #[error("no answer within {} ms", .0.as_millis())]
    Late(Duration),
}

impl StartProblem {
    /// Returns whether another attempt may succeed.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        match self {
            Self::System { .. } | Self::NotReady(_) => true,
            Self::Description(_) => false,
        }
    }
}

impl From<&io::Error> for StartProblem {
    fn from(error: &io::Error) -> Self {
        Self::System { kind: error.kind(), text: error.to_string() }
    }
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
    /// The end of the connection by the system, after it was closed from here.
    #[error("end of the connection")]
    ConnectionEnd,
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
    /// Returns whether the system did nothing wrong but was stopped: by a request, or because the time limit of the
    /// command has passed.
    #[must_use]
    pub fn is_interruption(&self) -> bool {
        use UnknownReason::{Interrupted, Limit};
        matches!(
            self,
            Self::Interrupted
                | Self::Play(
                    PlayError::Stopped { .. } | PlayError::Undecided { why: Interrupted | Limit, .. }
                )
        )
    }

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
            | Self::Token { .. }
            | Self::Play(_) => None,
        }
    }

    /// Returns the error as one of a system that is spoken to without an adapter: a violation of the protocol and half
    /// a message are unreadable outputs.
    #[cfg(feature = "external")]
    pub(crate) fn of_system(self) -> Self {
        match self {
            Self::Protocol { line, reason } => Self::Unreadable { line, reason },
            Self::HalfMessage { line, cut } => {
                Self::Unreadable { line, reason: format!("incomplete message: {cut}") }
            }
            other => other,
        }
    }
}

/// A reset that the system refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedReset {
    /// The connection, where the system has several.
    pub connection: Option<String>,
    /// The step, from 1.
    pub step: usize,
    /// The beginning of the text that was sent, or method and path of the request.
    pub sent: String,
    /// The answer, shortened if long.
    pub answer: String,
    /// The reason why the answer is a refusal.
    pub mismatch: ResetMismatch,
    /// The number of times that the reset was tried.
    pub tries: u32,
}

/// The reason why the answer to a reset is a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResetMismatch {
    /// It is not what the project file expects, which is this.
    Expected(String),
    /// It does not meet a condition of the project file, for this reason.
    Unmet(String),
    /// Nothing is expected, and it reads like an error.
    ReadsLikeError,
}

impl RefusedReset {
    /// The refusal of a step by `answer`; of the text that was sent only the first word is kept, as others may be
    /// secret.
    #[cfg(feature = "external")]
    pub(super) fn new(step: usize, sent: &str, answer: &str, mismatch: ResetMismatch) -> Self {
        let word = sent.split_whitespace().next().unwrap_or_default();
        let more = if sent.trim() == word { "" } else { " ..." };
        let (connection, sent) = (None, format!("{}{more}", cut(word, 40)));
        Self { connection, step, sent, answer: cut(answer, 200), mismatch, tries: 1 }
    }

    /// Returns the same refusal as one on the connection called `name`.
    pub(super) fn on_connection(self, name: &str) -> Self {
        Self { connection: Some(name.to_owned()), ..self }
    }
}

impl fmt::Display for RefusedReset {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connection, step, sent, answer, mismatch, tries } = self;
        write!(out, "step {step} of its reset")?;
        if let Some(connection) = connection {
            write!(out, " on `{connection}`")?;
        }
        write!(out, ", `{sent}`, was answered by `{answer}`")?;
        match mismatch {
            ResetMismatch::Expected(expected) => write!(out, ", expected {expected}")?,
            ResetMismatch::Unmet(reason) => write!(out, ", which is not the answer expected: {reason}")?,
            ResetMismatch::ReadsLikeError => write!(
                out,
                ", which looks like an error; if this reply is right,  write `{{ send = \"...\", expect = '...' }}`"
            )?,
        }
        match tries {
            1 => Ok(()),
            tries => write!(out, " (tried {tries} times)"),
        }
    }
}
