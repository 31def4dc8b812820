//! A connection on which messages come one after the other: server-sent events, or a WebSocket.
//!
//! *Promises.* Nothing on an open stream is silence; its end is told once, and an incomplete message at its end is an
//! error.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use super::exchange::IdleConnection;
use crate::adapter::frames::{half_message, odd, undecodable};
use crate::adapter::message_time::{LAST_LOOK, MessageArrival, MessageLimits, MessageProgress, dripping};
use crate::adapter::source::ReadResult;
use crate::adapter::{AdapterError, MessageCut};
use crate::codec::http::events::{BadStream, Dechunker, next_event};
use crate::codec::http::message::{HttpResponse, ResponsePart, StreamKind};
use crate::codec::http::websocket::{Assembly, FrameKind, IncomingFrame, frame};

/// A stream that the system opened for an input.
pub(super) struct OpenStream {
    /// The input.
    pub(super) input: Option<String>,
    link: IdleConnection,
    reading: StreamReading,
    /// The bytes that are no complete message yet.
    buffer: Vec<u8>,
    /// The arrival of the bytes of a message of which a part is in the buffer; `None` if none is.
    arrival: Option<MessageArrival>,
    /// The messages that have arrived and were not returned yet.
    heard: VecDeque<HttpResponse>,
    is_over: bool,
    /// True if the system has not taken a pong: no more are sent, as each would wait for its time limit.
    is_deaf: bool,
    /// True once a message was returned.
    has_spoken: bool,
}

/// The way in which the bytes of a stream become messages.
enum StreamReading {
    Events { raw: Option<(Dechunker, Vec<u8>)> },
    WebSocket(Assembly),
}

impl OpenStream {
    /// The stream that begins with these bytes.
    pub(super) fn new(kind: StreamKind, input: Option<String>, link: IdleConnection, begun: Vec<u8>) -> Self {
        let (reading, buffer) = match kind {
            StreamKind::Events { chunked: true } => {
                (StreamReading::Events { raw: Some((Dechunker::default(), begun)) }, Vec::new())
            }
            StreamKind::Events { chunked: false } => (StreamReading::Events { raw: None }, begun),
            StreamKind::WebSocket => (StreamReading::WebSocket(Assembly::default()), begun),
        };
        Self {
            input,
            link,
            reading,
            buffer,
            arrival: None,
            heard: VecDeque::new(),
            is_over: false,
            is_deaf: false,
            has_spoken: false,
        }
    }

    /// Returns the lane on which the messages of this stream keep their order.
    pub(super) fn lane(&self) -> u32 {
        self.link.lane()
    }

    /// Returns whether messages can be sent over it: it is a WebSocket that has not ended.
    pub(super) fn is_websocket(&self) -> bool {
        matches!(self.reading, StreamReading::WebSocket(_)) && !self.is_over
    }

    /// Returns whether it has ended and all its messages, the end included, were returned.
    pub(super) fn is_over(&self) -> bool {
        self.is_over && self.heard.is_empty()
    }

    /// Returns whether a part of a message has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.arrival.is_some()
    }

    /// Returns whether a message was returned.
    pub(super) fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// Notes that a message was returned; returns whether it is the first.
    pub(super) fn note_message(&mut self) -> bool {
        !std::mem::replace(&mut self.has_spoken, true)
    }

    /// Sends a text message.
    pub(super) fn send(&mut self, text: &str) -> io::Result<()> {
        self.link.write(&frame(FrameKind::Text, text.as_bytes()))
    }

    /// The next message, if it is there within `wait`.
    pub(super) fn next_message(
        &mut self,
        wait: Duration,
        limits: MessageLimits,
    ) -> Result<Option<HttpResponse>, AdapterError> {
        self.split_messages()?;
        if let Some(heard) = self.heard.pop_front() {
            return Ok(Some(heard));
        }
        if self.is_over {
            return Ok(None);
        }
        let is_raw = matches!(&self.reading, StreamReading::Events { raw: Some(_) });
        match self.read_more(wait, limits) {
            Ok(ReadResult::Nothing) => return self.nothing_more(limits),
            Ok(ReadResult::Some(arrived)) => MessageArrival::record_bytes(&mut self.arrival, arrived),
            // Whoever sends chunks says which is the last.
            Ok(ReadResult::End) if is_raw => return Err(odd(&self.buffer, &BadStream::CutOff.to_string())),
            Ok(ReadResult::End) => self.queue_end()?,
            Err(error) => return Err(AdapterError::Broken(error.to_string())),
        }
        self.split_messages()?;
        let heard = self.heard.pop_front();
        let is_dripping = self.arrival.is_some_and(|arrival| arrival.is_dripping(limits));
        if heard.is_none() && is_dripping { Err(dripping(limits)) } else { Ok(heard) }
    }

    /// Reads what comes within `wait`; looks once more before a message is found to have stopped.
    fn read_more(&mut self, wait: Duration, limits: MessageLimits) -> io::Result<ReadResult> {
        let buffer = match &mut self.reading {
            StreamReading::Events { raw: Some((_, raw)) } => raw,
            _ => &mut self.buffer,
        };
        let read = self.link.read_bytes(buffer, wait)?;
        let is_stop =
            self.arrival.is_some_and(|arrival| arrival.progress(limits) == MessageProgress::Stopped);
        match read {
            ReadResult::Nothing if is_stop => self.link.read_bytes(buffer, LAST_LOOK),
            read => Ok(read),
        }
    }

    /// Called when no more bytes have come: returns an error if the time of a message that has begun is over.
    fn nothing_more(&self, limits: MessageLimits) -> Result<Option<HttpResponse>, AdapterError> {
        match self.arrival.map(|arrival| arrival.progress(limits)) {
            Some(MessageProgress::Stopped) => {
                Err(half_message(&self.buffer, MessageCut::Stopped(limits.pause)))
            }
            Some(MessageProgress::Dripping) => Err(dripping(limits)),
            Some(MessageProgress::Waiting) | None => Ok(None),
        }
    }

    /// Makes messages of the bytes.
    fn split_messages(&mut self) -> Result<(), AdapterError> {
        // Looked at before and after: whether a message was completed decides whose time goes on below.
        let heard = self.heard.len();
        let mut there = self.buffer.len();
        let taken = match &mut self.reading {
            StreamReading::Events { raw } => {
                let mut ends = false;
                let unpacked = raw.as_mut().map_or(Ok(()), |(chunks, raw)| {
                    let unpacked = chunks.move_chunks(raw, &mut self.buffer);
                    ends = chunks.is_over();
                    unpacked
                });
                there = self.buffer.len();
                unpacked.and_then(|()| events(&mut self.buffer, &mut self.heard)).map(|()| ends)
            }
            StreamReading::WebSocket(assembly) => {
                let talk = (&mut self.link, &mut self.is_deaf);
                frames(assembly, &mut self.buffer, &mut self.heard, talk)
            }
        };
        let ends = taken.map_err(|bad| undecodable(&self.buffer, &bad.into()))?;
        let is_within = matches!(&self.reading, StreamReading::WebSocket(assembly) if assembly.has_begun());
        // What is left after a whole message is the beginning of another, with a time of its own.
        if self.heard.len() > heard || self.buffer.len() < there && !is_within {
            self.arrival = None;
        }
        // The time of a message begins when its first byte is here, also if the bytes came with those of the one
        // before.
        let is_partial = match &self.reading {
            StreamReading::Events { raw } => {
                !self.buffer.is_empty() || raw.as_ref().is_some_and(|(_, raw)| !raw.is_empty())
            }
            StreamReading::WebSocket(assembly) => !self.buffer.is_empty() || assembly.has_begun(),
        };
        if is_partial {
            _ = self.arrival.get_or_insert_with(|| MessageArrival::begin_at(Instant::now()))
        } else {
            self.arrival = None
        }
        if ends && !self.is_over {
            self.queue_end()?;
        }
        Ok(())
    }

    /// Queues the end as a message; fails if bytes of an incomplete message are left.
    fn queue_end(&mut self) -> Result<(), AdapterError> {
        self.is_over = true;
        if !self.buffer.iter().all(|byte| byte.is_ascii_whitespace()) {
            return Err(odd(&self.buffer, &BadStream::CutOff.to_string()));
        }
        self.heard.push_back(HttpResponse { part: ResponsePart::Closed, ..HttpResponse::default() });
        Ok(())
    }
}

/// Moves the whole events from `buffer` to `heard`; a partial one stays.
fn events(buffer: &mut Vec<u8>, heard: &mut VecDeque<HttpResponse>) -> Result<(), BadStream> {
    while let Some(event) = next_event(buffer)? {
        heard.push_back(event);
    }
    Ok(())
}

/// Reads frames and answers pings; returns whether the stream is over.
fn frames(
    assembly: &mut Assembly,
    buffer: &mut Vec<u8>,
    heard: &mut VecDeque<HttpResponse>,
    (link, is_deaf): (&mut IdleConnection, &mut bool),
) -> Result<bool, BadStream> {
    while let Some(incoming) = assembly.next_frame(buffer)? {
        // A system that has gone takes no answer; its end is seen by the next read.
        match incoming {
            IncomingFrame::Message(kind, body) => heard.push_back(IncomingFrame::response(kind, body)),
            IncomingFrame::Ping(payload) if !*is_deaf => {
                *is_deaf = link.write(&frame(FrameKind::Pong, &payload)).is_err();
            }
            IncomingFrame::Ping(_) => (),
            IncomingFrame::Pong => (),
            IncomingFrame::Close(payload) => {
                if !*is_deaf {
                    drop(link.write(&frame(FrameKind::Close, &payload)));
                }
                buffer.clear();
                return Ok(true);
            }
        }
    }
    Ok(false)
}
