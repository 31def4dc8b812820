//! The notation of messages on a connection, for programs that speak to the system without ioxide.

#[cfg(feature = "external")]
mod external;
mod several;

use ioxide_model::label::Label;
use ioxide_model::sts::GateId;
use ioxide_model::value::Value;
use ioxide_record::event::{
    KeptValue, ReplyForm, ScriptConnection, ScriptEndpoint, ScriptMessage, ScriptPart, ScriptValuePlace,
    UsedValue, ValueSpelling,
};
use serde_json::Value as Json;

#[cfg(feature = "external")]
pub(super) use self::external::{BinaryNotation, HttpNotation, ProtocolNotation, TextNotation};
pub(super) use self::several::SeveralNotation;

/// The origin of an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplySource {
    /// It comes by its connection.
    Stream,
    /// It answers a request of one of these inputs; of any if there are none.
    Answer(Vec<String>),
    /// It comes by a WebSocket, or another stream, that one of these inputs opened; any if there are none.
    Event(Vec<String>),
}

/// The notation of messages on a connection.
pub trait WireNotation {
    /// Returns the system, as a program reaches it.
    fn endpoint(&self) -> ScriptEndpoint;

    /// Returns all connections; one without a name, unless the system has several.
    fn connections(&self) -> Vec<ScriptConnection> {
        vec![ScriptConnection { name: String::new(), endpoint: self.endpoint(), tls: None }]
    }

    /// Returns the connection by which a message travels, by its position.
    fn connection_of(&self, _gate: GateId) -> usize {
        0
    }

    /// Returns the origin of an output.
    fn source_of(&self, _gate: GateId) -> ReplySource {
        ReplySource::Stream
    }

    /// Returns the messages that bring the system to its initial state with their connections, each answered by one
    /// message; `None` if they cannot be written down.
    fn resets(&self) -> Option<Vec<(usize, ScriptMessage)>> {
        Some(Vec::new())
    }

    /// Returns an input as it is sent; `None` if it cannot be written down.
    fn write(&self, input: &Label) -> Option<ScriptMessage>;

    /// Returns the form of an output; `None` if it cannot be written down.
    fn reply_form(&self, gate: GateId) -> Option<ReplyForm>;

    /// Returns the place of a field, given by its position, in an output; `None` if it has no place of its own.
    fn place(&self, gate: GateId, field: usize) -> Option<ScriptValuePlace>;

    /// Returns the JSON of a value, where values are members of JSON.
    fn json(&self, value: &Value) -> Json;

    /// Returns the values that are taken from every reply, or from those of this output, for later requests.
    fn captures(&self, _gate: Option<GateId>) -> Vec<KeptValue> {
        Vec::new()
    }
}

/// Returns the name of a member as a part of a pointer (RFC 6901).
#[must_use]
pub fn escape_pointer(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Returns the notation of texts in a body with these headers.
#[must_use]
pub fn body_spelling(headers: &[(String, String)]) -> ValueSpelling {
    let kind = headers.iter().find(|(name, _)| name == "content-type").map(|(_, text)| text.as_str());
    match kind {
        None => ValueSpelling::Json,
        Some(text) if text.contains("json") => ValueSpelling::Json,
        Some(text) if text.contains("x-www-form-urlencoded") => ValueSpelling::Percent,
        Some(_) => ValueSpelling::Plain,
    }
}

/// Returns the parts with every occurrence of `marker` in a literal replaced by `value`.
#[must_use]
pub fn replace_marker(parts: Vec<ScriptPart>, marker: &str, value: &UsedValue) -> Vec<ScriptPart> {
    replace_text(parts, marker, &ScriptPart::Value(value.clone()))
}

/// Returns the parts with every occurrence of `marker` in a literal replaced by `other`.
fn replace_text(parts: Vec<ScriptPart>, marker: &str, other: &ScriptPart) -> Vec<ScriptPart> {
    let mut replaced = Vec::new();
    for part in parts {
        let ScriptPart::Literal(text) = part else {
            replaced.push(part);
            continue;
        };
        for (at, piece) in text.split(marker).enumerate() {
            if at > 0 {
                replaced.push(other.clone());
            }
            if !piece.is_empty() {
                replaced.push(ScriptPart::Literal(piece.to_owned()));
            }
        }
    }
    replaced
}
