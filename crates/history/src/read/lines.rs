//! Our own format: lines of JSON.
//!
//! ```text
//! {"ioxide-history": 1}
//! {"client": "a", "call": {"label": "write", "args": {"v": 3}}, "ns": 1200}
//! {"client": "a", "return": {"label": "written"}, "ns": 3400}
//! {"client": "b", "open": true}
//! {"client": "c", "void": true}
//! {"fault": "pause", "from_ns": 1000, "to_ns": 4000}
//! ```

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use super::{HistoryMessageKind, HistoryReadError, LabelMaker, ReadProblem};
use crate::history::{History, HistoryBuilder, HistoryFault};

/// The key of the first line.
pub const FORMAT_KEY: &str = "ioxide-history";

/// The version of the format.
pub const FORMAT_VERSION: u64 = 1;

/// The first line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionLine {
    #[serde(rename = "ioxide-history")]
    version: u64,
}

/// A line after the first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventLine {
    client: ClientName,
    call: Option<MessageLine>,
    #[serde(rename = "return")]
    answer: Option<MessageLine>,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    void: bool,
    ns: Option<u64>,
}

/// A line about a fault that was injected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultLine {
    fault: String,
    from_ns: u64,
    to_ns: u64,
}

/// A message.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageLine {
    label: String,
    #[serde(default)]
    args: Map<String, Json>,
}

/// The name of a client: a text or a number.
struct ClientName(String);

impl<'de> Deserialize<'de> for ClientName {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl serde::de::Visitor<'_> for NameVisitor {
            type Value = ClientName;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name or the number of a client")
            }

            fn visit_str<E>(self, name: &str) -> Result<ClientName, E> {
                Ok(ClientName(name.to_owned()))
            }

            fn visit_u64<E>(self, number: u64) -> Result<ClientName, E> {
                Ok(ClientName(number.to_string()))
            }
        }
        reader.deserialize_any(NameVisitor)
    }
}

/// Reads lines of our own format.
pub(super) fn read_lines(text: &str, make_label: LabelMaker<'_>) -> Result<History, HistoryReadError> {
    let mut builder = HistoryBuilder::default();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (number, (at, line)) in lines.enumerate() {
        let problem = |problem: ReadProblem| problem.at(at + 1);
        if number == 0 {
            read_version(line).map_err(problem)?;
        } else {
            add_line(&mut builder, line, make_label).map_err(problem)?;
        }
    }
    Ok(builder.finish())
}

fn read_version(line: &str) -> Result<(), ReadProblem> {
    let read: Result<VersionLine, _> = serde_json::from_str(line);
    match read.map_err(|error| {
        ReadProblem::Json(format!("the first line should be {{\"{FORMAT_KEY}\": {FORMAT_VERSION}}}: {error}"))
    })? {
        VersionLine { version: FORMAT_VERSION } => Ok(()),
        VersionLine { version } => Err(ReadProblem::Version(version)),
    }
}

fn add_line(builder: &mut HistoryBuilder, line: &str, make_label: LabelMaker<'_>) -> Result<(), ReadProblem> {
    if let Ok(FaultLine { fault, from_ns, to_ns }) = serde_json::from_str(line) {
        builder.add_fault(HistoryFault { name: fault.into(), from_ns, to_ns });
        return Ok(());
    }
    let event: EventLine =
        serde_json::from_str(line).map_err(|error| ReadProblem::Json(error.to_string()))?;
    let EventLine { client: ClientName(client), call, answer, open, void, ns } = event;
    let label = |message: MessageLine, direction| {
        make_label(&message.label, &message.args, direction).map_err(ReadProblem::Message)
    };
    match (call, answer, open, void) {
        (Some(call), None, false, false) => {
            builder.call(&client, label(call, HistoryMessageKind::Input)?, ns)?
        }
        (None, Some(answer), false, false) => {
            builder.answer(&client, label(answer, HistoryMessageKind::Output)?, ns)?
        }
        (None, None, true, false) => builder.leave_open(&client)?,
        (None, None, false, true) => builder.void(&client)?,
        _ => return Err(ReadProblem::NoEvent),
    }
    Ok(())
}
