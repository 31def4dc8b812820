//! Our own format: lines of JSON, in the order of time.
//!
//! ```text
//! {"ioxide-history": 1}
//! {"client": 1, "call": "write", "args": {"v": 3}, "at": 1200}
//! {"client": 1, "return": "written", "at": 3400}
//! {"client": 2, "open": true}
//! {"client": 3, "void": true}
//! {"fault": "pause", "from": 1000, "to": 4000}
//! ```
//!
//! The first line and the instants, in nanoseconds, may be missing.

use std::fmt;

use ioxide_model::label::Label;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value as Json};

use super::{HistoryMessageKind, HistoryReadError, LabelMaker, ReadProblem};
use crate::history::{History, HistoryBuilder, HistoryFault};

/// The key of the line that names the format.
pub const FORMAT_KEY: &str = "ioxide-history";

/// The version of the format.
pub const FORMAT_VERSION: u64 = 1;

/// The line that names the format.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VersionLine {
    #[serde(rename = "ioxide-history")]
    version: u64,
}

/// A line about an operation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EventLine {
    client: ClientName,
    call: Option<MessageField>,
    #[serde(rename = "return")]
    answer: Option<MessageField>,
    args: Option<Map<String, Json>>,
    #[serde(default)]
    open: bool,
    #[serde(default)]
    void: bool,
    #[serde(alias = "ns")]
    at: Option<u64>,
}

/// A line about a fault that was injected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FaultLine {
    fault: String,
    #[serde(alias = "from_ns")]
    from: u64,
    #[serde(alias = "to_ns")]
    to: u64,
}

/// A message: its name, with the fields beside it in `args`, or both together as traces have them.
#[derive(Deserialize)]
#[serde(untagged, expecting = "the name of a message, with its fields in `args` beside it")]
enum MessageField {
    Name(String),
    Whole(MessageLine),
}

/// A message as traces have it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MessageLine {
    label: String,
    #[serde(default)]
    args: Map<String, Json>,
}

impl MessageField {
    /// Joins the message with the fields that stand beside it.
    fn with_args(self, beside: Option<Map<String, Json>>) -> Result<MessageLine, ReadProblem> {
        match (self, beside) {
            (Self::Name(label), args) => Ok(MessageLine { label, args: args.unwrap_or_default() }),
            (Self::Whole(message), None) => Ok(message),
            (Self::Whole(_), Some(_)) => Err(ReadProblem::TwiceArgs),
        }
    }
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
    let mut reader = LineReader { builder: HistoryBuilder::default(), latest: 0, make_label };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (number, (at, line)) in lines.enumerate() {
        let read = if number == 0 && line.contains(FORMAT_KEY) {
            read_version(line)
        } else {
            reader.read_line(line)
        };
        read.map_err(|problem| problem.at_line(at + 1))?;
    }
    Ok(reader.builder.finish())
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

/// A reader of lines after the one that names the format.
struct LineReader<'l> {
    builder: HistoryBuilder,
    /// The latest instant so far.
    latest: u64,
    make_label: LabelMaker<'l>,
}

impl LineReader<'_> {
    fn read_line(&mut self, line: &str) -> Result<(), ReadProblem> {
        if let Ok(FaultLine { fault, from, to }) = serde_json::from_str(line) {
            self.builder.add_fault(HistoryFault { name: fault.into(), from_ns: from, to_ns: to });
            return Ok(());
        }
        let event: EventLine =
            serde_json::from_str(line).map_err(|error| ReadProblem::Json(error.to_string()))?;
        let EventLine { client: ClientName(client), call, answer, args, open, void, at } = event;
        self.check_time(at)?;
        match (call, answer, open, void) {
            (Some(call), None, false, false) => {
                let input = self.make_label(call.with_args(args)?, HistoryMessageKind::Input)?;
                self.builder.call(&client, input, at)?
            }
            (None, Some(answer), false, false) => {
                let output = self.make_label(answer.with_args(args)?, HistoryMessageKind::Output)?;
                self.builder.answer(&client, output, at)?
            }
            (None, None, true, false) if args.is_none() => self.builder.leave_open(&client)?,
            (None, None, false, true) if args.is_none() => self.builder.void(&client)?,
            _ => return Err(ReadProblem::NoEvent),
        }
        Ok(())
    }

    fn make_label(&self, message: MessageLine, kind: HistoryMessageKind) -> Result<Label, ReadProblem> {
        (self.make_label)(&message.label, &message.args, kind).map_err(ReadProblem::Message)
    }

    /// The order of the lines counts, so an instant before an earlier one means that some operations would be taken
    /// for one after the other that were not: a history like that is refused rather than judged.
    fn check_time(&mut self, at: Option<u64>) -> Result<(), ReadProblem> {
        let Some(at) = at else { return Ok(()) };
        if at < self.latest {
            return Err(ReadProblem::TimeGoesBack { at, latest: self.latest });
        }
        self.latest = at;
        Ok(())
    }
}
