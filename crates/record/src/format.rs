//! The record of a campaign: versioned JSON lines, written as it goes.
//!
//! The first line says what the file is; every other line is one [`Event`]. Lines are
//! flushed one by one, so what was told before an abort can be read after it: a last line
//! that was cut off is dropped and reported, never an error.

mod runs;

use std::io::{self, BufRead, Write};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use ioxide_model::label::Label;
use ioxide_model::sts::Model;
use ioxide_model::trace::Trace;

use crate::clock::seconds;
use crate::event::{Event, EventKind, LabelKind, LabelRecord, RouteRecord};
use crate::json;
use crate::line::{LineRead, cut, next_line, next_line_within};
use crate::reporter::Reporter;
use crate::value::{CodecError, WireMessage, label_from_json};

pub use self::runs::{FailureMatch, RecordedFailure};

/// The version written here.
pub const VERSION: u32 = 1;
/// The name of the format.
const FORMAT: &str = "ioxide-record";

/// Longer lines are not read: a message of the size an adapter may send has room several times over.
const MAX_LINE: usize = 64 << 20;

/// The first line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RecordHeader {
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
        recorder.write_line(&RecordHeader { format: FORMAT.into(), version: VERSION })?;
        Ok(recorder)
    }

    /// Returns the writer, whose end is the end of a line.
    pub fn writer(&mut self) -> &mut W {
        &mut self.writer
    }

    /// Writes one line in one write, and flushes it.
    fn write_line(&mut self, what: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_string(what)?;
        line.push('\n');
        self.writer.write_all(line.as_bytes())?;
        self.writer.flush()
    }
}

impl<W: Write + Send> Reporter for Recorder<W> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        self.write_line(event)
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

/// The reason why a record cannot be read.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file cannot be read.
    #[error("cannot read the record: {0}")]
    Io(#[from] io::Error),
    /// The file is no record.
    #[error("this is not an ioxide record: it starts with {0}")]
    NotARecord(String),
    /// The file was written by another version.
    #[error("the record has version {0}, this program reads version {VERSION}")]
    Version(u32),
    /// A line in the middle is no event.
    #[error("line {line} of the record: {reason}")]
    BadLine {
        /// Its number, from 1.
        line: usize,
        /// The problem with the line.
        reason: String,
    },
}

impl Record {
    /// Reads a record.
    ///
    /// # Errors
    /// If it is none, of another version, or damaged other than at its end.
    pub fn read_record(reader: impl BufRead) -> Result<Self, RecordError> {
        let mut events = Vec::new();
        let is_cut = each(reader, |event| {
            events.push(event);
            Ok::<(), RecordError>(())
        })?;
        Ok(Self { events, is_cut })
    }

    /// The labels of run `run`, as `model` knows them.
    ///
    /// # Errors
    /// If the model does not know a message, or its fields have changed.
    pub fn trace(&self, model: &Model, run: u64) -> Result<Trace, CodecError> {
        self.trace_and_ways(model, run).map(|(trace, _)| trace)
    }

    /// Returns the labels of the smallest run that run `run` was made to, as `model` knows them; `None` if it was not
    /// made smaller.
    ///
    /// # Errors
    /// As [`trace`](Self::trace).
    pub fn smaller_trace(&self, model: &Model, run: u64) -> Result<Option<Trace>, CodecError> {
        let mut found = None;
        for event in &self.events {
            match &event.event {
                EventKind::Shrunk(told) if told.run == run => found = Some(told),
                _ => (),
            }
        }
        let Some(told) = found else { return Ok(None) };
        let mut labels = Vec::new();
        for record in &told.trace {
            labels.extend(label(model, record)?);
        }
        let breakdown = told.trace.last().and_then(|record| record.kind.breakdown());
        let last = labels.len().checked_sub(1).filter(|_| breakdown.is_none());
        let forbidden_at = told.step.and_then(|step| step.checked_sub(1)).or(last);
        Ok(Some(Trace { labels, breakdown, forbidden_at }))
    }

    /// Returns the labels of run `run` as `model` knows them, and the way each travelled.
    ///
    /// # Errors
    /// As [`trace`](Self::trace).
    pub fn trace_and_ways(
        &self,
        model: &Model,
        run: u64,
    ) -> Result<(Trace, Vec<Option<RouteRecord>>), CodecError> {
        let mut steps: Vec<(usize, Label, Option<RouteRecord>)> = Vec::new();
        let (mut breakdown, mut forbidden) = (None, None);
        let mut begun_last = None;
        for event in &self.events {
            let is_here = event.run.or(begun_last) == Some(run);
            match &event.event {
                EventKind::RunStarted(started) => begun_last = Some(started.run),
                EventKind::Stimulus(step) | EventKind::Observation(step) if is_here => {
                    breakdown = step.label.kind.breakdown();
                    steps.extend(label(model, &step.label)?.map(|label| (step.step, label, step.label.way)));
                }
                EventKind::Patience(told) if is_here => {
                    steps.retain(|(step, ..)| !told.not_silent.contains(step));
                }
                EventKind::Verdict(told) if is_here => {
                    // Only a step that is not the last one is named.
                    let is_forbidden = told.kind.as_deref() == Some("forbidden");
                    let last = steps.last().filter(|_| is_forbidden).map(|(number, ..)| *number);
                    forbidden = told.step.or(last);
                }
                EventKind::RunFinished(_)
                | EventKind::CampaignStarted(_)
                | EventKind::Stimulus(_)
                | EventKind::Observation(_)
                | EventKind::Patience(_)
                | EventKind::Unsolicited(_)
                | EventKind::Verdict(_)
                | EventKind::Trouble(_)
                | EventKind::Replayed(_)
                | EventKind::Shrunk(_)
                | EventKind::CampaignFinished(_) => (),
            }
        }
        let forbidden_at = forbidden.and_then(|step| steps.iter().position(|(number, ..)| *number == step));
        let (labels, ways) = steps.into_iter().map(|(_, label, way)| (label, way)).unzip();
        Ok((Trace { labels, breakdown, forbidden_at }, ways))
    }
}

/// Reads a record event by event, so that its size does not matter; returns whether its last line was cut off.
///
/// # Errors
/// If it is none, of another version, or damaged other than at its end: then what came before has
/// been told. Or if `tell` does not want to hear more.
pub fn each<E: From<RecordError>>(
    mut reader: impl BufRead,
    mut tell: impl FnMut(Event) -> Result<(), E>,
) -> Result<bool, E> {
    check_header(&mut reader)?;
    let mut bad: Option<RecordError> = None;
    for number in 2.. {
        let line = next_line_within(&mut reader, MAX_LINE).map_err(RecordError::from)?;
        let Some(line) = line else { break };
        if let Some(error) = bad {
            return Err(error.into());
        }
        match parse_line(line, number) {
            Ok(event) => tell(event)?,
            Err(error) => bad = Some(error),
        }
    }
    Ok(bad.is_some())
}

/// Reads the first line and checks that it begins a record of a version that is known.
fn check_header(reader: &mut impl BufRead) -> Result<(), RecordError> {
    let first = match next_line(reader)? {
        Some(LineRead::Text(text)) => text,
        Some(LineRead::TooLong(shown) | LineRead::NotText(shown)) => {
            return Err(RecordError::NotARecord(shown));
        }
        None => String::new(),
    };
    let header: RecordHeader = json::read(&first).map_err(|_| RecordError::NotARecord(cut(&first, 60)))?;
    match header {
        RecordHeader { format, .. } if format != FORMAT => Err(RecordError::NotARecord(cut(&first, 60))),
        RecordHeader { version, .. } if version != VERSION => Err(RecordError::Version(version)),
        RecordHeader { .. } => Ok(()),
    }
}

/// Returns the label of an event as `model` knows it; `None` for a delay without its length, and for a breakdown.
///
/// # Errors
/// If the model does not know it.
pub fn label(model: &Model, told: &LabelRecord) -> Result<Option<Label>, CodecError> {
    let message = || WireMessage { label: told.label.clone(), args: told.args.clone() };
    match told.kind {
        LabelKind::Quiescence => Ok(Some(Label::Quiescence)),
        LabelKind::Delay => Ok(told.delay_ns.map(|ns| Label::Delay(seconds(Duration::from_nanos(ns))))),
        LabelKind::Input | LabelKind::Observed => {
            label_from_json(model, &message(), |kind| kind.is_input()).map(Some)
        }
        LabelKind::Output => label_from_json(model, &message(), |kind| !kind.is_input()).map(Some),
        LabelKind::Ended
        | LabelKind::Closed
        | LabelKind::Hung
        | LabelKind::Unreadable
        | LabelKind::Exception => Ok(None),
    }
}

fn parse_line(line: LineRead, number: usize) -> Result<Event, RecordError> {
    let bad = |reason: String| RecordError::BadLine { line: number, reason };
    match line {
        LineRead::Text(text) => json::read(&text).map_err(|error| bad(error.to_string())),
        LineRead::TooLong(_) => Err(bad(format!("it is longer than {} MB", MAX_LINE >> 20))),
        LineRead::NotText(shown) => Err(bad(format!("it is not text: {shown}"))),
    }
}

#[cfg(test)]
mod tests;
