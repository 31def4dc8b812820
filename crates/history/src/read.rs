//! Histories as text: our own lines, Jepsen's EDN, and log lines as Jepsen writes them.
//!
//! *Promises.* Any text gives a history or an error with a line, never a panic.

mod edn;
mod lines;
mod mapping;

use ioxide_model::label::Label;
use serde_json::{Map, Value as Json};
use thiserror::Error;

use crate::history::{History, HistoryBuilder, HistoryError};

pub use self::lines::{FORMAT_KEY, FORMAT_VERSION};
pub use self::mapping::{BadPath, FieldPath, HistoryMapping, MessageMapping, OperationMapping};

/// The direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryMessageKind {
    /// From a client to the system.
    Input,
    /// From the system to a client.
    Output,
}

/// Makes a label of the name of a message and its fields in JSON; an error says what is wrong with it.
pub type LabelMaker<'a> = &'a dyn Fn(&str, &Map<String, Json>, HistoryMessageKind) -> Result<Label, String>;

/// The error that a history cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {problem}")]
pub struct HistoryReadError {
    /// The line, from 1.
    pub line: usize,
    /// The reason.
    pub problem: ReadProblem,
}

/// The reason why a line is not an event of a history.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadProblem {
    /// The line is not JSON of the expected form.
    #[error("{0}")]
    Json(String),
    /// The version of the format is not known.
    #[error("format version {0} is not supported (supported: {known})", known = FORMAT_VERSION)]
    Version(u64),
    /// A line has none or several of `call`, `return`, `open`, `void`.
    #[error("a line has exactly one of `call`, `return`, `open` and `void`")]
    NoEvent,
    /// A message with its fields in it has fields beside it as well.
    #[error("the fields of the message are given both in it and beside it")]
    TwiceArgs,
    /// An instant is before one of an earlier line.
    #[error("this instant, {at}, is before an earlier one, {latest}; sort the lines by `at`")]
    TimeGoesBack {
        /// The instant.
        at: u64,
        /// The latest one before it.
        latest: u64,
    },
    /// The text is no EDN.
    #[error("{0}")]
    Edn(&'static str),
    /// An event lacks this key.
    #[error("the event has no `:{0}`")]
    MissingKey(&'static str),
    /// The type of an event is not known.
    #[error("`:{0}` is not a type of event; there is :invoke, :ok, :fail and :info")]
    EventType(String),
    /// The mapping has no operation of this name.
    #[error("operation `{0}` is not in the table [history] of the project file")]
    UnknownOperation(String),
    /// A field of the event that the mapping names is not there.
    #[error("`{path}` of the event, for field `{field}` of `{message}`, is not there")]
    MissingField {
        /// The path.
        path: String,
        /// The field of the message.
        field: String,
        /// The message.
        message: String,
    },
    /// The message does not fit the model.
    #[error("{0}")]
    Message(String),
    /// The event does not fit those before it.
    #[error(transparent)]
    Order(#[from] HistoryError),
}

impl ReadProblem {
    fn at_line(self, line: usize) -> HistoryReadError {
        HistoryReadError { line, problem: self }
    }
}

/// The type of an event, in Jepsen's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventType {
    Invoke,
    Ok,
    Fail,
    Info,
}

impl EventType {
    /// Reads the type of an event as Jepsen writes it.
    fn parse(word: &str) -> Result<Self, ReadProblem> {
        match word {
            "invoke" => Ok(Self::Invoke),
            "ok" => Ok(Self::Ok),
            "fail" => Ok(Self::Fail),
            "info" => Ok(Self::Info),
            other => Err(ReadProblem::EventType(other.to_owned())),
        }
    }
}

/// An event as Jepsen writes it.
struct ForeignEvent {
    line: usize,
    client: String,
    kind: EventType,
    operation: String,
    /// Everything the event has, by key.
    fields: Map<String, Json>,
    ns: Option<u64>,
}

/// The sign that some editors write in front of a text; it is no part of it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryForm {
    /// Our own lines of JSON.
    Lines,
    /// Jepsen's EDN.
    Edn,
    /// Log lines: `... PROCESS :TYPE :OPERATION VALUE`.
    Log,
}

impl HistoryForm {
    /// Recognises the form of a text by its first character that is not blank.
    #[must_use]
    pub fn recognise(text: &str) -> Self {
        let mut signs = text.trim_start_matches(BYTE_ORDER_MARK).trim_start().chars();
        match (signs.next(), signs.find(|sign| !sign.is_whitespace())) {
            // A map of EDN begins with a keyword, an object of JSON with a text.
            (Some('{'), Some('"')) => Self::Lines,
            (Some('{' | '[' | '(' | '#' | ';'), _) => Self::Edn,
            _ => Self::Log,
        }
    }

    /// Returns whether a text that begins with the line `start` is a history, and no record of a campaign.
    #[must_use]
    pub fn recognise_start(start: &str) -> bool {
        match Self::recognise(start) {
            // Records of campaigns are lines of JSON too, with other keys.
            Self::Lines => [FORMAT_KEY, "\"client\"", "\"fault\""].iter().any(|key| start.contains(key)),
            Self::Edn => true,
            Self::Log => start.contains(":invoke"),
        }
    }

    /// Returns whether a mapping from operations to messages is needed.
    #[must_use]
    pub fn needs_mapping(self) -> bool {
        self != Self::Lines
    }
}

/// Reads a history. `mapping` says which messages the operations of other tools are.
///
/// # Errors
/// Returns the first line that is wrong.
pub fn read_history(
    text: &str,
    mapping: &HistoryMapping,
    make_label: LabelMaker<'_>,
) -> Result<History, HistoryReadError> {
    let text = text.trim_start_matches(BYTE_ORDER_MARK);
    let events = match HistoryForm::recognise(text) {
        HistoryForm::Lines => return lines::read_lines(text, make_label),
        HistoryForm::Edn => edn::read_events(text)?,
        HistoryForm::Log => edn::read_log(text)?,
    };
    let mut builder = HistoryBuilder::default();
    for event in events {
        let line = event.line;
        add_event(&mut builder, event, mapping, make_label).map_err(|problem| problem.at_line(line))?;
    }
    Ok(builder.finish())
}

fn add_event(
    builder: &mut HistoryBuilder,
    event: ForeignEvent,
    mapping: &HistoryMapping,
    make_label: LabelMaker<'_>,
) -> Result<(), ReadProblem> {
    let ForeignEvent { client, kind, operation, fields, ns, .. } = event;
    let unknown = || ReadProblem::UnknownOperation(operation.clone());
    // Left out silently, an operation could hide the cause of a failure: one without a mapping is an error.
    let known = mapping.operations.get(&operation).ok_or_else(unknown)?;
    let label = |message: &MessageMapping, direction| {
        let args = message.collect_args(&fields)?;
        make_label(&message.label, &args, direction).map_err(ReadProblem::Message)
    };
    match (kind, &known.fail) {
        (EventType::Invoke, _) => {
            builder.call(&client, label(&known.call, HistoryMessageKind::Input)?, ns)?
        }
        (EventType::Ok, _) => builder.answer(&client, label(&known.ok, HistoryMessageKind::Output)?, ns)?,
        (EventType::Fail, Some(fail)) => {
            builder.answer(&client, label(fail, HistoryMessageKind::Output)?, ns)?
        }
        // Jepsen's `:fail` says that the operation certainly took no effect, `:info` that nobody knows: it stays
        // open and may take effect at any later time.
        (EventType::Fail, None) => builder.void(&client)?,
        (EventType::Info, _) => builder.leave_open(&client)?,
    }
    Ok(())
}
