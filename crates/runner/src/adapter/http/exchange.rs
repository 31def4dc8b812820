//! One connection, and one request on it that waits for its answer.

use std::io::{self, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::adapter::AdapterError;
use crate::adapter::frames::odd;
use crate::adapter::source::{Got, Source, Stream};
use crate::codec::http::message::Response;

/// A connection on which nothing is asked.
pub(super) struct Link {
    writer: TcpStream,
    reader: Option<Stream>,
    /// How many requests it has carried.
    used: usize,
}

/// Whether a connection can still be used.
pub(super) enum State {
    Open,
    Closed,
}

impl Link {
    pub(super) fn new(stream: TcpStream) -> Self {
        let reader = stream.try_clone().ok().map(Stream::new);
        Self { writer: stream, reader, used: 0 }
    }

    pub(super) const fn was_used(&self) -> bool {
        self.used > 0
    }

    /// Looks whether the system has closed it; words that nobody asked for are an error.
    pub(super) fn state(&mut self) -> Result<State, AdapterError> {
        let mut bytes = Vec::new();
        match self.reader.as_mut().map(|reader| reader.read(&mut bytes, Duration::ZERO)) {
            Some(Ok(Got::Nothing)) => Ok(State::Open),
            Some(Ok(Got::Some(_))) => Err(odd(&bytes, "it spoke without being asked")),
            Some(Ok(Got::End) | Err(_)) | None => Ok(State::Closed),
        }
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }
}

/// A request that waits for its answer.
pub(super) struct Asked {
    link: Link,
    to_head: bool,
    lane: u32,
    buffer: Vec<u8>,
    ended: bool,
}

impl Asked {
    pub(super) fn new(mut link: Link, to_head: bool, lane: u32) -> Self {
        link.used += 1;
        Self { link, to_head, lane, buffer: Vec::new(), ended: false }
    }

    pub(super) const fn lane(&self) -> u32 {
        self.lane
    }

    /// Whether a part of the answer has come.
    pub(super) fn has_begun(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// The answer, if it is complete within `wait`.
    pub(super) fn look(&mut self, wait: Duration) -> Result<Option<Response>, AdapterError> {
        let Some(reader) = self.link.reader.as_mut() else { return Err(closed(self.link.used)) };
        match reader.read(&mut self.buffer, wait) {
            Ok(Got::Nothing) => return Ok(None),
            Ok(Got::Some(_)) => (),
            Ok(Got::End) => self.ended = true,
            Err(_) if self.buffer.is_empty() => return Err(closed(self.link.used)),
            Err(error) => return Err(AdapterError::Broken(error.to_string())),
        }
        if self.ended && self.buffer.is_empty() {
            return Err(closed(self.link.used));
        }
        let parsed = Response::parse(&self.buffer, self.to_head, self.ended);
        match parsed.map_err(|reason| odd(&self.buffer, &reason))? {
            Some((response, used)) => {
                self.buffer.drain(..used);
                Ok(Some(response))
            }
            None => Ok(None),
        }
    }

    /// The connection, unless more came than was asked for.
    pub(super) fn into_idle(self) -> Option<Link> {
        (self.buffer.is_empty() && !self.ended).then_some(self.link)
    }
}

/// A connection that was closed without an answer. On one that was used before, the request may have
/// crossed its end.
fn closed(used: usize) -> AdapterError {
    match used {
        0 | 1 => AdapterError::Ended { status: "it closed the connection without an answer".into() },
        _ => AdapterError::Unknown("it closed the connection without an answer".into()),
    }
}
