//! WebSocket messages (RFC 6455): the opening, frames written, frames read from the bytes that came so far.
//!
//! The key of the opening is always the same: it guards proxies against pages in browsers, which does not matter
//! here.
//!
//! *Promises.* Reading is a function of the bytes: it never waits. Messages are bounded. A frame that the standard
//! forbids is an error, never skipped.

use ioxide_record::limits::{Excess, max_message};

use super::events::BadStream;
use super::message::{HttpResponse, ResponsePart};

/// The key of the opening, and what must come back for it (RFC 6455, 1.3).
const KEY: (&str, &str) = ("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
/// The mask of every frame; any will do, but there must be one.
const MASK: [u8; 4] = [0x69, 0x6f, 0x78, 0x21];
/// The longest payload of a frame that is not a message. In bytes, from RFC 6455, section 5.5.
const MAX_CONTROL: usize = 125;

/// Headers that open a WebSocket.
pub(super) fn opening() -> String {
    let (key, _) = KEY;
    format!(
        "upgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: {key}\r\n"
    )
}

/// Checks that the answer opens a WebSocket as the standard demands.
pub(super) fn check_opened(response: &HttpResponse) -> Result<(), BadStream> {
    let is_upgrade = response.header("upgrade").is_some_and(|to| to.eq_ignore_ascii_case("websocket"));
    match (is_upgrade, response.header("sec-websocket-accept") == Some(KEY.1)) {
        (false, _) => Err(BadStream::Wrong("it switches to another protocol than WebSocket")),
        (true, false) => Err(BadStream::Wrong("its `sec-websocket-accept` does not answer our key")),
        (true, true) => Ok(()),
    }
}

/// The kinds of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// Text, in UTF-8.
    Text,
    /// Bytes.
    Binary,
    /// The announcement of the end.
    Close,
    /// A question whether the peer is there.
    Ping,
    /// The answer to a ping.
    Pong,
}

impl FrameKind {
    /// Returns the opcode (RFC 6455, 5.2).
    const fn code(self) -> u8 {
        match self {
            Self::Text => 1,
            Self::Binary => 2,
            Self::Close => 8,
            Self::Ping => 9,
            Self::Pong => 10,
        }
    }
}

/// A frame to send: whole, masked as clients must.
#[must_use]
pub fn frame(kind: FrameKind, payload: &[u8]) -> Vec<u8> {
    // The high bit says that the message ends with this frame: ours are never in parts.
    let mut bytes = vec![0x80 | kind.code()];
    match payload.len() {
        // The high bit of the second byte says that the payload is masked. Lengths up to 125 stand there
        // themselves, 126 announces two bytes of length and 127 eight (RFC 6455, 5.2).
        n @ 0..=125 => bytes.push(0x80 | u8::try_from(n).unwrap_or(125)),
        n => match u16::try_from(n) {
            Ok(n) => {
                bytes.push(0x80 | 126);
                bytes.extend(n.to_be_bytes());
            }
            Err(_) => {
                bytes.push(0x80 | 127);
                bytes.extend((n as u64).to_be_bytes());
            }
        },
    }
    bytes.extend(MASK);
    bytes.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    bytes
}

/// A message or a control frame of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IncomingFrame {
    /// A message: text or bytes.
    Message(FrameKind, Vec<u8>),
    /// A question whether we are there, to be answered with the same bytes.
    Ping(Vec<u8>),
    /// An answer to a ping; as none is sent, it is ignored.
    Pong,
    /// The announcement of the end.
    Close(Vec<u8>),
}

impl IncomingFrame {
    /// The message as a part of a conversation.
    #[must_use]
    pub fn response(kind: FrameKind, body: Vec<u8>) -> HttpResponse {
        let name = if kind == FrameKind::Text { "message" } else { "binary" };
        HttpResponse { status: 200, body, part: ResponsePart::Event(name.into()), ..HttpResponse::default() }
    }
}

/// Puts the frames of a message together.
#[derive(Clone, Debug, Default)]
pub struct Assembly {
    /// The kind and the bytes of a message of which not all frames have arrived; `None` between two messages.
    begun: Option<(FrameKind, Vec<u8>)>,
}

impl Assembly {
    /// Returns whether a message has begun and is incomplete.
    #[must_use]
    pub const fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Takes the next message or control frame from the front of `bytes`; `None` if it is incomplete.
    ///
    /// # Errors
    /// If the standard forbids it, or it is too long.
    pub fn next_frame(&mut self, bytes: &mut Vec<u8>) -> Result<Option<IncomingFrame>, BadStream> {
        while let Some(frame) = WebSocketFrame::at_front(bytes)? {
            let payload = bytes[frame.head..frame.head + frame.length].to_vec();
            bytes.drain(..frame.head + frame.length);
            if let Some(incoming) = self.add_frame(&frame, payload)? {
                return Ok(Some(incoming));
            }
        }
        Ok(None)
    }

    fn add_frame(
        &mut self,
        frame: &WebSocketFrame,
        payload: Vec<u8>,
    ) -> Result<Option<IncomingFrame>, BadStream> {
        // A control frame may stand between the frames of a message (RFC 6455, 5.4): the message that has begun is
        // put back. After a close nothing follows, so there it is dropped.
        let (kind, mut all) = match (frame.code, self.begun.take()) {
            (8, _) => return Ok(Some(IncomingFrame::Close(payload))),
            (9, begun) => {
                self.begun = begun;
                return Ok(Some(IncomingFrame::Ping(payload)));
            }
            (10, begun) => {
                self.begun = begun;
                return Ok(Some(IncomingFrame::Pong));
            }
            (0, Some(begun)) => begun,
            (0, None) => return Err(BadStream::Wrong("a frame continues a message that has not begun")),
            (1, None) => (FrameKind::Text, Vec::new()),
            (2, None) => (FrameKind::Binary, Vec::new()),
            (1 | 2, Some(_)) => return Err(BadStream::Wrong("a message begins inside another")),
            _ => return Err(BadStream::Wrong("a frame of an unknown kind")),
        };
        all.extend(payload);
        if all.len() > max_message() {
            return Err(Excess::bytes().into());
        }
        if !frame.is_last {
            self.begun = Some((kind, all));
            return Ok(None);
        }
        // Only the whole message must be UTF-8: a character may be divided between frames (RFC 6455, 5.6).
        if kind == FrameKind::Text && std::str::from_utf8(&all).is_err() {
            return Err(BadStream::Wrong("a text message is not UTF-8 text"));
        }
        Ok(Some(IncomingFrame::Message(kind, all)))
    }
}

/// The head of a frame: its kind and its length.
struct WebSocketFrame {
    is_last: bool,
    code: u8,
    head: usize,
    length: usize,
}

impl WebSocketFrame {
    /// The frame at the front of `bytes`, if it is whole.
    fn at_front(bytes: &[u8]) -> Result<Option<Self>, BadStream> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        // Reserved bits need an extension, which the opening did not offer; servers must not mask (RFC 6455, 5.1).
        if first & 0x70 != 0 || second & 0x80 != 0 {
            return Err(BadStream::Wrong("a frame with bits that a server may not set"));
        }
        let (long, more) = match second & 0x7f {
            126 => (rest.first_chunk::<2>().map(|bytes| u64::from(u16::from_be_bytes(*bytes))), 2),
            127 => (rest.first_chunk::<8>().map(|bytes| u64::from_be_bytes(*bytes)), 8),
            short => (Some(u64::from(short)), 0),
        };
        let Some(long) = long else { return Ok(None) };
        // Bounded before the payload has come, so no length makes the adapter wait for more than it would keep.
        let length = usize::try_from(long).ok().filter(|n| *n <= max_message());
        let length = length.ok_or_else(Excess::bytes)?;
        let frame = Self { is_last: first & 0x80 != 0, code: first & 0x0f, head: 2 + more, length };
        if frame.code >= 8 && (!frame.is_last || length > MAX_CONTROL) {
            return Err(BadStream::Wrong("a control frame is too long or in several parts"));
        }
        Ok((bytes.len() >= frame.head + length).then_some(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame as servers send it.
    fn server_frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = vec![first];
        match u8::try_from(payload.len()) {
            Ok(n) if n < 126 => bytes.push(n),
            _ => {
                bytes.push(126);
                bytes.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
            }
        }
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn what_is_written_is_read_once_the_mask_is_off() {
        for length in [0, 1, 125, 126, 400, 65_535, 65_536] {
            let payload: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let bytes = frame(FrameKind::Binary, &payload);
            let head = bytes.len() - payload.len();
            let plain: Vec<u8> =
                bytes[head..].iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
            assert_eq!(plain, payload);
            assert_eq!(bytes[0], 0x82);
            assert_ne!(bytes[1] & 0x80, 0, "clients mask");
        }
    }

    #[test]
    fn messages_in_parts_are_put_together() {
        let mut bytes = [
            server_frame(0x01, b"Hel"),
            server_frame(0x89, b"?"),
            server_frame(0x80, b"lo"),
            server_frame(0x82, &[7; 300]),
            server_frame(0x88, b""),
        ]
        .concat();
        let mut assembly = Assembly::default();
        let mut next = || assembly.next_frame(&mut bytes).unwrap();
        assert_eq!(next(), Some(IncomingFrame::Ping(b"?".to_vec())));
        assert_eq!(next(), Some(IncomingFrame::Message(FrameKind::Text, b"Hello".to_vec())));
        assert_eq!(next(), Some(IncomingFrame::Message(FrameKind::Binary, vec![7; 300])));
        assert_eq!(next(), Some(IncomingFrame::Close(Vec::new())));
        assert_eq!(next(), None);
    }

    #[test]
    fn what_the_standard_forbids_is_told() {
        let masked = frame(FrameKind::Text, b"x");
        let huge = [vec![0x82, 127], (1_u64 << 40).to_be_bytes().to_vec()].concat();
        for bytes in [
            masked,
            huge,
            server_frame(0x80, b"x"),
            server_frame(0x83, b"x"),
            server_frame(0x81, &[0xff]),
            server_frame(0x09, b"x"),
            server_frame(0xc1, b"x"),
        ] {
            assert!(Assembly::default().next_frame(&mut bytes.clone()).is_err(), "{bytes:?}");
        }
        let mut within = [server_frame(0x01, b"a"), server_frame(0x01, b"b")].concat();
        assert!(Assembly::default().next_frame(&mut within).is_err());
    }
}
