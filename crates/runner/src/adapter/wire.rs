//! A live connection: lines in through a thread of its own, lines out at once.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use super::AdapterError;
use crate::line::{Line, cut, read_ahead};
use crate::protocol::{Failure, FailureKind, Log, Message};

/// Lines read ahead.
const READ_AHEAD: usize = 1024;
/// Log messages remembered.
const MAX_LOG: usize = 40;

/// A connection that speaks the protocol.
pub(super) struct Wire {
    lines: Receiver<io::Result<Line>>,
    writer: Box<dyn Write + Send>,
    log: VecDeque<String>,
}

impl Wire {
    pub(super) fn new(reader: impl BufRead + Send + 'static, writer: impl Write + Send + 'static) -> Self {
        let lines = read_ahead(reader, READ_AHEAD);
        Self { lines, writer: Box::new(writer), log: VecDeque::new() }
    }

    /// Writes one line and flushes it.
    pub(super) fn write(&mut self, message: &Message) -> Result<(), AdapterError> {
        let mut line = message.to_line();
        line.push('\n');
        let written = self.writer.write_all(line.as_bytes()).and_then(|()| self.writer.flush());
        written.map_err(|error| AdapterError::Ended { status: format!("it takes no more input ({error})") })
    }

    /// The next message that is neither log nor error, or `None` at `deadline`.
    pub(super) fn read(&mut self, deadline: Instant) -> Result<Option<Message>, AdapterError> {
        loop {
            let patience = deadline.saturating_duration_since(Instant::now());
            let line = match self.lines.recv_timeout(patience) {
                Ok(Ok(line)) => line,
                Ok(Err(error)) => return Err(AdapterError::Broken(error.to_string())),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(closed()),
            };
            match parsed(line)? {
                Some(Message::Log(log)) => self.note(log),
                Some(Message::Error(failure)) => return Err(failed(failure)),
                Some(Message::Bye(_)) => return Err(closed()),
                Some(message) => return Ok(Some(message)),
                None => (),
            }
        }
    }

    /// Waits, at most for `limit`, until the system has closed its side.
    pub(super) fn wait_for_end(&mut self, limit: Duration) {
        self.writer = Box::new(io::sink());
        let deadline = Instant::now() + limit;
        while self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())).is_ok() {}
    }

    /// The log of the system, newest last.
    pub(super) fn log(&self) -> String {
        self.log.iter().map(|line| format!("{line}\n")).collect()
    }

    fn note(&mut self, log: Log) {
        self.log.push_back(cut(&log.text, 400));
        if self.log.len() > MAX_LOG {
            self.log.pop_front();
        }
    }
}

/// The message a line writes; `None` for an empty line.
fn parsed(line: Line) -> Result<Option<Message>, AdapterError> {
    let text = match line {
        Line::Text(text) => text,
        Line::TooLong(line) => return Err(broken(line, "the line is too long".into())),
        Line::NotText(line) => return Err(broken(line, "the line is not UTF-8".into())),
    };
    if text.trim().is_empty() {
        return Ok(None);
    }
    Message::from_line(&text).map(Some).map_err(|bad| broken(cut(&text, 200), bad.reason))
}

fn broken(line: String, reason: String) -> AdapterError {
    AdapterError::Protocol { line, reason }
}

fn closed() -> AdapterError {
    AdapterError::Ended { status: "it closed the connection".into() }
}

fn failed(failure: Failure) -> AdapterError {
    match failure.kind {
        FailureKind::Refused => AdapterError::Refused(failure.text),
        FailureKind::Unknown => AdapterError::Unknown(failure.text),
        FailureKind::Broken => AdapterError::Broken(failure.text),
    }
}
