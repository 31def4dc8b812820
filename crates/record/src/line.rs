//! Lines of text from a system: bounded, checked to be UTF-8, never trusted.

use std::io::{self, BufRead, Read};

/// The length in bytes beyond which a line is not read to its end. Chosen by feel: a line of a plain protocol is far
/// shorter.
pub const MAX_LINE: usize = 1 << 20;

/// The result of reading a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineRead {
    /// A line without its end mark.
    Text(String),
    /// A line longer than [`MAX_LINE`]; this is its beginning, the rest is lost.
    TooLong(String),
    /// Bytes that are no text; shown with marks in place of the bad ones.
    NotText(String),
}

/// The next line, or `None` at the end of the stream. A last line without end mark counts.
///
/// # Errors
/// If the stream cannot be read.
pub fn next_line(reader: &mut impl BufRead) -> io::Result<Option<LineRead>> {
    next_line_within(reader, MAX_LINE)
}

/// Reads the next line as [`next_line`] does, of at most `max` bytes.
///
/// # Errors
/// If the stream cannot be read.
pub fn next_line_within(reader: &mut impl BufRead, max: usize) -> io::Result<Option<LineRead>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    reader.by_ref().take(limit).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.last() != Some(&b'\n') && bytes.len() > max {
        skip_line(reader)?;
        return Ok(Some(LineRead::TooLong(cut(
            &String::from_utf8_lossy(&bytes[..bytes.len().min(256)]),
            80,
        ))));
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Ok(Some(match String::from_utf8(bytes) {
        Ok(text) => LineRead::Text(text),
        Err(error) => LineRead::NotText(cut(&String::from_utf8_lossy(error.as_bytes()), 80)),
    }))
}

/// Reads up to the next end mark, keeping nothing.
fn skip_line(reader: &mut impl BufRead) -> io::Result<()> {
    loop {
        let chunk = reader.fill_buf()?;
        if chunk.is_empty() {
            return Ok(());
        }
        let end = chunk.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(chunk.len(), |at| at + 1);
        reader.consume(used);
        if end.is_some() {
            return Ok(());
        }
    }
}

/// `text`, or its first `max` characters and an ellipsis.
#[must_use]
pub fn cut(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_marks_and_the_last_may_lack_one() {
        let mut reader = &b"one\r\n\ntwo"[..];
        for expected in ["one", "", "two"] {
            assert_eq!(next_line(&mut reader).unwrap(), Some(LineRead::Text(expected.into())));
        }
        assert_eq!(next_line(&mut reader).unwrap(), None);
    }

    #[test]
    fn a_line_too_long_is_dropped_and_the_next_one_is_read() {
        let mut text = "x".repeat(3 * MAX_LINE);
        text.push_str("\nnext\n");
        let mut reader = text.as_bytes();
        assert!(matches!(next_line(&mut reader).unwrap(), Some(LineRead::TooLong(_))));
        assert_eq!(next_line(&mut reader).unwrap(), Some(LineRead::Text("next".into())));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_not_trusted() {
        let mut reader = &b"a\xffb\n"[..];
        assert_eq!(next_line(&mut reader).unwrap(), Some(LineRead::NotText("a\u{fffd}b".into())));
    }
}
