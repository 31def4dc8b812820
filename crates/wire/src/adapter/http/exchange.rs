//! One connection, and one request on it that waits for its answer.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use ioxide_model::label::Label;

use super::streams::OpenStream;
use crate::adapter::channel::AdapterChannel;
use crate::adapter::frames::{half_message, undecodable};
use crate::adapter::message_time::{LAST_LOOK, MessageArrival, MessageLimits, MessageProgress, dripping};
use crate::adapter::source::{ByteSource, ReadResult, SocketSource};
use crate::adapter::{AdapterError, MessageCut};
use crate::codec::Undecodable;
use crate::codec::http::message::{AskedFor, HttpResponse};

/// Answers longer than this are not read again for every piece that comes. Chosen by feel: reading again takes time
/// that grows with the square.
const LONG_ANSWER_BYTES: usize = 1 << 20;

/// A connection on which nothing is asked.
pub(super) struct IdleConnection {
    writer: AdapterChannel,
    reader: Option<SocketSource>,
    /// The number of requests that it has carried.
    used: usize,
    /// The lane of the last one.
    lane: u32,
}

/// The state of a connection that carries no pending request.
pub(super) enum ConnectionState {
    Open(IdleConnection),
    Closed,
    /// The system sends on it without having been asked.
    Speaks(PendingRequest),
}

impl IdleConnection {
    /// Makes a connection that was never used. A channel that cannot be cloned has no reader.
    pub(super) fn new(channel: AdapterChannel) -> Self {
        let reader = channel.try_clone().ok().map(SocketSource::new);
        Self { writer: channel, reader, used: 0, lane: 0 }
    }

    pub(super) const fn was_used(&self) -> bool {
        self.used > 0
    }

    /// Looks whether the system has closed it, or speaks without being asked.
    pub(super) fn check_state(mut self) -> ConnectionState {
        let mut bytes = Vec::new();
        match self.reader.as_mut().map(|reader| reader.read(&mut bytes, Duration::ZERO)) {
            Some(Ok(ReadResult::Nothing)) => ConnectionState::Open(self),
            Some(Ok(ReadResult::Some(_))) => {
                ConnectionState::Speaks(PendingRequest::for_unasked(self, bytes))
            }
            // An error here is no finding: nothing was asked, and the next request opens another connection.
            Some(Ok(ReadResult::End) | Err(_)) | None => ConnectionState::Closed,
        }
    }

    /// Writes the bytes of a request.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)
    }

    /// Adds what comes within `wait` to `bytes`.
    pub(super) fn read_bytes(&mut self, bytes: &mut Vec<u8>, wait: Duration) -> io::Result<ReadResult> {
        self.reader.as_mut().map_or(Ok(ReadResult::End), |reader| reader.read(bytes, wait))
    }

    /// The lane of the last request on it.
    pub(super) const fn lane(&self) -> u32 {
        self.lane
    }
}

impl Drop for IdleConnection {
    fn drop(&mut self) {
        self.writer.hang_up();
    }
}

/// The cause of an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutputCause {
    Request(AskedFor),
    /// Nothing is known to have caused it.
    None,
}

/// A request that waits for its answer, or an answer without a request.
pub(super) struct PendingRequest {
    link: IdleConnection,
    cause: OutputCause,
    buffer: Vec<u8>,
    /// The number of bytes that were in the buffer at the last attempt to parse it.
    read: usize,
    /// The instant at which the request was made.
    asked_at: Instant,
    /// The arrival of the bytes of the answer; `None` before the first.
    arrival: Option<MessageArrival>,
    ended: bool,
    /// The request, if it may be made again.
    again: Option<Vec<u8>>,
    /// The input that was sent by the request; `None` for a request without an input.
    input: Option<String>,
    /// The message and the access token of the request, if it may be made again with another token.
    renewal: Option<(Label, String)>,
}

/// The state of the connection after an answer was taken.
pub(super) enum AnswerRest {
    /// A connection that can be used again.
    Idle(IdleConnection),
    /// Further bytes, for which no request is known.
    More(PendingRequest),
    /// A stream.
    Stream(OpenStream),
    Nothing,
}

impl PendingRequest {
    /// Makes a request that was just sent on `link`, of which no byte of an answer has come.
    pub(super) fn new(mut link: IdleConnection, asked: AskedFor, lane: u32) -> Self {
        // Counted when it is asked, as an answer that never comes depends on whether the connection was used
        // before.
        link.used += 1;
        link.lane = lane;
        let cause = OutputCause::Request(asked);
        Self {
            link,
            cause,
            buffer: Vec::new(),
            read: 0,
            asked_at: Instant::now(),
            arrival: None,
            ended: false,
            again: None,
            input: None,
            renewal: None,
        }
    }

    /// Returns the same request as one for this input.
    pub(super) fn with_input(self, input: Option<String>) -> Self {
        Self { input, ..self }
    }

    /// The input it answers, where that is known.
    pub(super) fn input(&self) -> Option<&str> {
        self.input.as_deref().filter(|_| !self.is_unasked())
    }

    fn for_unasked(link: IdleConnection, buffer: Vec<u8>) -> Self {
        Self {
            link,
            cause: OutputCause::None,
            buffer,
            read: 0,
            asked_at: Instant::now(),
            arrival: Some(MessageArrival::begin_at(Instant::now())),
            ended: false,
            again: None,
            input: None,
            renewal: None,
        }
    }

    /// Notes that the message was sent with this access token, and may be sent again with another one.
    pub(super) fn allow_renewal(&mut self, message: Label, token: String) {
        self.renewal = Some((message, token));
    }

    /// Returns message and token of a request that was answered completely and may be made again with another token,
    /// which is then used up.
    pub(super) fn take_renewal(&mut self) -> Option<(Label, String)> {
        // Bytes after the answer belong to nothing that was asked: the answer is taken, and then they are told.
        if self.buffer.is_empty() { self.renewal.take() } else { None }
    }

    /// Returns the same request as one that may be made again with the bytes `again`.
    pub(super) fn repeatable(self, again: Option<Vec<u8>>) -> Self {
        Self { again, ..self }
    }

    /// Returns the request if it may be made again, which is then used up.
    pub(super) fn take_request(&mut self) -> Option<Vec<u8>> {
        self.again.take()
    }

    /// Waits on `link` from now on, where the request was made again.
    pub(super) fn go_on(&mut self, mut link: IdleConnection) {
        (link.used, link.lane) = (1, self.link.lane);
        self.link = link;
        self.asked_at = Instant::now();
        (self.arrival, self.ended) = (None, false);
    }

    /// The lane of the last request on its connection.
    pub(super) const fn lane(&self) -> u32 {
        self.link.lane
    }

    /// Returns the time since the request was made.
    pub(super) fn age(&self) -> Duration {
        self.asked_at.elapsed()
    }

    /// Returns whether a part of the answer has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.arrival.is_some()
    }

    /// Returns the arrival of the first byte of the answer; `None` before that.
    pub(super) fn begun_at(&self) -> Option<Instant> {
        self.arrival.map(|arrival| arrival.first)
    }

    pub(super) fn is_unasked(&self) -> bool {
        self.cause == OutputCause::None
    }

    /// The answer, if it is complete within `wait`; once it has begun it must end within `limits`.
    pub(super) fn read_answer(
        &mut self,
        wait: Duration,
        limits: MessageLimits,
    ) -> Result<Option<HttpResponse>, AdapterError> {
        // What was left over may be an answer already.
        if self.is_unasked()
            && let Some(response) = self.parse_response()?
        {
            return Ok(Some(response));
        }
        let used = self.link.used;
        match self.read_more(wait, limits) {
            Ok(ReadResult::Nothing) => return self.nothing_more(limits),
            Ok(ReadResult::Some(arrived)) => {
                MessageArrival::record_bytes(&mut self.arrival, arrived);
                if self.is_parsing_deferred() && !self.is_dripping(limits) {
                    return Ok(None);
                }
            }
            Ok(ReadResult::End) => self.ended = true,
            // A reset connection without a byte of an answer is a closed one.
            Err(_) if self.buffer.is_empty() => return Err(closed_error(used)),
            Err(error) => return Err(AdapterError::Broken(error.to_string())),
        }
        if self.ended && self.buffer.is_empty() {
            return Err(closed_error(used));
        }
        let parsed = self.parse_response()?;
        if parsed.is_none() && self.is_dripping(limits) { Err(dripping(limits)) } else { Ok(parsed) }
    }

    /// Reads what comes within `wait`; looks once more before the answer is found to have stopped.
    fn read_more(&mut self, wait: Duration, limits: MessageLimits) -> io::Result<ReadResult> {
        let Some(reader) = self.link.reader.as_mut() else { return Ok(ReadResult::End) };
        let read = reader.read(&mut self.buffer, wait)?;
        let is_stop =
            self.arrival.is_some_and(|arrival| arrival.progress(limits) == MessageProgress::Stopped);
        match read {
            // This process may have been the one that stood still: then the bytes lie in the socket.
            ReadResult::Nothing if is_stop => reader.read(&mut self.buffer, LAST_LOOK),
            read => Ok(read),
        }
    }

    fn is_dripping(&self, limits: MessageLimits) -> bool {
        self.arrival.is_some_and(|arrival| arrival.is_dripping(limits))
    }

    /// Called when no more bytes have come: returns the answer if it is complete, and an error if its time is over.
    fn nothing_more(&mut self, limits: MessageLimits) -> Result<Option<HttpResponse>, AdapterError> {
        if self.read < self.buffer.len()
            && let Some(response) = self.parse_response()?
        {
            return Ok(Some(response));
        }
        match self.arrival.map(|arrival| arrival.progress(limits)) {
            Some(MessageProgress::Stopped) => {
                Err(half_message(&self.buffer, MessageCut::Stopped(limits.pause)))
            }
            Some(MessageProgress::Dripping) => Err(dripping(limits)),
            Some(MessageProgress::Waiting) | None => Ok(None),
        }
    }

    /// Returns whether parsing is put off until more bytes have arrived. Parsing starts at the front, so parsing a long
    /// answer after every few bytes would take time quadratic in its length.
    fn is_parsing_deferred(&self) -> bool {
        self.read > LONG_ANSWER_BYTES && self.buffer.len() < self.read + self.read / 8
    }

    fn parse_response(&mut self) -> Result<Option<HttpResponse>, AdapterError> {
        self.read = self.buffer.len();
        let asked = match self.cause {
            OutputCause::Request(asked) => asked,
            OutputCause::None => AskedFor::Body,
        };
        let parsed = HttpResponse::parse(&self.buffer, asked, self.ended);
        let wrong = |bad: Undecodable| match self.cause {
            OutputCause::None => {
                let bad = bad.in_other_words(|reason| format!("it sent data without a request: {reason}"));
                undecodable(&self.buffer, &bad)
            }
            OutputCause::Request(_) => undecodable(&self.buffer, &bad),
        };
        let Some((response, used)) = parsed.map_err(wrong)? else { return Ok(None) };
        self.buffer.drain(..used);
        self.read = 0;
        Ok(Some(response))
    }

    /// Returns the state of the connection after `response` was taken.
    pub(super) fn connection_after(mut self, response: &HttpResponse) -> AnswerRest {
        if let Some(kind) = response.stream {
            return AnswerRest::Stream(OpenStream::new(kind, self.input, self.link, self.buffer));
        }
        // More than was asked for: an answer of its own, without a request.
        if !self.buffer.is_empty() {
            self.cause = OutputCause::None;
            self.arrival = Some(MessageArrival::begin_at(Instant::now()));
            return AnswerRest::More(self);
        }
        if self.ended || !response.keeps_alive { AnswerRest::Nothing } else { AnswerRest::Idle(self.link) }
    }
}

/// Returns the error for a connection that was closed without an answer. On one that was used before, the request may
/// have crossed its end.
fn closed_error(used: usize) -> AdapterError {
    match used {
        0 | 1 => AdapterError::Ended { status: "it closed the connection without an answer".into() },
        _ => AdapterError::Unknown("it closed the connection without an answer".into()),
    }
}
