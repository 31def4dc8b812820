//! The record of a campaign: versioned JSON lines, written as it goes.
//!
//! The first line says what the file is; every other line is one [`Event`]. Lines are
//! flushed one by one, so what was told before an abort can be read after it: a last line
//! that was cut off is dropped and reported, never an error.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;

use crate::codec::{CodecError, Message, label_from_json};
use crate::event::{Event, EventKind, LabelKind, LabelTold};
use crate::line::{Line, cut, next_line};
use crate::reporter::Reporter;

/// The version written here.
pub const VERSION: u32 = 1;
/// The name of the format.
const FORMAT: &str = "ioxide-record";

/// The first line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
}

/// Writes a record.
pub struct Recorder<W: Write> {
    writer: W,
}

impl<W: Write> Recorder<W> {
    /// Begins a record.
    ///
    /// # Errors
    /// If the first line cannot be written.
    pub fn new(writer: W) -> io::Result<Self> {
        let mut recorder = Self { writer };
        recorder.line(&Header { format: FORMAT.into(), version: VERSION })?;
        Ok(recorder)
    }

    /// One line, in one write, flushed.
    fn line(&mut self, what: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(what)?;
        line.push('\n');
        self.writer.write_all(line.as_bytes())?;
        self.writer.flush()
    }
}

impl<W: Write + Send> Reporter for Recorder<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.line(event)
    }
}

/// A record read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its events, in order.
    pub events: Vec<Event>,
    /// The last line was cut off: the writer did not come to an orderly end.
    pub is_cut: bool,
}

/// Why a record cannot be read.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error("cannot read the record: {0}")]
    Io(#[from] io::Error),
    /// The file is something else.
    #[error("this is no record of ioxide: it starts with {0}")]
    NotARecord(String),
    /// The file was written by another version.
    #[error("the record has version {0}, this program reads version {VERSION}")]
    Version(u32),
    /// A line in the middle is no event.
    #[error("line {line} of the record: {reason}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    /// If it is none, of another version, or damaged other than at its end.
    pub fn read(mut reader: impl BufRead) -> Result<Self, RecordError> {
        let first = next_line(&mut reader)?.map_or(Ok(String::new()), text)?;
        let header: Header =
            serde_json::from_str(&first).map_err(|_| RecordError::NotARecord(cut(&first, 60)))?;
        if header.format != FORMAT {
            return Err(RecordError::NotARecord(cut(&first, 60)));
        }
        if header.version != VERSION {
            return Err(RecordError::Version(header.version));
        }
        let mut record = Self { events: Vec::new(), is_cut: false };
        let mut bad: Option<RecordError> = None;
        for number in 2.. {
            let Some(line) = next_line(&mut reader)? else { break };
            if let Some(error) = bad {
                return Err(error);
            }
            match text(line).and_then(|line| parsed(&line, number)) {
                Ok(event) => record.events.push(event),
                Err(error) => bad = Some(error),
            }
        }
        record.is_cut = bad.is_some();
        Ok(record)
    }

    /// The labels of run `run`, as `model` knows them.
    ///
    /// # Errors
    /// If the model does not know a message, or its fields have changed.
    pub fn trace(&self, model: &Model, run: u64) -> Result<Trace, CodecError> {
        let mut labels = Vec::new();
        let mut begun_last = None;
        for event in &self.events {
            let is_here = event.run.or(begun_last) == Some(run);
            match &event.event {
                EventKind::RunStarted(started) => begun_last = Some(started.run),
                EventKind::Stimulus(step) | EventKind::Observation(step) if is_here => {
                    labels.extend(label(model, &step.label)?);
                }
                EventKind::RunFinished(_)
                | EventKind::CampaignStarted(_)
                | EventKind::Stimulus(_)
                | EventKind::Observation(_)
                | EventKind::Verdict(_)
                | EventKind::Trouble(_)
                | EventKind::Replayed(_)
                | EventKind::Shrunk(_)
                | EventKind::CampaignFinished(_) => (),
            }
        }
        Ok(Trace { labels })
    }
}

/// A told label as `model` knows it; `None` for a delay, which no untimed run has.
///
/// # Errors
/// If the model does not know it.
pub fn label(model: &Model, told: &LabelTold) -> Result<Option<Label>, CodecError> {
    let message = || Message { label: told.label.clone(), args: told.args.clone() };
    match told.kind {
        LabelKind::Quiescence => Ok(Some(Label::Quiescence)),
        LabelKind::Delay => Ok(None),
        LabelKind::Input => label_from_json(model, &message(), |kind| kind.is_input()).map(Some),
        LabelKind::Output => label_from_json(model, &message(), |kind| !kind.is_input()).map(Some),
    }
}

fn text(line: Line) -> Result<String, RecordError> {
    match line {
        Line::Text(text) => Ok(text),
        Line::TooLong(shown) | Line::NotText(shown) => Err(RecordError::NotARecord(shown)),
    }
}

fn parsed(line: &str, number: usize) -> Result<Event, RecordError> {
    serde_json::from_str(line)
        .map_err(|error| RecordError::BadLine { line: number, reason: error.to_string() })
}

#[cfg(test)]
mod tests;
