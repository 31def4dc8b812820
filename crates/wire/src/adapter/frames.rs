//! Frames from a system: bounded, checked, never trusted; and messages that are joined from several frames.
//!
//! *Promises.* The end of the stream and a message that was begun and not finished are errors,
//! never silence and never a message. While its bytes come, a message is waited for up to a limit that is counted from
//! its first byte, however many frames it is made of ([`MessageLimits`]). Beyond the longest message nothing is read,
//! so memory is bounded.

use std::time::{Duration, Instant};

use ioxide_record::limits::{Excess, max_message};
use ioxide_record::line::cut;

use super::message_time::{LAST_LOOK, MessageArrival, MessageLimits, MessageProgress, dripping};
use super::source::{ByteSource, ReadResult};
use super::{AdapterError, Interrupt, MessageCut};
use crate::codec::layout::{Endian, NumberLayout, Width};
use crate::codec::text::{FrameJoining, FrameNeed, UnfinishedMessage};
use crate::codec::{Undecodable, UnwritableMessage};

/// The rule that says where a frame ends in a stream of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// At the end of a line.
    #[default]
    Line,
    /// At this text.
    Delimiter(String),
    /// After as many bytes as a number of this many bytes says, most significant first; inputs get one too.
    Length(usize),
    /// After this many bytes.
    Fixed(usize),
    /// After as many bytes as a number inside the frame says; the number is a part of the message.
    Counted(LengthField),
    /// Nowhere within a datagram: all of it is one frame. No stream has this framing.
    Datagram,
}

/// A number inside a frame that says how long the frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthField {
    /// The number of bytes before it.
    pub at: usize,
    /// The layout of the number.
    pub number: NumberLayout,
    /// The bytes that the number counts.
    pub counts: LengthUnit,
}

/// The bytes that a length field counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// The bytes after the number.
    Rest,
    /// All bytes of the message.
    Message,
    /// The bytes after a head of this many bytes.
    After(usize),
}

/// The frames of one connection.
pub(super) struct Frames {
    source: Box<dyn ByteSource>,
    framing: Framing,
    joining: FrameJoining,
    interrupt: Interrupt,
    /// The time limits for a message that has begun.
    limits: MessageLimits,
    /// The bytes that have arrived; the first `taken` of them belong to messages already returned.
    buffer: Vec<u8>,
    /// The number of bytes at the front of `buffer` that are used up.
    taken: usize,
    /// The number of bytes after `taken` that are known to contain no end of a frame.
    scanned: usize,
    /// The beginning of a message.
    begun: UnfinishedMessage,
    /// The arrival of its bytes; `None` if no message has begun.
    arrival: Option<MessageArrival>,
    /// The arrival of the first byte of the last message.
    begun_at: Instant,
    ended: bool,
    /// The arrival of the last bytes that were read.
    arrived: Instant,
}

impl Frames {
    /// The frames of `source`; a message that has begun must end within `limits`.
    pub(super) fn new(
        source: impl ByteSource + 'static,
        framing: Framing,
        limits: MessageLimits,
        interrupt: Interrupt,
    ) -> Self {
        Self {
            source: Box::new(source),
            framing,
            joining: FrameJoining::default(),
            interrupt,
            limits,
            buffer: Vec::new(),
            taken: 0,
            scanned: 0,
            begun: UnfinishedMessage::default(),
            arrival: None,
            begun_at: Instant::now(),
            ended: false,
            arrived: Instant::now(),
        }
    }

    /// Returns the same frames, joined to messages.
    pub(super) fn with_joining(self, joining: FrameJoining) -> Self {
        Self { joining, ..self }
    }

    /// Returns the instant at which the end of the last message arrived: complete messages are returned before more is
    /// read.
    pub(super) fn last_arrival(&self) -> Instant {
        self.arrived
    }

    /// Returns the instant at which the first byte of the last message arrived.
    pub(super) const fn begun_at(&self) -> Instant {
        self.begun_at
    }

    /// Returns whether a part of a message has arrived and the rest is missing.
    pub(super) const fn has_begun(&self) -> bool {
        self.arrival.is_some()
    }

    /// Returns the next message as text, or `None` if none has begun at `deadline`. After the deadline it only polls.
    pub(super) fn next_message(&mut self, deadline: Instant) -> Result<Option<String>, AdapterError> {
        self.next_bytes(deadline)?
            .map(|bytes| utf8_text(bytes).map_err(|bytes| odd(&bytes, NOT_TEXT)))
            .transpose()
    }

    /// Returns the next message as [`next_message`](Self::next_message) does, whatever its bytes are.
    pub(super) fn next_bytes(&mut self, deadline: Instant) -> Result<Option<Vec<u8>>, AdapterError> {
        // A look takes what is there and never waits, not even for the rest of a message.
        let is_look = deadline <= Instant::now();
        let limits = self.limits.until(deadline);
        loop {
            // Who floods us is interrupted like who says nothing.
            self.interrupt.check()?;
            // Complete messages come before the end of the stream and before any time-out.
            if let Some(message) = self.take_message()? {
                return Ok(Some(message));
            }
            if self.ended {
                return Err(self.end_error());
            }
            // Checked before reading: a system that sends a byte now and then would never let the time-out below act.
            if self.arrival.is_some_and(|arrival| arrival.is_dripping(limits)) {
                return Err(dripping(limits));
            }
            // Once a message has begun, its own limit counts; the deadline is for its first byte.
            let until = self.arrival.map_or(deadline, |arrival| arrival.deadline(limits));
            let wait = if is_look { Duration::ZERO } else { Interrupt::next_wait(until) };
            if self.read_bytes(wait, limits)? {
                continue;
            }
            match self.arrival.map(|arrival| arrival.progress(limits)) {
                Some(MessageProgress::Stopped) => {
                    return Err(half_message(&self.unfinished_bytes(), MessageCut::Stopped(limits.pause)));
                }
                Some(MessageProgress::Dripping) => return Err(dripping(limits)),
                // A message that has begun is no silence, however late it is.
                Some(MessageProgress::Waiting) if !is_look => (),
                None if !is_look && Instant::now() < deadline => (),
                Some(MessageProgress::Waiting) | None => return Ok(None),
            }
        }
    }

    /// Reads what comes within `wait`; returns whether there were bytes or the end of the stream. Looks once more
    /// before a message is found to have stopped.
    fn read_bytes(&mut self, wait: Duration, limits: MessageLimits) -> Result<bool, AdapterError> {
        let mut read = self.source.read(&mut self.buffer, wait);
        let has_stopped =
            self.arrival.is_some_and(|arrival| arrival.progress(limits) == MessageProgress::Stopped);
        if has_stopped && matches!(read, Ok(ReadResult::Nothing)) {
            // This process may have slept past the limit: what arrived meanwhile is there already, so look once more.
            read = self.source.read(&mut self.buffer, LAST_LOOK);
        }
        match read {
            Ok(ReadResult::Nothing) => return Ok(false),
            Ok(ReadResult::Some(arrived)) => {
                self.arrived = arrived;
                MessageArrival::record_bytes(&mut self.arrival, arrived);
            }
            Ok(ReadResult::End) => self.ended = true,
            Err(error) => return Err(AdapterError::Broken(error.to_string())),
        }
        Ok(true)
    }

    /// Returns whether bytes or the end of the stream are there that were not returned yet; waits up to `wait` for
    /// them.
    pub(super) fn has_news(&mut self, wait: Duration) -> bool {
        if self.ended || !self.buffer[self.taken..].is_empty() {
            return true;
        }
        match self.source.read(&mut self.buffer, wait) {
            Ok(ReadResult::Nothing) => return false,
            Ok(ReadResult::Some(arrived)) => {
                self.arrived = arrived;
                MessageArrival::record_bytes(&mut self.arrival, arrived);
            }
            Ok(ReadResult::End) | Err(_) => self.ended = true,
        }
        true
    }

    /// Reads and forgets until the system hangs up, at most until `deadline`.
    pub(super) fn drain(&mut self, deadline: Instant) {
        while !self.ended && Instant::now() < deadline && !self.interrupt.is_set() {
            self.buffer.clear();
            let read = self.source.read(&mut self.buffer, Interrupt::next_wait(deadline));
            self.ended = matches!(read, Ok(ReadResult::End) | Err(_));
        }
    }

    /// Returns the bytes of the unfinished message; empty if none has begun.
    fn unfinished_bytes(&self) -> Vec<u8> {
        let rest = &self.buffer[self.taken..];
        match (self.begun.bytes().is_empty(), rest.is_empty()) {
            (true, _) => rest.to_vec(),
            (false, true) => self.begun.bytes().to_vec(),
            (false, false) => [self.begun.bytes(), b"\n", rest].concat(),
        }
    }

    /// The message at the front of the buffer, if it is complete.
    fn take_message(&mut self) -> Result<Option<Vec<u8>>, AdapterError> {
        loop {
            let part = match self.begun.need() {
                FrameNeed::Frame => self.frame()?,
                FrameNeed::Bytes { count, end } => self.take_counted(*count, &end.clone())?,
            };
            let Some(part) = part else { return Ok(None) };
            debug_assert!(self.taken <= self.buffer.len(), "more bytes taken than there are");
            let is_done = self.begun.add(&self.joining, part);
            if is_done.map_err(|bad| undecodable(self.begun.bytes(), &bad))? {
                let message = std::mem::take(&mut self.begun).into_bytes();
                // What follows in the buffer is the beginning of the next message; it came with the last bytes read.
                self.begun_at = self.arrival.map_or(self.arrived, |arrival| arrival.first);
                let has_more = self.taken < self.buffer.len();
                self.arrival = has_more.then(|| MessageArrival::begin_at(self.arrived));
                return Ok(Some(message));
            }
            if self.begun.bytes().len() > max_message() {
                return Err(too_long(self.begun.bytes()));
            }
        }
    }

    /// The frame at the front of the buffer, if it is complete.
    fn frame(&mut self) -> Result<Option<Vec<u8>>, AdapterError> {
        let rest = &self.buffer[self.taken..];
        let found = match &self.framing {
            Framing::Line => up_to(rest, b"\n", self.scanned),
            Framing::Delimiter(mark) => up_to(rest, mark.as_bytes(), self.scanned),
            Framing::Length(width) => by_length(rest, *width)?,
            Framing::Fixed(length) => (rest.len() >= *length).then_some((0, *length, *length)),
            Framing::Counted(field) => field.frame_bounds(rest)?,
            Framing::Datagram => None,
        };
        let Some((from, to, next)) = found else {
            // Remembered, so that a long frame that comes in many pieces is searched once, not once per piece.
            self.scanned = rest.len();
            if rest.len() > max_message() {
                return Err(too_long(rest));
            }
            return Ok(None);
        };
        if to - from > max_message() {
            return Err(too_long(rest));
        }
        let mut frame = &rest[from..to];
        if self.framing == Framing::Line {
            frame = frame.trim_ascii_end_of_line();
        }
        let frame = frame.to_vec();
        self.drop_front(next);
        Ok(Some(frame))
    }

    /// Takes `count` bytes with the end mark that must follow them; `None` while they are incomplete.
    fn take_counted(&mut self, count: usize, end: &[u8]) -> Result<Option<Vec<u8>>, AdapterError> {
        let rest = &self.buffer[self.taken..];
        let Some(found) = rest.get(..count + end.len()) else { return Ok(None) };
        let (bytes, mark) = found.split_at(count);
        if mark != end {
            let end = end.escape_ascii();
            return Err(odd(rest, &format!("the {count} bytes it announced are not followed by \"{end}\"")));
        }
        let bytes = bytes.to_vec();
        self.drop_front(count + end.len());
        Ok(Some(bytes))
    }

    /// Removes `count` bytes from the front of the buffer.
    fn drop_front(&mut self, count: usize) {
        self.scanned = 0;
        self.taken += count;
        if self.taken == self.buffer.len() {
            self.buffer.clear();
            self.taken = 0;
        // Moving the rest to the front costs its length, so it is done only now and then.
        } else if self.taken > max_message() {
            self.buffer.drain(..self.taken);
            self.taken = 0;
        }
    }

    /// Returns the error for the end of the stream: closed between two messages, otherwise an incomplete message.
    fn end_error(&mut self) -> AdapterError {
        let half = self.unfinished_bytes();
        if half.is_empty() { AdapterError::Closed } else { half_message(&half, MessageCut::Closed) }
    }
}

const NOT_TEXT: &str = "the line is not UTF-8";

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
type FrameCut = Option<(usize, usize, usize)>;

/// Returns the bounds of the frame before `mark`; `None` if it is not there. No mark ends within the first `scanned`
/// bytes.
fn up_to(bytes: &[u8], mark: &[u8], scanned: usize) -> FrameCut {
    // A mark may begin in the part searched before and end in the new one.
    let from = (scanned + 1).saturating_sub(mark.len()).min(bytes.len());
    let at = match mark {
        [byte] => bytes[from..].iter().position(|other| other == byte),
        _ => bytes[from..].windows(mark.len().max(1)).position(|window| window == mark),
    }?;
    Some((0, from + at, from + at + mark.len()))
}

/// Returns the bounds of the frame whose length is written before it; `None` while it is incomplete.
fn by_length(bytes: &[u8], width: usize) -> Result<FrameCut, AdapterError> {
    let Some(prefix) = bytes.get(..width) else { return Ok(None) };
    let length = prefix.iter().fold(0u64, |sum, &byte| sum.saturating_mul(256).saturating_add(byte.into()));
    if length > max_message() as u64 {
        return Err(oversized_message(length));
    }
    let end = width + length as usize;
    Ok((bytes.len() >= end).then_some((width, end, end)))
}

impl Framing {
    /// Returns whether `text` as a value would end the frame it is in.
    pub(super) fn is_broken_by(&self, text: &str) -> bool {
        match self {
            Self::Line => text.contains(['\n', '\r']),
            Self::Delimiter(mark) => overlaps(text, mark),
            Self::Length(_) | Self::Fixed(_) | Self::Counted(_) | Self::Datagram => false,
        }
    }

    /// Returns `text` with the mark that ends a message, unless it ends with it already; the mark is `end` if that is
    /// given.
    pub(super) fn append_end_mark(&self, text: &str, end: Option<&str>) -> String {
        let (usual, has_it) = match self {
            Self::Line => ("\n", text.ends_with('\n')),
            Self::Delimiter(mark) => (mark.as_str(), text.ends_with(mark)),
            Self::Length(_) | Self::Fixed(_) | Self::Counted(_) => ("", true),
            // Nothing has to end a datagram; if something is given, it does.
            Self::Datagram => ("", false),
        };
        let end = end.unwrap_or(usual);
        if has_it || text.ends_with(end) { text.to_owned() } else { format!("{text}{end}") }
    }

    /// Returns `bytes` as a frame to send; of the framings, only a length prefix adds to them.
    ///
    /// A length inside our own message is not compared with the framing: the layout writes `len(...)` itself, and
    /// whoever makes the length a field of the model wants to send wrong ones. In what the system sends, the framing
    /// takes as many bytes as it announces, and the layout says whether they are a message.
    pub(super) fn framed_bytes(&self, bytes: &[u8]) -> Result<Vec<u8>, UnwritableMessage> {
        let frame = match self {
            Self::Length(width) => {
                let width = Width::Bytes(*width);
                let number = NumberLayout { width, is_signed: false, endian: Endian::Big };
                let length = number.bytes(bytes.len() as i128);
                length.map_err(|_| UnwritableMessage::LengthPrefix)?
            }
            Self::Line | Self::Delimiter(_) | Self::Fixed(_) | Self::Counted(_) | Self::Datagram => {
                Vec::new()
            }
        };
        Ok([&frame, bytes].concat())
    }
}

impl LengthField {
    /// Returns the bounds of the frame at the front; `None` while too few bytes are there to tell.
    fn frame_bounds(&self, bytes: &[u8]) -> Result<FrameCut, AdapterError> {
        let Some((length, width)) = self.number.read_unsigned(bytes.get(self.at..).unwrap_or_default())
        else {
            return Ok(None);
        };
        let head = self.at + width;
        let end = match self.counts {
            LengthUnit::Rest => (head as u64).saturating_add(length),
            LengthUnit::Message => length,
            LengthUnit::After(head) => (head as u64).saturating_add(length),
        };
        if end > max_message() as u64 {
            return Err(oversized_message(end));
        }
        match end as usize {
            end if end < head => {
                Err(odd(bytes, &format!("a message of {end} bytes cannot hold its own length")))
            }
            end => Ok((bytes.len() >= end).then_some((0, end, end))),
        }
    }
}

fn utf8_text(bytes: Vec<u8>) -> Result<String, Vec<u8>> {
    String::from_utf8(bytes).map_err(std::string::FromUtf8Error::into_bytes)
}

/// Returns the error for bytes that are no message.
pub(super) fn odd(bytes: &[u8], reason: &str) -> AdapterError {
    AdapterError::Protocol { line: beginning(bytes), reason: reason.to_owned() }
}

/// Returns the first bytes of a message, readable and cut.
fn beginning(bytes: &[u8]) -> String {
    let start = &bytes[..bytes.len().min(1000)];
    cut(&String::from_utf8_lossy(start).escape_debug().to_string(), 200)
}

/// Returns the error for a message of which only `bytes` have come.
pub(super) fn half_message(bytes: &[u8], cut: MessageCut) -> AdapterError {
    AdapterError::HalfMessage { line: beginning(bytes), cut }
}

/// Returns the error for a message longer than the limit, with its beginning.
fn too_long(bytes: &[u8]) -> AdapterError {
    undecodable(bytes, &Excess::bytes().into())
}

/// Returns the error for a message that announces a length above the limit.
fn oversized_message(length: u64) -> AdapterError {
    let (line, reason) = (format!("a message of {length} bytes"), Excess::bytes().to_string());
    AdapterError::TooLarge { line, reason }
}

/// Returns the error for bytes that cannot be decoded: too large if a limit was exceeded, otherwise no message.
pub(super) fn undecodable(bytes: &[u8], bad: &Undecodable) -> AdapterError {
    match (odd(bytes, &bad.to_string()), bad) {
        (AdapterError::Protocol { line, reason }, Undecodable::TooLarge(_)) => {
            AdapterError::TooLarge { line, reason }
        }
        (other, _) => other,
    }
}

/// Returns whether a text that contains `value` may contain `mark` because of it: `value` contains all of `mark`, or
/// ends or begins with a part of it.
fn overlaps(value: &str, mark: &str) -> bool {
    let mut cuts = mark.char_indices().map(|(at, _)| mark.split_at(at)).skip(1);
    value.contains(mark) || cuts.any(|(begin, end)| value.ends_with(begin) || value.starts_with(end))
}

/// `text` as a frame to send.
pub(super) fn write_frame(framing: &Framing, text: &str) -> Result<Vec<u8>, UnwritableMessage> {
    let Framing::Length(width) = framing else { return Ok(text.as_bytes().to_vec()) };
    let length = (text.len() as u64).to_be_bytes();
    let (high, low) = length.split_at(length.len().saturating_sub(*width));
    if high.iter().any(|&byte| byte != 0) {
        return Err(UnwritableMessage::LengthPrefix);
    }
    Ok([low, text.as_bytes()].concat())
}

#[cfg(test)]
mod tests;
