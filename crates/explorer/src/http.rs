//! Requests and responses: the part of HTTP/1.1 that a page on the same machine needs (RFC 9112).
//!
//! One request per connection. Only `GET` and `POST`, only origin-form targets, bodies with a length.
//! Everything is bounded: the head, the body, and (by the reader) the time. Requests that are not understood are
//! refused; nothing is guessed.

use std::io::{self, Read, Write};

/// The greatest length of a head, in bytes; a longer one is refused. Chosen by feel, as common servers have it:
/// browsers send far less.
pub const MAX_HEAD: usize = 16 << 10;
/// The greatest length of a body, in bytes; a longer one is refused. Chosen by feel: a long walk with large values
/// fits, and a stranger cannot fill the memory.
pub const MAX_BODY: usize = 8 << 20;

/// The content security policy: only the page's own files are loaded or run, and only this server is contacted.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The policy of a page that stands alone: no script, and the style sheet in it.
const CSP_OF_PAGE: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// The method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpMethod {
    /// A request to read.
    Get,
    /// A request to act.
    Post,
}

/// A request, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplorerRequest {
    /// The method.
    pub method: HttpMethod,
    /// The path as it was sent: escapes are not decoded, since no path here has any.
    pub path: String,
    /// The text behind the question mark; empty if there is none.
    pub query: String,
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl ExplorerRequest {
    /// Returns the value of the header `name`, which must be in lower case, if the request has it.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Returns the number called `name` in the query; `None` if it is absent or no number.
    #[must_use]
    pub fn number_param(&self, name: &str) -> Option<usize> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name)?.1.parse().ok()
    }
}

/// The reason why there is no request.
#[derive(Debug)]
pub enum BadRequest {
    /// The client closed the connection or took too long.
    Gone,
    /// The request is refused with this response.
    Refused(ExplorerResponse),
}

/// Returns a refusal with a status and a reason.
fn bad_request(status: u16, why: &str) -> BadRequest {
    BadRequest::Refused(ExplorerResponse::refusal(status, why))
}

impl From<io::Error> for BadRequest {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

/// The head of a request, and the part of the body read with it.
pub struct RequestHead {
    request: ExplorerRequest,
    begun: Vec<u8>,
}

impl RequestHead {
    /// The request without its body.
    #[must_use]
    pub fn request(&self) -> &ExplorerRequest {
        &self.request
    }

    /// Reads the body.
    ///
    /// # Errors
    /// If the body is not complete, or too large.
    pub fn with_body(self, reader: &mut impl Read) -> Result<ExplorerRequest, BadRequest> {
        let Self { mut request, begun } = self;
        request.body = read_body(reader, &request, begun)?;
        Ok(request)
    }
}

/// Reads the head of a request, which decides whether more is read from an unknown client.
///
/// # Errors
/// If the head is not complete, too large, or not understood.
pub fn read_head(reader: &mut impl Read) -> Result<RequestHead, BadRequest> {
    let (head, begun) = read_until_body(reader)?;
    let head = std::str::from_utf8(&head).map_err(|_| bad_request(400, "the request is not text"))?;
    Ok(RequestHead { request: parse_head(head)?, begun })
}

/// Returns everything before the empty line, and the part of the body read with it.
fn read_until_body(reader: &mut impl Read) -> Result<(Vec<u8>, Vec<u8>), BadRequest> {
    let mut bytes = Vec::with_capacity(1024);
    let mut chunk = [0; 4096];
    loop {
        let n = reader.read(&mut chunk)?;
        if n == 0 {
            return Err(BadRequest::Gone);
        }
        let searched = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&chunk[..n]);
        if let Some(at) = bytes[searched..].windows(4).position(|end| end == b"\r\n\r\n") {
            let end = searched + at;
            if end > MAX_HEAD {
                break;
            }
            let rest = bytes.split_off(end + 4);
            bytes.truncate(end);
            return Ok((bytes, rest));
        }
        if bytes.len() > MAX_HEAD {
            break;
        }
    }
    Err(bad_request(431, "the request has too long a head"))
}

fn parse_head(head: &str) -> Result<ExplorerRequest, BadRequest> {
    let malformed = || bad_request(400, "the request is malformed");
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (first.next(), first.next(), first.next(), first.next())
    else {
        return Err(malformed());
    };
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") {
        return Err(bad_request(505, "only HTTP/1.1 is supported"));
    }
    let method = match method {
        "GET" => HttpMethod::Get,
        "POST" => HttpMethod::Post,
        _ => return Err(bad_request(405, "only GET and POST are supported")),
    };
    if !target.starts_with('/') || target.bytes().any(|byte| !byte.is_ascii_graphic()) {
        return Err(malformed());
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let headers = lines.map(parse_header).collect::<Option<Vec<_>>>().ok_or_else(malformed)?;
    for name in ["host", "origin", "content-length", "content-type", "sec-fetch-site"] {
        if headers.iter().filter(|(other, _)| other == name).count() > 1 {
            return Err(malformed());
        }
    }
    Ok(ExplorerRequest { method, path: path.into(), query: query.into(), headers, body: Vec::new() })
}

/// Parses `Name: value`; folded lines and control characters are refused.
fn parse_header(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once(':')?;
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let is_clean = value.chars().all(|c| c == '\t' || !c.is_control());
    (!name.is_empty() && name.bytes().all(is_token) && is_clean)
        .then(|| (name.to_ascii_lowercase(), value.trim().to_owned()))
}

fn read_body(
    reader: &mut impl Read,
    request: &ExplorerRequest,
    mut body: Vec<u8>,
) -> Result<Vec<u8>, BadRequest> {
    if request.header("transfer-encoding").is_some() {
        return Err(bad_request(411, "a body needs a Content-Length"));
    }
    let length = match (request.header("content-length"), request.method) {
        (None, HttpMethod::Get) => 0,
        (None, HttpMethod::Post) => return Err(bad_request(411, "a body needs a Content-Length")),
        (Some(length), _) => {
            let is_number = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
            let length = if is_number { length.parse().unwrap_or(usize::MAX) } else { usize::MAX };
            if !is_number {
                return Err(bad_request(400, "the Content-Length is not a number"));
            }
            length
        }
    };
    if length > MAX_BODY {
        return Err(bad_request(413, "the body is too large"));
    }
    if body.len() > length {
        return Err(bad_request(400, "there is more than one request"));
    }
    let missing = (length - body.len()) as u64;
    reader.take(missing).read_to_end(&mut body)?;
    if body.len() == length { Ok(body) } else { Err(BadRequest::Gone) }
}

/// A response, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExplorerResponse {
    /// The status.
    pub status: u16,
    /// The media type of the body.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
    /// True if the body is a page without scripts that has its style sheet in it.
    pub stands_alone: bool,
}

impl ExplorerResponse {
    /// Returns a response with status 200.
    #[must_use]
    pub fn ok(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: 200, content_type, body: body.into(), stands_alone: false }
    }

    /// Returns a page that has its style sheet in it and no scripts.
    #[must_use]
    pub fn page(body: impl Into<Vec<u8>>) -> Self {
        Self { stands_alone: true, ..Self::ok("text/html; charset=utf-8", body) }
    }

    /// Returns a response that refuses a request; `why` is for people.
    #[must_use]
    pub fn refusal(status: u16, why: &str) -> Self {
        Self { status, ..Self::ok("text/plain; charset=utf-8", format!("{why}\n")) }
    }

    /// Writes the response with the headers every response has.
    ///
    /// # Errors
    /// If the client does not take it.
    pub fn write(&self, writer: &mut impl Write) -> io::Result<()> {
        let policy = if self.stands_alone { CSP_OF_PAGE } else { CSP };
        let mut bytes = response_head(self.status, self.content_type, policy);
        bytes.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        writer.write_all(bytes.as_bytes())?;
        writer.write_all(&self.body)?;
        writer.flush()
    }
}

/// Begins a stream of events, which ends with the connection.
///
/// # Errors
/// If the client does not take it.
pub fn begin_stream(writer: &mut impl Write) -> io::Result<()> {
    let head = response_head(200, "text/event-stream", CSP) + "\r\n";
    writer.write_all(head.as_bytes())?;
    writer.flush()
}

fn response_head(status: u16, content_type: &str, policy: &str) -> String {
    let allow = if status == 405 { "Allow: GET, POST\r\n" } else { "" };
    format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {content_type}\r\nContent-Security-Policy: {policy}\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\n\
         X-Frame-Options: DENY\r\nCache-Control: no-store\r\nConnection: close\r\n{allow}",
        status_phrase(status)
    )
}

fn status_phrase(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Error",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(mut bytes: &[u8]) -> Result<ExplorerRequest, BadRequest> {
        read_head(&mut bytes)?.with_body(&mut bytes)
    }

    #[test]
    fn a_request_is_read_with_its_body() {
        let text = b"POST /t/api?n=3&x=a HTTP/1.1\r\nHost: a:1\r\nContent-Length: 2\r\n\r\n{}";
        let request = read(&text[..]).expect("a request");
        assert_eq!((request.method, request.path.as_str()), (HttpMethod::Post, "/t/api"));
        assert_eq!((request.number_param("n"), request.number_param("x")), (Some(3), None));
        assert_eq!((request.header("host"), request.body.as_slice()), (Some("a:1"), &b"{}"[..]));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        check("BREW / HTTP/1.1\r\n\r\n", 405);
        check("GET / HTTP/2\r\n\r\n", 505);
        check("GET http://a/ HTTP/1.1\r\n\r\n", 400);
        check("GET  / HTTP/1.1\r\n\r\n", 400);
        check("GET /\u{e4} HTTP/1.1\r\n\r\n", 400);
        check("GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", 400);
        check("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400);
        check("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400);
        check("GET / HTTP/1.1\nHost: a\r\n\r\n", 400);
        check("POST / HTTP/1.1\r\n\r\n", 411);
        check("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411);
        check("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\nx", 400);
        check("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nx", 413);
        check("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n", 400);
        check(&format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(MAX_HEAD)), 431);
        check(&format!("GET /{}", "x".repeat(2 * MAX_HEAD)), 431);
    }

    #[track_caller]
    fn check(text: &str, status: u16) {
        match read(text.as_bytes()) {
            Err(BadRequest::Refused(found)) => assert_eq!(found.status, status, "{text:.60}"),
            other => panic!("{text:.60}: {other:?}"),
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes);
        }
    }
}
