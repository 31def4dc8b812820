//! The adapter protocol: one JSON object per line, the same over pipes and sockets.
//!
//! | from | message | meaning |
//! | --- | --- | --- |
//! | system | `hello` | who I am, which labels I know, what I can do |
//! | tool | `configure` | settings, instance, seed |
//! | system | `ready` | the system is in its initial state |
//! | tool | `input` | take this message |
//! | system | `sent` | the system has got it; what I wrote before came before it |
//! | system | `output` | the system said this; at any moment |
//! | tool | `reset` | go back to the initial state, then say `ready` |
//! | tool | `advance` | let virtual time pass, up to an instant or to your next output |
//! | system | `advanced` | so late it is now; what I wrote before came just now |
//! | either | `log` | a text for people |
//! | system | `error` | refused (not done), unknown (may have happened), broken, exception (the handler raised one) |
//! | either | `bye` | orderly end |
//!
//! Fields a reader does not know are ignored; a type it does not know is an error.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use ioxide_record::json::{self, JsonError};
use ioxide_record::value::WireMessage;

/// The version spoken here.
pub const VERSION: u32 = 1;

/// One line of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ProtocolMessage {
    /// The identity and the abilities of the system.
    Hello(HelloMessage),
    /// The settings the tool wants.
    Configure(ConfigureMessage),
    /// The system is in its initial state.
    Ready(ReadyMessage),
    /// The system shall take this message.
    Input(InputMessage),
    /// The system has taken the input.
    Sent(SentMessage),
    /// The system sends this message.
    Output(OutputMessage),
    /// The system shall go back to its initial state.
    Reset(ResetMessage),
    /// Virtual time shall pass.
    Advance(AdvanceMessage),
    /// Virtual time has passed.
    Advanced(AdvancedMessage),
    /// A text for people.
    Log(LogMessage),
    /// An error of the system.
    Error(SystemFailure),
    /// Orderly end.
    Bye(ByeMessage),
}

/// The first message of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloMessage {
    /// The version of the protocol it speaks.
    pub protocol: u32,
    /// Its name.
    #[serde(default)]
    pub name: String,
    /// The messages it can take and send; empty if it does not say.
    #[serde(default)]
    pub labels: Vec<LabelInfo>,
    /// The settings it accepts, with their defaults.
    #[serde(default)]
    pub settings: Map<String, Json>,
    /// True if its time can be made to pass only on request.
    #[serde(default)]
    pub virtual_time: bool,
    /// True if it says when something is due next, so that the time of several connections can pass together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foresight: bool,
    /// True if several clients can use the system at the same time, each by a connection of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub clients: bool,
    /// The way in which it goes back to its initial state.
    #[serde(default)]
    pub reset: ResetKind,
}

/// A message the system can take or send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelInfo {
    /// Its name.
    pub label: String,
    /// The sender of the message.
    pub direction: MessageDirection,
    /// Its fields.
    #[serde(default)]
    pub fields: Vec<FieldInfo>,
}

/// The direction of a message, by its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageDirection {
    /// The tool.
    Input,
    /// Another party; the tool only observes it.
    Observed,
    /// The system.
    Output,
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldInfo {
    /// Its name.
    pub name: String,
    /// Its sort, as people write it.
    pub sort: String,
}

/// The way in which a system goes back to its initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetKind {
    /// The message `reset`.
    #[default]
    Message,
    /// An end and a new start.
    Restart,
    /// None: it cannot go back.
    None,
}

/// The settings the tool wants of the system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigureMessage {
    /// Settings by name.
    #[serde(default)]
    pub settings: Map<String, Json>,
    /// The number of the system, where several run side by side.
    #[serde(default)]
    pub instance: u32,
    /// The seed of its random choices; its own if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// True if its time shall pass only on request; only for a system that offers it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub virtual_time: bool,
    /// A directory it may write to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_dir: Option<String>,
    /// The part of the model that it stands for, where it is one of several connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartPlace>,
    /// True if it is the connection of one of several clients, which find the system as it is: it must not be reset.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client: bool,
}

/// A part of a system made of parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPlace {
    /// Its name.
    pub name: String,
    /// Its index, if it is an instance of an array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<i64>,
}

/// The system is in its initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadyMessage {
    /// The number of outputs that follow, after which the system is silent until the next input; absent if it does not
    /// know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<u64>,
}

/// A message to the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputMessage {
    /// Its number, echoed by `sent`.
    pub id: u64,
    /// The name of the message.
    pub label: String,
    /// Its fields.
    #[serde(default)]
    pub args: Map<String, Json>,
}

/// The system has taken an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentMessage {
    /// The number of the input.
    pub id: u64,
    /// The time at which it was taken, in nanoseconds of a clock that never goes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// The bytes the system really got, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The number of outputs that follow, after which the system is silent until the next input; absent if it does not
    /// know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outputs: Option<u64>,
}

/// A message from the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputMessage {
    /// The name of the message.
    pub label: String,
    /// Its fields.
    #[serde(default)]
    pub args: Map<String, Json>,
    /// The time at which it was sent, in nanoseconds of a clock that never goes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<u64>,
    /// The bytes the system really sent, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
}

/// The system shall go back to its initial state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResetMessage {}

/// Virtual time shall pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvanceMessage {
    /// Up to this time in nanoseconds since `ready`; to the next thing that happens if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<u64>,
    /// The answer shall say when something is due next.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foresee: bool,
}

/// Virtual time has passed: up to where it was wanted, or to the instant of the outputs just written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdvancedMessage {
    /// The virtual time, in nanoseconds since `ready`.
    pub now_ns: u64,
    /// The virtual time at which something is due next, if anything is: nothing happens before unless an input comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_ns: Option<u64>,
}

/// A text for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMessage {
    /// The importance of the text.
    #[serde(default)]
    pub level: LogLevel,
    /// The text.
    pub text: String,
}

/// The importance of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// For those who look for a cause.
    Debug,
    /// Worth knowing.
    #[default]
    Info,
    /// Probably not as it should be.
    Warn,
    /// Wrong.
    Error,
}

/// An error on the side of the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemFailure {
    /// The consequence for the input.
    pub kind: FailureKind,
    /// The reason, for people.
    #[serde(default)]
    pub text: String,
    /// The input it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    /// The calls that led to an exception, as the language of the system writes them; empty if it does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub traceback: String,
}

/// The consequence of a failure for the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The input was definitely not given to the system.
    Refused,
    /// The system may or may not have got it.
    Unknown,
    /// The connection to the system is of no more use.
    Broken,
    /// The code of the system raised an exception while it handled the input.
    Exception,
}

/// Orderly end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByeMessage {}

/// A line that is not a message of the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct ProtocolViolation {
    /// The reason, for people.
    pub reason: String,
    /// True if the line exceeds a limit, and may be a message all the same.
    pub is_excess: bool,
}

impl ProtocolMessage {
    /// Reads one line.
    ///
    /// # Errors
    /// If it is not a JSON object, or of no known type, or a field is missing or wrong.
    pub fn from_line(line: &str) -> Result<Self, ProtocolViolation> {
        let bad = |reason: String| ProtocolViolation { reason, is_excess: false };
        let json: Json = json::read(line).map_err(|error| match error {
            JsonError::Wrong(error) => bad(format!("not JSON: {error}")),
            JsonError::Twice(_) => bad(error.to_string()),
            JsonError::Excess(excess) => ProtocolViolation { reason: excess.to_string(), is_excess: true },
        })?;
        let Some(kind) = json.get("type").and_then(Json::as_str).map(str::to_owned) else {
            return Err(bad("not a message: expected a JSON object with a `type`".into()));
        };
        let message = match kind.as_str() {
            "hello" => serde_json::from_value(json).map(Self::Hello),
            "configure" => serde_json::from_value(json).map(Self::Configure),
            "ready" => serde_json::from_value(json).map(Self::Ready),
            "input" => serde_json::from_value(json).map(Self::Input),
            "sent" => serde_json::from_value(json).map(Self::Sent),
            "output" => serde_json::from_value(json).map(Self::Output),
            "reset" => serde_json::from_value(json).map(Self::Reset),
            "advance" => serde_json::from_value(json).map(Self::Advance),
            "advanced" => serde_json::from_value(json).map(Self::Advanced),
            "log" => serde_json::from_value(json).map(Self::Log),
            "error" => serde_json::from_value(json).map(Self::Error),
            "bye" => serde_json::from_value(json).map(Self::Bye),
            _ => return Err(bad(format!("unknown message type `{}`", ioxide_record::line::cut(&kind, 40)))),
        };
        message.map_err(|error| bad(format!("bad `{kind}` message: {error}")))
    }

    /// The message as one line, without its end mark.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).expect("every message has string keys only")
    }
}

impl From<WireMessage> for OutputMessage {
    fn from(message: WireMessage) -> Self {
        Self { label: message.label, args: message.args, time_ns: None, raw: None }
    }
}

#[cfg(test)]
mod tests;
