//! Server-sent events (the WHATWG HTML standard, 9.2): messages of a stream, read from the bytes that came so far.
//!
//! *Promises.* Reading is a function of the bytes: it never waits. Events are bounded.

use ioxide_record::limits::{Excess, max_message};
use thiserror::Error;

use super::message::{HttpResponse, ResponsePart, line_at, size_of, trailer};
use crate::codec::Undecodable;

/// The reason why the bytes of a stream are no message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BadStream {
    /// It exceeds a limit.
    #[error(transparent)]
    Excess(#[from] Excess),
    /// It violates the format.
    #[error("{0}")]
    Wrong(&'static str),
    /// It ends in the middle.
    #[error("incomplete message: the stream ended in the middle of one")]
    CutOff,
}

impl From<BadStream> for Undecodable {
    fn from(bad: BadStream) -> Self {
        match bad {
            BadStream::Excess(excess) => excess.into(),
            BadStream::Wrong(_) | BadStream::CutOff => Self::Wrong(bad.to_string()),
        }
    }
}

/// Takes chunks apart (RFC 9112, 7.1).
#[derive(Clone, Debug, Default)]
pub struct Dechunker {
    is_over: bool,
}

impl Dechunker {
    /// Moves the contents of complete chunks from `raw` to `plain`.
    ///
    /// # Errors
    /// If these are no chunks.
    pub fn move_chunks(&mut self, raw: &mut Vec<u8>, plain: &mut Vec<u8>) -> Result<(), BadStream> {
        while !self.is_over {
            let Some((line, start)) = line_at(raw, 0)? else { return Ok(()) };
            let size = size_of(line).ok_or(BadStream::Wrong("the size of a chunk is not a number"))?;
            if size > max_message() {
                return Err(Excess::bytes().into());
            }
            // Chunks are moved whole, so that `raw` always begins with the size of one.
            let next = if size == 0 { trailer(raw, start)? } else { end_of_chunk(raw, start + size)? };
            let Some(next) = next else { return Ok(()) };
            plain.extend_from_slice(&raw[start..start + size]);
            self.is_over = size == 0;
            raw.drain(..next);
        }
        Ok(())
    }

    /// Returns whether the last chunk has arrived.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_over
    }
}

/// Returns the position after the end mark at `at`, where a chunk ends; `None` if it has not come yet.
fn end_of_chunk(bytes: &[u8], at: usize) -> Result<Option<usize>, BadStream> {
    match line_at(bytes, at)? {
        Some((b"", next)) => Ok(Some(next)),
        Some(_) => Err(BadStream::Wrong("a chunk is longer than its stated length")),
        None => Ok(None),
    }
}

/// Takes the next event from the front of `bytes`, if it is whole.
///
/// # Errors
/// If it is too long, or no text.
pub fn next_event(bytes: &mut Vec<u8>) -> Result<Option<HttpResponse>, BadStream> {
    loop {
        let Some((block, used)) = block(bytes) else {
            return if bytes.len() > max_message() { Err(Excess::bytes().into()) } else { Ok(None) };
        };
        let text = String::from_utf8(block).map_err(|_| BadStream::Wrong("an event is not UTF-8 text"))?;
        bytes.drain(..used);
        if let Some(event) = event(text.trim_start_matches('\u{feff}')) {
            return Ok(Some(event));
        }
    }
}

/// Returns the lines up to an empty one, with `\n` as their ends, and the number of bytes they take; `None` while the
/// empty line is missing.
fn block(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut lines, mut at, mut is_empty) = (Vec::new(), 0, true);
    while at < bytes.len() {
        match bytes[at] {
            // A `\r` at the end may be half of `\r\n`.
            b'\r' if at + 1 == bytes.len() && !is_empty => return None,
            b'\r' | b'\n' => {
                at += if bytes[at..].starts_with(b"\r\n") { 2 } else { 1 };
                if is_empty {
                    return Some((lines, at));
                }
                lines.push(b'\n');
                is_empty = true;
            }
            other => {
                lines.push(other);
                (at, is_empty) = (at + 1, false);
            }
        }
    }
    None
}

/// Returns the event that these lines are; `None` if they have no data.
fn event(text: &str) -> Option<HttpResponse> {
    let (mut name, mut data, mut headers) = (String::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => data.push(value),
            "id" | "retry" => headers.push((field.to_owned(), value.to_owned())),
            _ => (),
        }
    }
    if data.is_empty() {
        return None;
    }
    let name = if name.is_empty() { "message".to_owned() } else { name };
    let body = data.join("\n").into_bytes();
    Some(HttpResponse {
        status: 200,
        headers,
        body,
        part: ResponsePart::Event(name),
        ..HttpResponse::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::message::AskedFor;
    use super::*;

    fn all(text: &[u8]) -> Vec<String> {
        let mut bytes = text.to_vec();
        std::iter::from_fn(|| next_event(&mut bytes).unwrap()).map(|event| event.summary_line()).collect()
    }

    #[test]
    fn events_are_read_however_lines_end() {
        let text =
            b": hello\n\nevent: tick\nid: 3\ndata: {\"n\": 1}\n\ndata:a\r\ndata: b\r\n\r\nevent: none\n\
              \ndata: x\r\rdata: ha";
        assert_eq!(all(text), ["[tick] {\\\"n\\\": 1}", "[message] a\\nb", "[message] x"]);
    }

    /// Second opinion: wherever the bytes are cut, the same events come.
    #[test]
    fn cuts_change_nothing() {
        let text = b"event: a\r\ndata: 1\r\n\r\ndata: 2\n\nid: 9\ndata: 3\ndata: 4\n\n";
        let whole = all(text);
        assert_eq!(whole.len(), 3);
        for cut in 0..=text.len() {
            let (mut bytes, mut seen) = (text[..cut].to_vec(), Vec::new());
            while let Some(event) = next_event(&mut bytes).unwrap() {
                seen.push(event.summary_line());
            }
            bytes.extend_from_slice(&text[cut..]);
            while let Some(event) = next_event(&mut bytes).unwrap() {
                seen.push(event.summary_line());
            }
            assert_eq!(seen, whole, "cut at {cut}");
        }
    }

    /// An answer and a stream read the same chunks (RFC 9112, 7.1.2), wherever the bytes are cut.
    #[test]
    fn lines_after_the_last_chunk_are_skipped() {
        let text = b"3\r\nabc\r\n0\r\nx-sum: 1\r\nx-end: yes\r\n\r\n";
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
        let whole = [&head[..], &text[..]].concat();
        let (answer, used) = HttpResponse::parse(&whole, AskedFor::Body, false).unwrap().unwrap();
        assert_eq!((answer.body.as_slice(), used), (&b"abc"[..], whole.len()));
        for cut in 0..text.len() {
            let (mut raw, mut plain, mut chunks) = (text[..cut].to_vec(), Vec::new(), Dechunker::default());
            chunks.move_chunks(&mut raw, &mut plain).unwrap();
            assert!(!chunks.is_over(), "cut at {cut}");
            raw.extend_from_slice(&text[cut..]);
            raw.extend_from_slice(b"more");
            chunks.move_chunks(&mut raw, &mut plain).unwrap();
            assert_eq!(
                (plain.as_slice(), raw.as_slice(), chunks.is_over()),
                (&b"abc"[..], &b"more"[..], true)
            );
        }
    }

    #[test]
    fn lines_after_the_last_chunk_are_bounded() {
        let mut raw = b"0\r\n".to_vec();
        (0..5_000).for_each(|n| raw.extend_from_slice(format!("x-{n}: and so on\r\n").as_bytes()));
        let told = Dechunker::default().move_chunks(&mut raw, &mut Vec::new());
        assert!(matches!(told, Err(BadStream::Excess(Excess::Head { .. }))), "{told:?}");
    }

    #[test]
    fn chunks_are_taken_apart() {
        let (mut raw, mut plain) = (b"5\r\ndata:\r\n3; x=1\r\n 1\n\r\n".to_vec(), Vec::new());
        let mut chunks = Dechunker::default();
        chunks.move_chunks(&mut raw, &mut plain).unwrap();
        assert_eq!((plain.as_slice(), chunks.is_over()), (&b"data: 1\n"[..], false));
        raw.extend_from_slice(b"0\r\n\r\n");
        chunks.move_chunks(&mut raw, &mut plain).unwrap();
        assert!(chunks.is_over());
        let mut wrong = b"0\r\nno end".to_vec();
        Dechunker::default().move_chunks(&mut wrong, &mut Vec::new()).unwrap();
        let mut wrong = b"zz\r\n".to_vec();
        assert!(Dechunker::default().move_chunks(&mut wrong, &mut Vec::new()).is_err());
    }
}
