//! Frames of text from a stranger: bounded, checked to be UTF-8, never trusted.
//!
//! *Promises.* The end of the stream and a frame that was begun and not finished are errors,
//! never silence. Beyond the longest frame nothing is read, so memory is bounded.

use std::time::{Duration, Instant};

use super::source::{Got, Source};
use super::{AdapterError, Interrupt};
use crate::line::{MAX_LINE, cut};

/// How long the rest of a frame may take whose beginning came in time.
const REST: Duration = Duration::from_secs(2);

/// Where a frame ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// At the end of a line.
    #[default]
    Line,
    /// At this text.
    Delimiter(String),
    /// After as many bytes as a number of this many bytes says, most significant first; inputs get one too.
    Length(usize),
}

/// The frames of one connection.
pub(super) struct Frames {
    source: Box<dyn Source>,
    framing: Framing,
    interrupt: Interrupt,
    /// What came and is not taken yet.
    buffer: Vec<u8>,
    /// How much of it was taken.
    taken: usize,
    /// How much of it holds no end mark.
    scanned: usize,
    ended: bool,
    /// When the last bytes came.
    arrived: Instant,
}

impl Frames {
    pub(super) fn new(source: impl Source + 'static, framing: Framing, interrupt: Interrupt) -> Self {
        let source = Box::new(source);
        let arrived = Instant::now();
        Self { source, framing, interrupt, buffer: Vec::new(), taken: 0, scanned: 0, ended: false, arrived }
    }

    /// When the end of the last frame came: what is complete is taken before more is read.
    pub(super) fn arrived(&self) -> Instant {
        self.arrived
    }

    /// The next frame, or `None` if none has begun at `deadline`. A deadline that has passed is a mere look.
    pub(super) fn next(&mut self, deadline: Instant) -> Result<Option<String>, AdapterError> {
        let is_look = deadline <= Instant::now();
        let mut deadline = deadline;
        let mut begun = false;
        loop {
            if let Some(frame) = self.take()? {
                return Ok(Some(frame));
            }
            if self.ended {
                return self.last();
            }
            match self.source.read(&mut self.buffer, Interrupt::slice(deadline)) {
                Ok(Got::Some(arrived)) => self.arrived = arrived,
                Ok(Got::End) => self.ended = true,
                Err(error) => return Err(AdapterError::Broken(error.to_string())),
                Ok(Got::Nothing) if is_look => return Ok(None),
                Ok(Got::Nothing) if Instant::now() < deadline => self.interrupt.check()?,
                Ok(Got::Nothing) if self.rest().is_empty() => return Ok(None),
                Ok(Got::Nothing) if begun => return Err(odd(self.rest(), "half a message")),
                Ok(Got::Nothing) => (deadline, begun) = (deadline + REST, true),
            }
        }
    }

    /// Reads and forgets until the system hangs up, at most until `deadline`.
    pub(super) fn drain(&mut self, deadline: Instant) {
        while !self.ended && Instant::now() < deadline && !self.interrupt.is_set() {
            self.buffer.clear();
            let read = self.source.read(&mut self.buffer, Interrupt::slice(deadline));
            self.ended = matches!(read, Ok(Got::End) | Err(_));
        }
    }

    fn rest(&self) -> &[u8] {
        &self.buffer[self.taken..]
    }

    /// The frame at the front of the buffer, if it is complete.
    fn take(&mut self) -> Result<Option<String>, AdapterError> {
        let rest = &self.buffer[self.taken..];
        let found = match &self.framing {
            Framing::Line => up_to(rest, b"\n", self.scanned),
            Framing::Delimiter(mark) => up_to(rest, mark.as_bytes(), self.scanned),
            Framing::Length(width) => by_length(rest, *width)?,
        };
        let Some((from, to, next)) = found else {
            self.scanned = rest.len();
            if rest.len() > MAX_LINE {
                return Err(odd(rest, "the message is too long"));
            }
            return Ok(None);
        };
        if to - from > MAX_LINE {
            return Err(odd(rest, "the message is too long"));
        }
        let mut frame = &rest[from..to];
        if self.framing == Framing::Line {
            frame = frame.trim_ascii_end_of_line();
        }
        let text = text_of(frame);
        self.scanned = 0;
        self.taken += next;
        if self.taken == self.buffer.len() {
            self.buffer.clear();
            self.taken = 0;
        } else if self.taken > MAX_LINE {
            self.buffer.drain(..self.taken);
            self.taken = 0;
        }
        text.map(Some)
    }

    /// What stands before the end of the stream; a last line may lack its end mark.
    fn last(&mut self) -> Result<Option<String>, AdapterError> {
        let rest = std::mem::take(&mut self.buffer).split_off(std::mem::take(&mut self.taken));
        match (rest.is_empty(), &self.framing) {
            (true, _) => Err(AdapterError::Closed),
            (false, Framing::Line) => text_of(rest.trim_ascii_end_of_line()).map(Some),
            (false, _) => Err(odd(&rest, "it closed the connection in the middle of a message")),
        }
    }
}

/// The end mark of a line in all its spellings.
trait EndOfLine {
    fn trim_ascii_end_of_line(&self) -> &Self;
}

impl EndOfLine for [u8] {
    fn trim_ascii_end_of_line(&self) -> &Self {
        let end = self.iter().rposition(|byte| !matches!(byte, b'\r' | b'\n')).map_or(0, |at| at + 1);
        &self[..end]
    }
}

/// Beginning and end of a frame, and the beginning of the next one.
type Cut = Option<(usize, usize, usize)>;

/// The frame before `mark`; the first `scanned` bytes are known to hold none that ends in them.
fn up_to(bytes: &[u8], mark: &[u8], scanned: usize) -> Cut {
    let from = (scanned + 1).saturating_sub(mark.len()).min(bytes.len());
    let at = match mark {
        [byte] => bytes[from..].iter().position(|other| other == byte),
        _ => bytes[from..].windows(mark.len().max(1)).position(|window| window == mark),
    }?;
    Some((0, from + at, from + at + mark.len()))
}

/// The frame whose length is written before it.
fn by_length(bytes: &[u8], width: usize) -> Result<Cut, AdapterError> {
    let Some(prefix) = bytes.get(..width) else { return Ok(None) };
    let length = prefix.iter().fold(0u64, |sum, &byte| sum.saturating_mul(256).saturating_add(byte.into()));
    if length > MAX_LINE as u64 {
        let line = format!("a message of {length} bytes");
        return Err(AdapterError::Protocol { line, reason: "the message is too long".into() });
    }
    let end = width + length as usize;
    Ok((bytes.len() >= end).then_some((width, end, end)))
}

fn text_of(bytes: &[u8]) -> Result<String, AdapterError> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(odd(bytes, "the line is not UTF-8")),
    }
}

/// Bytes that are no message.
pub(super) fn odd(bytes: &[u8], reason: &str) -> AdapterError {
    let start = &bytes[..bytes.len().min(1000)];
    let line = cut(&String::from_utf8_lossy(start).escape_debug().to_string(), 200);
    AdapterError::Protocol { line, reason: reason.to_owned() }
}

/// `text` as a frame to send.
pub(super) fn framed(framing: &Framing, text: &str) -> Result<Vec<u8>, String> {
    let Framing::Length(width) = framing else { return Ok(text.as_bytes().to_vec()) };
    let length = (text.len() as u64).to_be_bytes();
    let (high, low) = length.split_at(length.len().saturating_sub(*width));
    if high.iter().any(|&byte| byte != 0) {
        return Err("the message is too long for its length prefix".into());
    }
    Ok([low, text.as_bytes()].concat())
}

#[cfg(test)]
mod tests;
