//! A live connection that speaks the protocol: lines in, lines out at once.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use ioxide_record::line::cut;

use super::frames::{Frames, Framing};
use super::source::ByteSource;
use super::{AdapterError, Interrupt, MessageLimits};
use crate::protocol::{FailureKind, LogMessage, ProtocolMessage, SystemFailure};

/// Logs and empty lines read when the time is over, in search of a message. Chosen by feel: it ends an adapter that
/// only logs.
const MAX_LATE: usize = 1000;
/// Log messages remembered. Chosen by feel, for one screen of an error.
const MAX_LOG: usize = 40;

/// The content of a line.
enum WireLine {
    Message(ProtocolMessage),
    /// A log message or an empty line.
    Log,
}

/// A connection that speaks the protocol.
pub struct ProtocolWire {
    lines: Frames,
    writer: Box<dyn Write + Send>,
    log: VecDeque<String>,
}

impl ProtocolWire {
    /// Makes a connection from both directions of a stream, with an empty log.
    pub(super) fn new(
        source: impl ByteSource + 'static,
        writer: impl Write + Send + 'static,
        (interrupt, limits): (Interrupt, MessageLimits),
    ) -> Self {
        let lines = Frames::new(source, Framing::Line, limits, interrupt);
        Self { lines, writer: Box::new(writer), log: VecDeque::new() }
    }

    /// Writes one line and flushes it.
    pub(super) fn write(&mut self, message: &ProtocolMessage) -> Result<(), AdapterError> {
        let mut line = message.to_line();
        line.push('\n');
        let written = self.writer.write_all(line.as_bytes()).and_then(|()| self.writer.flush());
        written.map_err(|error| AdapterError::Ended {
            status: format!("it does not accept input any more ({error})"),
        })
    }

    /// Returns the next message other than a log, or `None` at `deadline`; an error message and a goodbye are errors.
    ///
    /// Logs count as silence, however many they are.
    pub(super) fn next_message(
        &mut self,
        deadline: Instant,
    ) -> Result<Option<ProtocolMessage>, AdapterError> {
        let mut late = 0;
        while late < MAX_LATE {
            match self.read_line(deadline)? {
                None => return Ok(None),
                Some(WireLine::Message(message)) => return Ok(Some(message)),
                Some(WireLine::Log) => late += usize::from(Instant::now() >= deadline),
            }
        }
        Ok(None)
    }

    /// Reads the next line, or `None` at `deadline`; keeps it if it is a log.
    fn read_line(&mut self, deadline: Instant) -> Result<Option<WireLine>, AdapterError> {
        let Some(line) = self.lines.next_message(deadline)? else { return Ok(None) };
        match parse_line(&line)? {
            Some(ProtocolMessage::Log(log)) => self.add_log(log),
            Some(ProtocolMessage::Error(failure)) => return Err(failure_error(failure)),
            Some(ProtocolMessage::Bye(_)) => return Err(closed_error()),
            Some(message) => return Ok(Some(WireLine::Message(message))),
            None => (),
        }
        Ok(Some(WireLine::Log))
    }

    /// Returns the arrival of the last line.
    pub(super) fn last_arrival(&self) -> Instant {
        self.lines.last_arrival()
    }

    /// Returns the arrival of the first byte of the last line.
    pub(super) const fn begun_at(&self) -> Instant {
        self.lines.begun_at()
    }

    /// Returns whether a part of a line has arrived and the rest is missing.
    pub(super) const fn has_begun(&self) -> bool {
        self.lines.has_begun()
    }

    /// Waits, at most for `limit`, until the system has closed its side.
    pub(super) fn wait_for_end(&mut self, limit: Duration) {
        self.writer = Box::new(io::sink());
        self.lines.drain(Instant::now() + limit);
    }

    /// The log of the system, newest last.
    pub(super) fn log(&self) -> String {
        self.log.iter().map(|line| format!("{line}\n")).collect()
    }

    fn add_log(&mut self, log: LogMessage) {
        self.log.push_back(cut(&log.text, 400));
        if self.log.len() > MAX_LOG {
            self.log.pop_front();
        }
    }
}

/// The message a line writes; `None` for an empty line.
fn parse_line(line: &str) -> Result<Option<ProtocolMessage>, AdapterError> {
    if line.trim().is_empty() {
        return Ok(None);
    }
    ProtocolMessage::from_line(line).map(Some).map_err(|bad| {
        let line = cut(line, 200);
        if bad.is_excess {
            AdapterError::TooLarge { line, reason: bad.reason }
        } else {
            AdapterError::Protocol { line, reason: bad.reason }
        }
    })
}

fn closed_error() -> AdapterError {
    AdapterError::Ended { status: "it closed the connection".into() }
}

fn failure_error(failure: SystemFailure) -> AdapterError {
    match failure.kind {
        FailureKind::Refused => AdapterError::Refused(failure.text),
        FailureKind::Unknown => AdapterError::Unknown(failure.text),
        FailureKind::Broken => AdapterError::Broken(failure.text),
        FailureKind::Exception => {
            AdapterError::Exception { text: failure.text, traceback: failure.traceback }
        }
    }
}
