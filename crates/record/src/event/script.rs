//! A run as messages on the wire: what another program needs to do it again without ioxide.
//!
//! Values that the system chose are variables: a reply gives them a value ([`KeptValue`]), and later messages use it
//! ([`ScriptPart::Value`]). Everything else is literal text. A script is plain data; reports write it as a program.

use serde::{Deserialize, Serialize};

/// A run as messages on the wire.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptRecord {
    /// The system.
    pub endpoint: ScriptEndpoint,
    /// The command that starts it; absent if it was running, or is started with the connection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// The milliseconds without a message that count as silence.
    pub silence_ms: u64,
    /// The steps in order; the last one is the failure.
    pub steps: Vec<ScriptStep>,
    /// The replies that were allowed in the place of the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<ScriptReply>,
    /// True if silence was allowed in the place of the last step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silence_allowed: bool,
    /// Remarks to the reader, such as values that the system chose and the script cannot take from its replies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The connections, if one of them is encrypted, or there are several, or requests are pending side by side, or a
    /// WebSocket is used; else there is the one of `endpoint` alone, and every reply answers the message before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub connections: Vec<ScriptConnection>,
    /// The way of every step, if there are `connections`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub routes: Vec<StepRoute>,
}

/// A connection to a system that has several, or an encrypted one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptConnection {
    /// Its name; empty if there is no other.
    pub name: String,
    /// The other end.
    pub endpoint: ScriptEndpoint,
    /// The encryption; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<ScriptTls>,
}

/// The encryption of a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptTls {
    /// The file with the certificate authorities to trust; absent for those of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorities: Option<String>,
    /// True if certificates are not checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unchecked: bool,
    /// The name in the certificate, if it is not that of the address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The files with the certificate of the client and with its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<(String, String)>,
}

/// The way of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepRoute {
    /// The position of its connection.
    pub connection: usize,
    /// For a reply by HTTP the position of the step with the request that it answers, or that opened its WebSocket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<usize>,
}

/// The way to a system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptEndpoint {
    /// Requests by HTTP.
    Http {
        /// The address before every path, such as `http://127.0.0.1:8080`.
        url: String,
        /// True if cookies are kept and sent again.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        cookies: bool,
    },
    /// Messages of its own, text or binary.
    Stream {
        /// The other end.
        place: ScriptPlace,
        /// The rule that says where a message ends.
        framing: ScriptFraming,
        /// True if a message may consist of several frames.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        joined: bool,
    },
    /// The adapter protocol of ioxide: a JSON object per line.
    Protocol {
        /// The other end.
        place: ScriptPlace,
    },
}

/// The other end of a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptPlace {
    /// An address, `HOST:PORT`.
    Tcp(String),
    /// The standard streams of a command.
    Process {
        /// The command, in a shell.
        command: String,
        /// Variables added to its environment.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        environment: Vec<(String, String)>,
    },
}

/// The rule that says where a message ends in a stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptFraming {
    /// At this text.
    Mark(String),
    /// After as many bytes as the number in front says, which has this many bytes, most significant first.
    Length(usize),
    /// After this many bytes.
    Fixed(usize),
    /// After as many bytes as a number inside the message says.
    Counted {
        /// The bytes before the number.
        at: usize,
        /// The bytes of the number.
        width: usize,
        /// True if its least significant byte comes first.
        little: bool,
        /// The bytes of the message that the number does not count.
        uncounted: usize,
    },
}

/// A step of a script.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptStep {
    /// A message to the system.
    Send {
        /// The input, for people; a step of the reset says so.
        shown: String,
        /// The message.
        message: ScriptMessage,
    },
    /// A message of the system.
    Receive {
        /// The message.
        reply: ScriptReply,
        /// The values of it that are used later.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keep: Vec<KeptValue>,
    },
    /// No message comes.
    Silence,
    /// Time passes: seconds, as a decimal number.
    Wait(String),
    /// The system breaks down instead of replying; the text says how.
    Breakdown(String),
}

/// A message to the system.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptMessage {
    /// A request.
    Request {
        /// Its method.
        method: String,
        /// Path and query.
        path: Vec<ScriptPart>,
        /// Its headers; one whose value is not there yet is left out.
        headers: Vec<(String, Vec<ScriptPart>)>,
        /// Its body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Vec<ScriptPart>>,
    },
    /// A request that opens a WebSocket.
    Open {
        /// The name of the input, by which messages name the WebSocket.
        name: String,
        /// Path and query.
        path: Vec<ScriptPart>,
        /// Its headers, but for those of the handshake.
        headers: Vec<(String, Vec<ScriptPart>)>,
    },
    /// A text message over a WebSocket.
    Frame {
        /// The name of the input that opened it.
        over: String,
        /// The text.
        text: Vec<ScriptPart>,
    },
    /// Text, with the mark that ends it.
    Text(Vec<ScriptPart>),
    /// Bytes; literal parts are hexadecimal digits.
    Bytes(Vec<ScriptPart>),
    /// A message of the adapter protocol: the JSON object with the members `label` and `args`.
    Json(Vec<ScriptPart>),
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptPart {
    /// This text.
    Literal(String),
    /// The value of a variable.
    Value(UsedValue),
    /// A secret: the variable of the environment, or for `USER:PASSWORD` both of them in base64.
    Environment(String),
}

/// A use of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsedValue {
    /// Its name.
    pub variable: String,
    /// The part of it that is used.
    #[serde(default, skip_serializing_if = "UsedPart::is_whole")]
    pub part: UsedPart,
    /// The notation in this place.
    pub spelling: ValueSpelling,
}

/// The part of a value that is used.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsedPart {
    /// All of it.
    #[default]
    Whole,
    /// The integer plus this one.
    Plus(i64),
    /// Some words: letters, digits, `-` and `_`; the position of the first one, and how many.
    Words(usize, usize),
}

impl UsedPart {
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// The notation of a value inside a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueSpelling {
    /// As it is.
    Plain,
    /// Percent-encoded.
    Percent,
    /// As the inside of a JSON string.
    Json,
    /// The bytes of the text, as hexadecimal digits.
    Hex,
    /// A number in this many bytes, as hexadecimal digits.
    Number {
        /// The bytes.
        width: usize,
        /// True if the least significant comes first.
        little: bool,
    },
}

/// A value of a reply that gets a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptValue {
    /// The variable.
    pub variable: String,
    /// The place of the value in the reply.
    pub place: ScriptValuePlace,
    /// True if the reply may lack it: the variable keeps its value then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_optional: bool,
}

/// The place of a value in a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptValuePlace {
    /// A member of JSON, by its pointer (RFC 6901).
    Json(String),
    /// A named group of a pattern for the whole text.
    Group {
        /// The pattern.
        pattern: String,
        /// The group.
        group: String,
    },
    /// A header, or a named group of a pattern for its value.
    Header {
        /// Its name.
        name: String,
        /// Pattern and group.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<(String, String)>,
    },
    /// The value of a cookie that is set.
    Cookie(String),
    /// A number in the bytes.
    Number {
        /// The bytes before it.
        at: usize,
        /// Its bytes.
        width: usize,
        /// True if the least significant comes first.
        little: bool,
        /// True if it may be negative.
        signed: bool,
    },
    /// Bytes.
    Bytes {
        /// The bytes before them.
        at: usize,
        /// The number of bytes after them up to the end of the message; absent if their own number is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tail: Option<usize>,
        /// The number of bytes, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<usize>,
        /// True if their value is hexadecimal digits, and not text.
        hex: bool,
    },
}

/// A message of the system, as it can be distinguished from others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptReply {
    /// The message with its values, for people.
    pub shown: String,
    /// The form of the message.
    pub form: ReplyForm,
    /// Values that it has, with their places; empty if only its form is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<(ScriptValuePlace, Vec<ScriptPart>)>,
    /// True if its values are all that is allowed, and not only some of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_exact: bool,
}

/// The form of a message of the system; what is absent is not asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplyForm {
    /// Statuses of an answer, such as `200` or `2xx`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<String>,
    /// A pattern for the whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The texts of members of JSON, by their pointers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<(String, String)>,
}

impl ScriptRecord {
    /// Calls `change` with every text that the system may have said or that was said to it.
    pub fn for_each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        let Self { endpoint, start, steps, allowed, notes, connections, .. } = self;
        endpoint.for_each_text(change);
        for connection in connections {
            connection.endpoint.for_each_text(change);
            let Some(ScriptTls { authorities, name, identity, is_unchecked: _ }) = &mut connection.tls else {
                continue;
            };
            authorities.iter_mut().chain(name).for_each(&mut *change);
            identity.iter_mut().flat_map(|(certificate, key)| [certificate, key]).for_each(&mut *change);
        }
        start.iter_mut().chain(notes).for_each(&mut *change);
        for step in steps {
            match step {
                ScriptStep::Send { shown, message } => {
                    change(shown);
                    message.for_each_part(&mut |part| part.for_each_text(change));
                }
                ScriptStep::Receive { reply, keep: _ } => reply.for_each_text(change),
                ScriptStep::Breakdown(text) => change(text),
                ScriptStep::Silence | ScriptStep::Wait(_) => (),
            }
        }
        allowed.iter_mut().for_each(|reply| reply.for_each_text(change));
    }
}

impl ScriptEndpoint {
    fn for_each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Http { url, cookies: _ } => change(url),
            Self::Stream { place, .. } | Self::Protocol { place } => match place {
                ScriptPlace::Tcp(address) => change(address),
                ScriptPlace::Process { command, environment } => {
                    change(command);
                    environment.iter_mut().for_each(|(_, value)| change(value));
                }
            },
        }
    }
}

impl ScriptMessage {
    /// Calls `change` with every part.
    pub fn for_each_part(&mut self, change: &mut dyn FnMut(&mut ScriptPart)) {
        match self {
            Self::Request { method: _, path, headers, body } => {
                let headers = headers.iter_mut().flat_map(|(_, parts)| parts);
                path.iter_mut().chain(headers).chain(body.iter_mut().flatten()).for_each(change);
            }
            Self::Open { name: _, path, headers } => {
                let headers = headers.iter_mut().flat_map(|(_, parts)| parts);
                path.iter_mut().chain(headers).for_each(change);
            }
            Self::Frame { over: _, text } => text.iter_mut().for_each(change),
            Self::Text(parts) | Self::Bytes(parts) | Self::Json(parts) => parts.iter_mut().for_each(change),
        }
    }
}

impl ScriptPart {
    fn for_each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        if let Self::Literal(text) = self {
            change(text);
        }
    }
}

impl ScriptReply {
    fn for_each_text(&mut self, change: &mut dyn FnMut(&mut String)) {
        change(&mut self.shown);
        let parts = self.values.iter_mut().flat_map(|(_, parts)| parts);
        parts.for_each(|part| part.for_each_text(change));
    }
}
