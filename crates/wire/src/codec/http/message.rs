//! HTTP/1.1 messages (RFC 9112): requests written, answers read from the bytes that came so far.
//!
//! *Promises.* Reading is a function of the bytes: it never waits. Heads and bodies are bounded.
//! Lengths that contradict each other are errors.

use ioxide_record::limits::{Excess, max_body};
use ioxide_record::line::cut;

use super::super::Undecodable;
use super::coding::{BadCoding, BodyCoding, coding_names, decode_body};
use super::events::BadStream;

/// The longest head. In bytes. Chosen by feel: common servers refuse heads beyond 8 or 16 kilobytes.
const MAX_HEAD: usize = 64 << 10;

/// A request, its values filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpRequest {
    /// Its method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Option<String>,
    /// True if the body is sent in chunks.
    pub is_chunked: bool,
    /// True if the request opens a WebSocket.
    pub opens: bool,
}

/// Bytes of a body in one chunk, where a request is sent in chunks. Chosen by feel: small, so that servers are tested
/// with several chunks.
const SENT_CHUNK: usize = 1024;

/// The kind of a request, as far as it decides the extent of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AskedFor {
    /// An answer with a body.
    #[default]
    Body,
    /// `HEAD`: an answer without its body.
    Head,
    /// A WebSocket.
    WebSocket,
}

impl HttpRequest {
    /// Returns the kind of answer it asks for.
    #[must_use]
    pub fn asks_for(&self) -> AskedFor {
        match (self.opens, self.method.as_str()) {
            (true, _) => AskedFor::WebSocket,
            (false, "HEAD") => AskedFor::Head,
            (false, _) => AskedFor::Body,
        }
    }

    /// Returns whether `text` is in its path, a header or its body.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        let values = self.headers.iter().map(|(_, value)| value);
        values.chain([&self.path]).chain(&self.body).any(|part| part.contains(text))
    }

    /// The bytes to send to `host`.
    #[must_use]
    pub fn to_bytes(&self, host: &str) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nhost: {host}\r\n", self.method, self.path);
        let has = |name: &str| self.headers.iter().any(|(other, _)| other == name);
        if !has("user-agent") {
            head.push_str("user-agent: ioxide\r\n");
        }
        if !has("accept") {
            head.push_str("accept: */*\r\n");
        }
        if !has("accept-encoding") {
            // Without it a server may choose any encoding (RFC 9110, 12.5.3).
            head.push_str("accept-encoding: identity\r\n");
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.opens {
            head.push_str(&super::websocket::opening());
        }
        let body = self.body.as_deref().unwrap_or_default();
        if self.is_chunked {
            let mut bytes = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
            for chunk in body.as_bytes().chunks(SENT_CHUNK) {
                bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
                bytes.extend_from_slice(chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(b"0\r\n\r\n");
            return bytes;
        }
        // A method that usually has a body announces an empty one too (RFC 9110, 8.6).
        if self.body.is_some() || matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        format!("{head}\r\n{body}").into_bytes()
    }
}

/// The part of a conversation that a message is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResponsePart {
    /// An answer; where a stream follows, its head.
    #[default]
    Answer,
    /// An event of a stream, or a message of a WebSocket, by name.
    Event(String),
    /// The end of a stream.
    Closed,
}

/// The kind of messages that follow the head of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Server-sent events.
    Events {
        /// True if the events come in chunks.
        chunked: bool,
    },
    /// A WebSocket.
    WebSocket,
}

/// An answer, or a message of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// Its status.
    pub status: u16,
    /// Its headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body, decoded.
    pub body: Vec<u8>,
    /// The encoding of the body that is not read here, if it has one: the body is then as it came.
    pub unread_coding: Option<Excess>,
    /// True if the connection can be used for another request.
    pub keeps_alive: bool,
    /// The part of the conversation.
    pub part: ResponsePart,
    /// The stream that follows on its connection; `None` if it is a complete answer.
    pub stream: Option<StreamKind>,
}

impl HttpResponse {
    /// Returns the value of a header, the first one of this name; names are in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Status and body in one line.
    #[must_use]
    pub fn summary_line(&self) -> String {
        let body = String::from_utf8_lossy(&self.body[..self.body.len().min(1000)]);
        let body = cut(&body.escape_debug().to_string(), 200);
        match &self.part {
            ResponsePart::Answer => format!("{} {body}", self.status),
            ResponsePart::Event(name) => format!("[{name}] {body}"),
            ResponsePart::Closed => "the stream is closed".into(),
        }
    }

    /// Returns the answer at the front of `bytes` and its length in bytes; `None` if more must arrive.
    ///
    /// `asked` is the kind of the request; `ended` says that no more bytes arrive. If a stream follows, only its head
    /// is the answer.
    ///
    /// # Errors
    /// If the bytes are no answer, or too many.
    pub fn parse(bytes: &[u8], asked: AskedFor, ended: bool) -> Result<Option<(Self, usize)>, Undecodable> {
        let mut from = 0;
        loop {
            let Some((mut response, head)) = parse_head(&bytes[from..], ended)? else { return Ok(None) };
            from += head;
            match response.status {
                // What follows the head are frames, which the connection reads.
                101 if asked == AskedFor::WebSocket => {
                    super::websocket::check_opened(&response)?;
                    response.stream = Some(StreamKind::WebSocket);
                    return Ok(Some((response, from)));
                }
                101 => return Err("it switches to another protocol".into()),
                // A word in between; the answer follows.
                100..=199 => continue,
                _ => (),
            }
            let rest = &bytes[from..];
            // These have no body, whatever their headers say (RFC 9112, 6.3, rule 1).
            let extent = if asked == AskedFor::Head || matches!(response.status, 204 | 304) {
                BodyExtent::Bytes(0)
            } else {
                extent(&response)?
            };
            // A stream without end: waiting for all of it would be waiting forever. With a length it is an ordinary
            // body.
            if is_event_stream(&response) && !matches!(extent, BodyExtent::Bytes(_)) {
                response.refuse_encoded_stream()?;
                response.stream = Some(StreamKind::Events { chunked: extent == BodyExtent::Chunks });
                response.keeps_alive = false;
                return Ok(Some((response, from)));
            }
            let Some((body, used)) = body_of(rest, extent, ended)? else { return Ok(None) };
            response.decode_content(body)?;
            // A body without length ends with its connection, so nothing can follow on it.
            response.keeps_alive &= extent != BodyExtent::ToTheEnd;
            return Ok(Some((response, from + used)));
        }
    }
}

impl HttpResponse {
    /// The values of all headers called `name`.
    fn header_values<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        self.headers.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// The encodings between the chunks and the content: those of the transfer lie over those of the content.
    fn codings(&self) -> Vec<&str> {
        let mut names = coding_names(self.header_values("content-encoding"));
        let transfer = coding_names(self.header_values("transfer-encoding"));
        names.extend(transfer.into_iter().filter(|name| !name.eq_ignore_ascii_case("chunked")));
        names
    }

    /// Sets the body to the content of `body`; one with an encoding that is not read is kept as it is, as an output may
    /// be recognised without it.
    fn decode_content(&mut self, body: Vec<u8>) -> Result<(), Undecodable> {
        let codings = self.codings();
        match codings.iter().find(|name| !body.is_empty() && BodyCoding::from_name(name).is_none()) {
            Some(name) => {
                self.unread_coding = Some(Excess::Coding { name: cut(name, 40) });
                self.body = body;
            }
            None => self.body = decode_body(&codings, body)?,
        }
        Ok(())
    }

    /// Fails if a stream of events is encoded: its events cannot be distinguished before all of it has come.
    fn refuse_encoded_stream(&self) -> Result<(), BadCoding> {
        match self.codings().first() {
            Some(name) => Err(Excess::StreamCoding { name: cut(name, 40) }.into()),
            None => Ok(()),
        }
    }
}

/// Returns whether server-sent events follow the head.
fn is_event_stream(response: &HttpResponse) -> bool {
    let kind = response.header("content-type").and_then(|kind| kind.split(';').next());
    response.status == 200 && kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// The extent of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyExtent {
    Bytes(usize),
    Chunks,
    ToTheEnd,
}

const CUT_OFF: &str = "incomplete message: it closed the connection in the middle of an answer";

fn parse_head(bytes: &[u8], ended: bool) -> Result<Option<(HttpResponse, usize)>, Undecodable> {
    let start = b"HTTP/1.";
    // Refused by its first wrong byte: a server that speaks something else may never send the end of a head.
    let n = bytes.len().min(start.len());
    if bytes[..n] != start[..n] {
        return Err("this is not an HTTP answer".into());
    }
    let Some(length) = head_length(bytes) else {
        return match (ended, bytes.len() > MAX_HEAD) {
            (_, true) => Err(Excess::Head { limit: MAX_HEAD }.into()),
            (true, _) => Err(CUT_OFF.into()),
            (false, _) => Ok(None),
        };
    };
    // Header values may hold bytes that are no UTF-8 (RFC 9110, 5.5); they are kept as replacement characters.
    let head = String::from_utf8_lossy(&bytes[..length]).into_owned();
    if let Some(line) = head.lines().find(|line| has_forbidden_byte(line.as_bytes())) {
        return Err(
            format!("`{}` is not a header: {FORBIDDEN}", cut(&line.escape_debug().to_string(), 60)).into()
        );
    }
    let mut lines = head.lines();
    let mut response = status_line(lines.next().unwrap_or_default())?;
    for line in lines.filter(|line| !line.is_empty()) {
        match line.split_once(':') {
            Some((name, value)) if is_header_name(name) => {
                response.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            _ => return Err(format!("`{}` is not a header", cut(line, 60)).into()),
        }
    }
    // Overrides the default of the version, which `status_line` has set.
    match response.header("connection").map(str::to_ascii_lowercase) {
        Some(text) if text.contains("close") => response.keeps_alive = false,
        Some(text) if text.contains("keep-alive") => response.keeps_alive = true,
        _ => (),
    }
    Ok(Some((response, length)))
}

/// The reason why a line with such a byte is refused.
const FORBIDDEN: &str = "it contains a NUL or a CR that ends no line (RFC 9110, 5.5)";

/// Returns whether a line, its end mark removed, has a byte that no header may have: who lets it through and who does
/// not read different heads.
fn has_forbidden_byte(line: &[u8]) -> bool {
    line.iter().any(|byte| matches!(byte, b'\0' | b'\r'))
}

/// Returns whether `name` may be the name of a header: there is one, without spaces and control characters.
fn is_header_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == ' ' || c.is_control())
}

/// The length of a head with the empty line that ends it.
fn head_length(bytes: &[u8]) -> Option<usize> {
    let bytes = &bytes[..bytes.len().min(MAX_HEAD)];
    let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    // Lines may end with a bare line feed (RFC 9112, 2.2), so the empty line is one between two of these.
    let mut last = ends.next()?;
    for end in ends {
        if matches!(&bytes[last + 1..end], b"" | b"\r") {
            return Some(end + 1);
        }
        last = end;
    }
    None
}

fn status_line(line: &str) -> Result<HttpResponse, Undecodable> {
    let wrong = || Undecodable::Wrong(format!("`{}` is not a status line", cut(line, 60)));
    let mut words = line.splitn(3, ' ');
    let keeps_alive = match words.next() {
        Some("HTTP/1.1") => true,
        Some("HTTP/1.0") => false,
        _ => return Err(wrong()),
    };
    let status = words.next().filter(|word| word.len() == 3).and_then(|word| word.parse().ok());
    let status: u16 = status.filter(|status| (100..=599).contains(status)).ok_or_else(wrong)?;
    Ok(HttpResponse { status, keeps_alive, ..HttpResponse::default() })
}

/// Returns where the body ends: by a length, by chunks, or with the connection (RFC 9112, 6.3).
fn extent(response: &HttpResponse) -> Result<BodyExtent, Undecodable> {
    let values = |name: &'static str| {
        let named = response.headers.iter().filter(move |(other, _)| other == name);
        named.flat_map(|(_, value)| value.split(',')).map(str::trim)
    };
    let lengths: Vec<&str> = values("content-length").collect();
    let transfer = coding_names(response.header_values("transfer-encoding"));
    if let Some((last, others)) = transfer.split_last() {
        let is_chunked = last.eq_ignore_ascii_case("chunked");
        let others = if is_chunked { others } else { &transfer[..] };
        let is_known = others.iter().all(|name| BodyCoding::from_name(name).is_some());
        // Two statements of the length are how requests are smuggled (RFC 9112, 6.3): an error rather than a
        // preference.
        return match (is_known, is_chunked, lengths.is_empty()) {
            (false, ..) => Err("a `transfer-encoding` other than `chunked`, `gzip` and `deflate`".into()),
            (true, _, false) => Err("both `content-length` and `transfer-encoding`".into()),
            (true, true, true) => Ok(BodyExtent::Chunks),
            (true, false, true) => Ok(BodyExtent::ToTheEnd),
        };
    }
    let Some(first) = lengths.first() else { return Ok(BodyExtent::ToTheEnd) };
    // The same length several times is one length (RFC 9112, 6.3, rule 5).
    if lengths.iter().any(|other| other != first) {
        return Err("two different `content-length`".into());
    }
    // `parse` would also accept a sign.
    let is_number = !first.is_empty() && first.bytes().all(|byte| byte.is_ascii_digit());
    match first.parse() {
        Ok(length) if is_number && length <= max_body() => Ok(BodyExtent::Bytes(length)),
        _ if is_number => Err(Excess::body().into()),
        _ => Err(format!("`{}` is not a length", cut(first, 20)).into()),
    }
}

/// The body at the front of `bytes` and the bytes it takes.
fn body_of(bytes: &[u8], extent: BodyExtent, ended: bool) -> Result<Option<(Vec<u8>, usize)>, Undecodable> {
    let found = match extent {
        BodyExtent::Bytes(n) => bytes.get(..n).map(|body| (body.to_vec(), n)),
        BodyExtent::ToTheEnd if bytes.len() > max_body() => return Err(Excess::body().into()),
        BodyExtent::ToTheEnd => return Ok(ended.then(|| (bytes.to_vec(), bytes.len()))),
        BodyExtent::Chunks => chunks(bytes)?,
    };
    match (found, ended) {
        (None, true) => Err(CUT_OFF.into()),
        (found, _) => Ok(found),
    }
}

/// Decodes a body in chunks; returns it with its size on the wire, `None` if more bytes are needed.
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Undecodable> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let Some((line, next)) = line_at(bytes, at)? else { return Ok(None) };
        let size = size_of(line).ok_or_else(|| {
            format!(
                "`{}` is not a size of a chunk",
                cut(&String::from_utf8_lossy(&line[..line.len().min(100)]), 20)
            )
        })?;
        at = next;
        if size == 0 {
            return Ok(trailer(bytes, at)?.map(|end| (body, end)));
        }
        // The size is bounded before the chunk arrived, and what stands between chunks too: many tiny chunks with
        // long extensions could otherwise take memory without a body. A quarter is chosen by feel.
        if body.len().saturating_add(size) > max_body() || at > max_body() + max_body() / 4 {
            return Err(Excess::body().into());
        }
        let Some(chunk) = bytes.get(at..at + size) else { return Ok(None) };
        body.extend_from_slice(chunk);
        match line_at(bytes, at + size)? {
            Some((b"", next)) => at = next,
            Some(_) => return Err("a chunk is longer than its stated length".into()),
            None => return Ok(None),
        }
    }
}

/// The size that the line before a chunk writes.
pub(super) fn size_of(line: &[u8]) -> Option<usize> {
    if has_forbidden_byte(line) {
        return None;
    }
    let digits = line.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| is_number)?;
    // Too many digits are a number above every limit, which the caller refuses by its size.
    Some(usize::from_str_radix(digits, 16).unwrap_or(usize::MAX))
}

/// Returns the position after the lines that follow the last chunk; `None` if they are incomplete.
pub(super) fn trailer(bytes: &[u8], mut at: usize) -> Result<Option<usize>, BadStream> {
    let start = at;
    loop {
        if at - start > MAX_HEAD {
            return Err(Excess::Head { limit: MAX_HEAD }.into());
        }
        match line_at(bytes, at)? {
            Some((b"", next)) => return Ok(Some(next)),
            Some((line, _)) if has_forbidden_byte(line) => {
                return Err(BadStream::Wrong(
                    "a line after the last chunk contains a NUL or a CR that ends no line",
                ));
            }
            Some((_, next)) => at = next,
            None => return Ok(None),
        }
    }
}

/// Returns the line at `at` without its end mark, and the position of the next one; `None` if it is incomplete.
pub(super) fn line_at(bytes: &[u8], at: usize) -> Result<Option<(&[u8], usize)>, Excess> {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().take(MAX_HEAD).position(|&byte| byte == b'\n') {
        Some(end) => {
            let line = &rest[..end];
            Ok(Some((line.strip_suffix(b"\r").unwrap_or(line), at + end + 1)))
        }
        None if rest.len() >= MAX_HEAD => Err(Excess::Head { limit: MAX_HEAD }),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests;
